// What a test sees of FakeDriver.cpp: the calls that were made, and results to be given in place of success.
#pragma once
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace tw::tests {

struct FakeLaunch {
  int ordinal = 0;
  std::string entry;
  unsigned blocks = 0, threads = 0, sharedBytes = 0;
  void *stream = nullptr;
  std::vector<std::byte> parameters;   // the first parameterBytes of FakeState
};

/// The one state of the library. Lock `mutex` while other threads run.
struct FakeState {
  std::mutex mutex;
  std::map<std::string, int> calls;      // by name of the function
  std::map<std::string, int> failures;   // results in place of 0
  std::vector<FakeLaunch> launches;
  std::size_t parameterBytes = 0;        // to copy at each launch
  std::map<std::uint64_t, std::size_t> pinned;   // memory of the host that the driver knows: addresses and bytes
  std::size_t loaded = 0;                // modules at present
  int graphs = 0;                        // and runnable ones, at present
  std::size_t contexts = 0;              // pushed and not popped, in all threads
  // The launch, counted from 1, after which every call has this result, as after a kernel that stopped the GPU; 0: none. At first what TILEWRIGHT_FAKE_LOST says.
  std::size_t lostAt = 0, launched = 0;
  static constexpr int loss = 715;
};

/// The state of the library at `path`, which is what TILEWRIGHT_CUDA_DRIVER names.
inline FakeState &fakeDriver(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto *state = library ? reinterpret_cast<FakeState *(*)()>(dlsym(library, "fakeState")) : nullptr;
  if (!state)
    throw std::runtime_error(std::string("no fake driver at ") + path);
  return *state();
}

} // namespace tw::tests
