// Random numbers that are the same with every C++ library.
#pragma once
#include <random>

namespace tw::cli {

/// Numbers from -1 to 1.
class Uniform {
public:
  explicit Uniform(std::uint64_t seed) : generator(seed) {}
  double operator()() { return double(generator() >> 11) * 0x1p-52 - 1; }

private:
  std::mt19937_64 generator;
};

} // namespace tw::cli
