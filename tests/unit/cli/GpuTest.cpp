// `run --on gpu` and what `doctor` says of GPUs: on a GPU where there is one, and on a driver without a GPU anywhere.
#include "Ran.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Nvrtc.h"
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace tw::tests;
using nlohmann::json;

namespace {

const std::string noDriver = "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=/no/driver.so", noNvrtc = "TILEWRIGHT_CACHE=off TILEWRIGHT_NVRTC=/no/nvrtc.so",
                  fakeDriver = "TILEWRIGHT_CACHE=off TILEWRIGHT_CUDA_DRIVER=" TILEWRIGHT_FAKE_DRIVER;

bool lacksNvrtc() {
  if (tw::cuda::nvrtcAbsence().empty())
    return false;
  WARN("skipped: " << tw::cuda::nvrtcAbsence());
  return true;
}

} // namespace

TEST_CASE("kernels are right on a GPU") {
  if (!tw::cuda::driverAbsence().empty()) {
    WARN("skipped: " << tw::cuda::driverAbsence());
    return;
  }
  for (const char *run : {"causal --shape 2,4,2,1000,1700,128", "'window(100,20)+softcap(20)' --shape 1,3,3,515,701,64 --dtype f16", "alibi --shape 1,2,2,77,300,40", "causal --shape 1,2,1,200,0,64",
                          "plain --shape 0,2,1,5,6,64", "causal --shape 1,32,8,4096,4096,128"}) {
    const Ran r = ran(std::string("run ") + run + " --on gpu --check");
    INFO(run << ": " << r.out << r.err);
    CHECK(r.status == 0);
    CHECK_THAT(r.out, Catch::Contains(" on GPU 0, "));
  }
  for (const char *run : {"causal --shape 2,4,2,1001,700,128", "alibi --shape 1,3,1,77,300,64 --dtype f16"}) {
    const Ran r = ran(std::string("run ") + run + " --pass backward --on gpu --check");
    INFO(run << ": " << r.out << r.err);
    CHECK(r.status == 0);
  }
  CHECK(json::parse(ran("doctor --json").out)["gpu"]["gpus"].size() > 0);
}

TEST_CASE("without a driver, or without NVRTC, the cure is named") {
  Ran r = ran("run causal --shape 1,2,1,4,4,64 --on gpu", noDriver);
  CHECK(r.status == 2);
  CHECK(r.out == "");
  CHECK_THAT(r.err, Catch::StartsWith("tilewright run: --on gpu: there is no NVIDIA driver here: /no/driver.so cannot be opened") &&
                        Catch::EndsWith("; install the driver, or run on the CPU (target host); --on simulator runs the same kernel without a GPU, --on cpu one for the CPU\n"));
  r = ran("run causal --shape 1,2,1,4,4,64 --on gpu --target h200", "TILEWRIGHT_NVRTC=/no/nvrtc.so " + fakeDriver);
  CHECK(r.status == 2);
  CHECK_THAT(r.err, Catch::StartsWith("tilewright run: NVRTC, NVIDIA's run-time compiler, is needed to build a kernel for a GPU, and "));
  r = ran("run causal --shape 1,2,1,4,4,64 --dtype f32 --on gpu --target h200", "TILEWRIGHT_NVRTC=/no/nvrtc.so " + fakeDriver);
  CHECK(r.err == "tilewright run: tensor \"K\" holds 'f32'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)\n");
}

TEST_CASE("a target that the GPU does not run is refused") {
  CHECK(ran("run causal --shape 1,2,1,4,4,64 --on gpu --target a100", fakeDriver).err ==
        "tilewright run: --on gpu --target a100: GPU 0 is an Fake H200 of compute capability 9.0, which does not run sm80 code; leave --target out, or take --on simulator\n");
  CHECK(ran("run causal --shape 1,2,1,4,4,64 --on gpu --target host", fakeDriver).err ==
        "tilewright run: --on gpu --target host: that is this machine's CPU; leave --target out, or take --on cpu\n");
}

TEST_CASE("a GPU that computes nothing is found wrong, element by element") {
  if (lacksNvrtc())
    return;
  const Ran r = ran("run causal --shape 1,2,1,4,4,64 --on gpu --check", fakeDriver);
  INFO(r.err);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, Catch::StartsWith("causal bf16 on gpu: B 1, H 2, ") && Catch::Contains("\nkernel    compiled for h200 in ") && Catch::Contains(" ms (median of 3 times ") && Catch::Contains(" on GPU 0, Fake H200; no GFLOP/s: ") &&
                        Catch::Contains("\nO         WRONG: NaN at [0, 0, 0, 0]: "));
  const json report = json::parse(ran("run causal --shape 1,2,1,4,4,64 --on gpu --json --repeat 1", fakeDriver).out);
  CHECK(report["gpu"] == "Fake H200");
  CHECK(report["target"] == "h200");
  CHECK(report["launches_timed_together"] >= 1);
  CHECK(report["differing"] == 0);
}

TEST_CASE("gradients of a GPU that computes nothing are found wrong, each by name") {
  if (lacksNvrtc())
    return;
  const Ran r = ran("run causal --shape 1,2,1,5,7,64 --pass backward --on gpu --check --repeat 1", fakeDriver);
  INFO(r.err);
  CHECK(r.status == 1);
  CHECK_THAT(r.out, Catch::StartsWith("causal bf16 backward on gpu: B 1, H 2, ") && Catch::Contains("\nkernel    causal_rows: block=q ") && Catch::Contains(" ms (medians of 1 times ") && Catch::Contains(" on GPU 0, Fake H200\n") &&
                        Catch::Contains("\ndK        WRONG: NaN at [0, 0, 0, 0]: ") && Catch::Contains("\ndQ        WRONG: NaN at ") && Catch::Contains("\ndV        WRONG: NaN at "));
}

TEST_CASE("doctor says what there is for GPUs") {
  CHECK_THAT(ran("doctor", noDriver).out, Catch::Contains("\ndriver    none, so no kernel can be run on a GPU, but in the simulator: there is no NVIDIA driver here: /no/driver.so "));
  CHECK_THAT(ran("doctor", noNvrtc).out, Catch::Contains("\nNVRTC     none, so no kernel for a GPU can be built: NVRTC, NVIDIA's run-time compiler, "));
  const std::string text = ran("doctor", fakeDriver).out;
  CHECK_THAT(text, Catch::Contains("\ndriver    NVIDIA's, for CUDA 13.0\nGPU 0     Fake H200, compute capability 9.0, ") && Catch::Contains(": target h200, whose kernels it runs\n") &&
                       Catch::Contains("\nGPU 2     Fake A100, compute capability 8.0, ") && Catch::Contains(": target a100"));
  CHECK_THAT(text, Catch::Contains("\ntargets   host ") && Catch::Contains(" h100 "));
  const json report = json::parse(ran("doctor --json", fakeDriver).out);
  CHECK(report["gpu"]["gpus"][0]["target"] == "h200");
  CHECK(report["gpu"]["gpus"][0]["runs_kernels"] == true);
  CHECK(report["gpu"]["gpus"][2]["runs_kernels"] == true);
  CHECK(report["gpu"]["driver"]["cuda_version"] == "13.0");
}
