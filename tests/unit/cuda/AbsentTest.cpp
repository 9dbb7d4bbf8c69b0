// What is said where there is neither a driver nor NVRTC.
#include "Texts.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include <cstdlib>

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

namespace {

const bool isChosen = ::setenv("TILEWRIGHT_CUDA_DRIVER", "/nowhere/libcuda.so.1", 1) == 0 && ::setenv("TILEWRIGHT_NVRTC", "/nowhere/libnvrtc.so.13", 1) == 0;

} // namespace

TEST_CASE("no driver: there are no GPUs, and what needs one says so") {
  REQUIRE(isChosen);
  const std::string absence = "there is no NVIDIA driver here: /nowhere/libcuda.so.1 cannot be opened; install the driver, or run on the CPU (target host)";
  CHECK(driverAbsence() == absence);
  CHECK(driverVersion().empty());
  CHECK(gpus().empty());
  CHECK(messageOf<RuntimeError>([] { (void)Buffer(0, 64); }) == absence);
  CHECK(messageOf<RuntimeError>([] { (void)residence(64); }) == absence);
}

TEST_CASE("edge row 107: no NVRTC: what would compile says so") {
  const std::string absence = "NVRTC, NVIDIA's run-time compiler, is needed to build a kernel for a GPU, and TILEWRIGHT_NVRTC=/nowhere/libnvrtc.so.13 cannot be opened; name a libnvrtc.so.13 or .12 "
                              "that is there";
  CHECK(nvrtcAbsence() == absence);
  CHECK(messageOf<RuntimeError>([] { (void)assemble("", "nothing"); }) == absence);
  CHECK(messageOf<RuntimeError>([] { (void)nvrtcVersion(); }) == absence);
}
