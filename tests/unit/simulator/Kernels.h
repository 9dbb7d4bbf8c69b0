// Kernels of the tests, compiled once for each file, and parameter blocks.
#pragma once
#include "tilewright/simulator/Simulator.h"
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace tw::test {

using u32 = unsigned;
using u64 = unsigned long long;

struct alignas(128) TMap {
  unsigned char raw[128];
};

inline std::string kernelText(const std::string &file) {
  std::ifstream stream(std::string(TILEWRIGHT_KERNELS) + "/" + file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The entry `name` of a file of kernels/ that holds `entries`.
inline const SimulatedKernel &kernel(const std::string &file, const std::vector<std::string> &entries, const std::string &name) {
  static std::map<std::string, std::vector<SimulatedKernel>> compiled;
  auto &kernels = compiled[file];
  if (kernels.empty())
    kernels = compileForSimulator(kernelText(file), entries);
  for (auto &kernel : kernels)
    if (kernel.name() == name)
      return kernel;
  throw std::out_of_range(name);
}

template <class T> std::span<const std::byte> bytesOf(const T &parameters) { return std::as_bytes(std::span(&parameters, 1)); }

inline float bf16(unsigned bits) {
  bits <<= 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline unsigned short toBf16(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// The same numbers everywhere, in -1..1 with three decimals.
class Numbers {
public:
  float next() {
    state = state * 1664525u + 1013904223u;
    return float(int(state >> 8) % 1001) / 1000.f * (state & 0x80000000u ? 1.f : -1.f);
  }

private:
  unsigned state = 12345;
};

}   // namespace tw::test
