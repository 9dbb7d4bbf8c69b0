// NVRTC asks for its builtins by name when it compiles: they are opened with it, wherever it lies.
#include "tilewright/cuda/Nvrtc.h"
#include <catch2/catch.hpp>
#include <cstdlib>
#include <dlfcn.h>

namespace {

const bool isChosen = ::setenv("TILEWRIGHT_NVRTC", TILEWRIGHT_FAKE_NVRTC, 1) == 0;
const char *const builtins = "libnvrtc-builtins.so.12.99";

} // namespace

TEST_CASE("the builtins of an NVRTC that the loader does not know are those beside it") {
  REQUIRE(isChosen);
  CHECK(dlopen(builtins, RTLD_NOW) == nullptr);
  REQUIRE(tw::cuda::nvrtcAbsence() == "");
  CHECK(tw::cuda::nvrtcVersion().major == 12);
  CHECK(tw::cuda::nvrtcVersion().minor == 99);
  CHECK(dlopen(builtins, RTLD_NOW) != nullptr);
}
