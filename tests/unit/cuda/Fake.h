// The fake driver in place of NVIDIA's, from before the first test on.
#pragma once
#include "Texts.h"
#include "support/FakeDriver.h"
#include "tilewright/artifact/RuntimeError.h"
#include <cstdlib>

namespace tw::cuda::tests {

inline const bool isChosen = ::setenv("TILEWRIGHT_CUDA_DRIVER", TILEWRIGHT_FAKE_DRIVER, 1) == 0;

inline tw::tests::FakeState &fake() { return tw::tests::fakeDriver(TILEWRIGHT_FAKE_DRIVER); }

/// A call that fails for as long as this lives.
struct Failing {
  Failing(const char *call, int result) : call(call) { fake().failures[call] = result; }
  ~Failing() { fake().failures.erase(call); }
  Failing(const Failing &) = delete;
  Failing &operator=(const Failing &) = delete;
  const char *call;
};

} // namespace tw::cuda::tests
