// Loading and launching, on the fake driver: once a GPU, on the right one, by any number of threads.
#include "Fake.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Module.h"
#include <cstring>
#include <thread>

using namespace tw;
using namespace tw::cuda;
using namespace tw::cuda::tests;

namespace {

Image image() { return {"\x7f" "ELF and so on", "tilewright_plain", "plain", "h200", "sm90a", 384, 1000}; }

struct alignas(128) Block {
  std::byte bytes[128] = {};
};

} // namespace

TEST_CASE("edge row 95: a launch goes to the GPU and the stream that are named") {
  fake().launches.clear();
  fake().parameterBytes = 4;
  const Module module(image());
  Block block;
  block.bytes[3] = std::byte(7);
  int stream = 0;
  module.launch(1, &stream, 132, block.bytes);
  REQUIRE(fake().launches.size() == 1);
  const tw::tests::FakeLaunch &launch = fake().launches.front();
  CHECK(launch.ordinal == 1);
  CHECK(launch.entry == "tilewright_plain");
  CHECK(launch.blocks == 132);
  CHECK(launch.threads == 384);
  CHECK(launch.sharedBytes == 1000);
  CHECK(launch.stream == &stream);
  CHECK(launch.parameters[3] == std::byte(7));
  CHECK(fake().contexts == 0);
}

TEST_CASE("a module is loaded once a GPU, and unloaded from each") {
  const std::size_t before = fake().loaded;
  {
    const Module module(image());
    Block block;
    for (int i = 0; i < 3; ++i)
      for (int ordinal : {0, 1})
        module.launch(ordinal, nullptr, 1, block.bytes);
    CHECK(fake().loaded == before + 2);
  }
  CHECK(fake().loaded == before);
}

TEST_CASE("threads that launch at once load it once") {
  const int loads = fake().calls["cuModuleLoadData"];
  fake().launches.clear();
  const Module module(image());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&module] {
        Block block;
        for (int i = 0; i < 100; ++i)
          module.launch(0, nullptr, 1, block.bytes);
      });
  }
  CHECK(fake().calls["cuModuleLoadData"] == loads + 1);
  CHECK(fake().launches.size() == 800);
}

TEST_CASE("counters are zeroed on the stream before the launch") {
  const Module module(image());
  const Buffer counters(0, 8);
  Block block;
  module.launch(0, nullptr, 1, block.bytes, {counters.address(), 2});
  int values[2];
  counters.read(values);
  CHECK(values[0] == 0);
  CHECK(values[1] == 0);
}

TEST_CASE("a GPU of another kind is refused by name") {
  const Module module(image());
  CHECK(module.machine(0).sms == 132);
  CHECK(messageOf<RuntimeError>([&] { (void)module.machine(2); }) ==
        "kernel 'plain' was built for target 'h200' (sm90a), and GPU 2 is an Fake A100 of compute capability 8.0, which cannot run it; build it for a target of that capability");
}

TEST_CASE("more shared memory than there is") {
  Image large = image();
  large.sharedBytes = 228 << 10;
  CHECK(messageOf<RuntimeError>([&] { (void)Module(large).machine(0); }) ==
        "kernel 'plain' needs 233472 bytes of shared memory a block, and GPU 0 (Fake H200) has 232448; build it with a schedule of narrower tiles or fewer stages");
}

TEST_CASE("what fails while loading leaves nothing loaded, and the next launch tries again") {
  const std::size_t before = fake().loaded;
  const Module module(image());
  Block block;
  {
    const Failing failing("cuModuleGetFunction", 209);
    CHECK(messageOf<RuntimeError>([&] { module.launch(0, nullptr, 1, block.bytes); }) ==
          "loading kernel 'plain' on GPU 0 (Fake H200): cuModuleGetFunction failed with CUDA_ERROR_NO_BINARY_FOR_GPU (no kernel image is available for execution on the device); build for the "
          "target that this GPU is; `tilewright list --targets` names them");
    CHECK(fake().loaded == before);
    CHECK(fake().contexts == 0);
  }
  CHECK_NOTHROW(module.launch(0, nullptr, 1, block.bytes));
}

TEST_CASE("a launch that the driver refuses") {
  const Module module(image());
  const Failing failing("cuLaunchKernel", 400);
  Block block;
  CHECK(messageOf<RuntimeError>([&] { module.launch(0, nullptr, 1, block.bytes); }) ==
        "launching kernel 'plain' on GPU 0 with 1 blocks of 384 threads and 1000 bytes of shared memory: cuLaunchKernel failed with CUDA_ERROR_INVALID_HANDLE (invalid resource handle); the stream "
        "must be of the primary context of the device on which the tensors are");
}

TEST_CASE("maps are encoded once for equal tensors, by each thread") {
  device::TensorMap map;
  map.address = 0x7000;
  map.rank = 2;
  map.sizes = {64, 100};
  map.strides = {2, 128};
  map.box = {64, 64};
  map.swizzle = 128;
  const auto calls = [] { return fake().calls["cuTensorMapEncodeTiled"]; };
  const int before = calls();
  Block first, second;
  driverEncodeMap()(map, first.bytes);
  driverEncodeMap()(map, second.bytes);
  CHECK(calls() == before + 1);
  CHECK(std::memcmp(first.bytes, second.bytes, 128) == 0);
  CHECK(first.bytes[126] == std::byte(6));   // f16
  CHECK(first.bytes[127] == std::byte(3));   // swizzled over 128 bytes
  map.sizes[1] = 101;
  driverEncodeMap()(map, second.bytes);
  CHECK(calls() == before + 2);
  CHECK(std::memcmp(first.bytes, second.bytes, 128) != 0);
  std::jthread([&] { driverEncodeMap()(map, second.bytes); }).join();
  CHECK(calls() == before + 3);
}

TEST_CASE("a map that the driver refuses is named in numbers") {
  device::TensorMap map;
  map.address = 0x7008;
  map.rank = 2;
  map.sizes = {64, 100};
  map.strides = {2, 128};
  map.box = {64, 64};
  Block block;
  const std::string message = messageOf<RuntimeError>([&] { driverEncodeMap()(map, block.bytes); });
  CHECK(message.starts_with("describing a tensor at 0x7008 to the GPU, sizes [64, 100], strides in bytes [2, 128], box [64, 64], fastest first: cuTensorMapEncodeTiled failed with error 1"));
  CHECK(messageOf<RuntimeError>([&] { driverEncodeMap()(map, block.bytes); }) == message);   // not remembered
}
