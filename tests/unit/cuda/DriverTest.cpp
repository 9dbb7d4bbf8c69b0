// The driver as it answers: GPUs, addresses, errors. A fake one, so that this runs anywhere.
#include "Fake.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

TEST_CASE("the GPUs of the machine") {
  REQUIRE(driverAbsence().empty());
  CHECK(driverVersion() == "13.0");
  REQUIRE(gpus().size() == 3);
  CHECK(gpus()[0].name == "Fake H200");
  CHECK(gpus()[0].major == 9);
  CHECK(gpus()[0].sms == 132);
  CHECK(gpus()[0].sharedBytesPerBlock == 227 * 1024);
  CHECK(gpus()[0].l2Bytes == 50 << 20);
  CHECK(gpus()[2].ordinal == 2);
}

TEST_CASE("which code runs where") {
  Gpu gpu;
  gpu.major = 9;
  CHECK(runs(gpu, "sm90a"));
  CHECK(runs(gpu, "sm90"));
  CHECK_FALSE(runs(gpu, "sm80"));
  CHECK_FALSE(runs(gpu, "sm100a"));
  CHECK_FALSE(runs(gpu, "host"));
  CHECK_FALSE(runs(gpu, "sm"));
  gpu.major = 8, gpu.minor = 9;
  CHECK(runs(gpu, "sm86"));
  CHECK(runs(gpu, "sm89"));
  gpu.minor = 0;
  CHECK_FALSE(runs(gpu, "sm86"));
  gpu.major = 12;
  CHECK(runs(gpu, "sm120"));
  gpu.major = 10, gpu.minor = 3;
  CHECK_FALSE(runs(gpu, "sm100a"));
}

TEST_CASE("where memory is") {
  const Buffer first(0, 100), second(1, 100);
  REQUIRE(residence(first.address()));
  CHECK(residence(first.address() + 99)->ordinal == 0);
  CHECK(residence(first.address())->isDevice);
  CHECK(residence(second.address())->ordinal == 1);
  int local = 0;
  CHECK_FALSE(residence(reinterpret_cast<std::uint64_t>(&local)));
}

TEST_CASE("buffers are written, read, moved and freed") {
  const int frees = fake().calls["cuMemFree"];
  {
    Buffer buffer(1, 3);
    buffer.write("ab");
    Buffer other = std::move(buffer);
    CHECK(buffer.address() == 0);
    char text[3];
    other.read(text);
    CHECK(std::string(text) == "ab");
    const Buffer empty(0, 0);
    CHECK(empty.address() == 0);
  }
  CHECK(fake().calls["cuMemFree"] == frees + 1);
  CHECK(fake().contexts == 0);
}

TEST_CASE("what the driver refuses is said in its words, with what was done and the cure") {
  const Failing failing("cuMemAlloc", 2);
  CHECK(messageOf<RuntimeError>([] { (void)Buffer(0, 64); }) ==
        "taking 64 bytes of GPU 0: cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (out of memory); free memory of the device, or make the problem smaller");
  CHECK(fake().contexts == 0);
}

TEST_CASE("an error that the driver has no name for") {
  const Failing failing("cuMemAlloc", 12345);
  CHECK(messageOf<RuntimeError>([] { (void)Buffer(0, 64); }) == "taking 64 bytes of GPU 0: cuMemAlloc failed with error 12345 (unknown to this driver)");
}

TEST_CASE("a GPU that is not there") { CHECK(messageOf<RuntimeError>([] { (void)Buffer(3, 64); }) == "there is no GPU 3; this process sees 3"); }

TEST_CASE("a GPU that a kernel has stopped is told from a call that fails") {
  CHECK(gpuLoss(0).empty());
  {
    const Failing one("cuMemAlloc", 2);
    CHECK_THROWS_AS(Buffer(0, 64), RuntimeError);
    CHECK(gpuLoss(0).empty());
  }
  fake().lostAt = fake().launched + 1;
  CHECK(gpuLoss(0).empty());
  fake().launched += 1;
  CHECK(gpuLoss(0) == "CUDA_ERROR_ILLEGAL_INSTRUCTION (an illegal instruction was encountered)");
  std::string said;
  try {
    const Buffer buffer(0, 64);
  } catch (const RuntimeError &error) {
    said = error.what();
  }
  CHECK_THAT(said, Catch::EndsWith("CUDA_ERROR_ILLEGAL_INSTRUCTION (an illegal instruction was encountered); a kernel launched earlier failed; run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to see which"));
  fake().lostAt = 0;
  CHECK(gpuLoss(0).empty());
}
