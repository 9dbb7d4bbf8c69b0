// A kernel for a GPU, from its text to its launch; on the fake driver, so that no GPU is needed.
#include "DeviceKernels.h"
#include "support/Thrown.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <cmath>
#include <filesystem>
#include <thread>
#include <time.h>

using namespace tw;
using namespace tw::tests;

TEST_CASE("assembling fills in code and resources, and shows its stages") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  CHECK(artifact.code.substr(0, 4) == "\x7f" "ELF");
  CHECK(artifact.resources.registers > 0);
  std::vector<std::string> names;
  std::string resources;
  assembleDevice(artifact, rowsText, [&](const Stage &stage) {
    names.push_back(stage.name + stage.extension);
    if (stage.name == "resources")
      resources = stage.text;
  });
  CHECK(names == std::vector<std::string>{"cuda.cu", "ptx.ptx", "cubin.cubin", "resources.txt"});
  CHECK(resources.find(" registers a thread, 0 bytes spilled, 0 bytes of stack, 0 bytes of static and 4096 of dynamic shared memory, 128 threads a block\n") != std::string::npos);
  CHECK(assemblerText("sm90a").find("--gpu-architecture=sm_90a") != std::string::npos);
}

TEST_CASE("a launch queues one grid with the kernel's parameters") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(parseArtifact(serialise(artifact)));
  const Rows rows(300, 70, 1);
  int stream = 0;
  const auto launches = launchesOf([&] { kernel.launch({&stream}, rows.arguments, rows.space()); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].ordinal == 1);   // where the tensors are
  CHECK(launches[0].entry == "tilewright_rows");
  CHECK(launches[0].blocks == 3);
  CHECK(launches[0].threads == 128);
  CHECK(launches[0].sharedBytes == 4096);
  CHECK(launches[0].stream == &stream);
  const RowsParameters p = parametersOf(launches[0]);
  CHECK(p.tm_X.address == rows.x.address());
  CHECK(p.tm_X.sizes[0] == 64);
  CHECK(p.tm_X.sizes[1] == 70);
  CHECK(p.tm_X.sizes[2] == 300);
  CHECK(p.Y == rows.y.address());
  CHECK(p.Y_s0 == 1);
  CHECK(p.len_q == 300);
  CHECK(p.len_k == 70);
  CHECK(p.items == 3);
  CHECK(p.scale == 0.5f);
  CHECK(p.counters == rows.workspace.address());
}

TEST_CASE("counters are zeroed before each launch, unless they are promised to be 0") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70);
  CHECK(kernel.workspaceBytes(rows.arguments) == 8);
  kernel.launch(hostStream, rows.arguments, rows.space());
  unsigned counters[16];
  rows.workspace.read(counters);
  CHECK(counters[0] == 0);
  CHECK(counters[1] == 0);
  CHECK(counters[2] == ~0u);   // not the kernel's
  const int zeroed = fake().calls["cuMemsetD32Async"];
  Workspace promised = rows.space();
  promised.isZeroed = true;
  kernel.launch(hostStream, rows.arguments, promised);
  CHECK(fake().calls["cuMemsetD32Async"] == zeroed);
}

TEST_CASE("edge row 95: a launch that is made again and again is recorded, and queued as a graph") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  Rows rows(300, 70), others(300, 70);
  auto calls = [](const char *name) { return fake().calls[name]; };
  const auto madeBefore = calls("cuGraphInstantiate"), droppedBefore = calls("cuGraphDestroy");
  const auto launchesBefore = calls("cuLaunchKernel"), queuedBefore = calls("cuGraphLaunch");
  int first = 0, second = 0;
  const auto launches = launchesOf([&] {
    for (int i = 0; i < 6; ++i)
      kernel.launch({i % 2 ? &second : &first}, rows.arguments, rows.space());
  });
  REQUIRE(launches.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(launches[i].stream == (i % 2 ? &second : &first));
    CHECK(launches[i].blocks == 3);
    CHECK(launches[i].parameters == launches[0].parameters);
  }
  CHECK(calls("cuLaunchKernel") - launchesBefore == 4);   // three, and the one that was recorded
  CHECK(calls("cuGraphLaunch") - queuedBefore == 3);
  CHECK(calls("cuGraphInstantiate") - madeBefore == 1);
  CHECK(calls("cuGraphDestroy") - droppedBefore == 1);   // what was recorded, once it can run

  SECTION("with the counters zeroed") {
    const std::vector<unsigned> spent(16, 7u);
    rows.workspace.write(spent.data());
    kernel.launch({&first}, rows.arguments, rows.space());
    unsigned counters[16];
    rows.workspace.read(counters);
    CHECK(counters[0] == 0);
    CHECK(counters[1] == 0);
    CHECK(counters[2] == 7);
  }
  SECTION("not where its own stream is captured: a graph cannot be launched into another") {
    const auto queued = calls("cuGraphLaunch"), plain = calls("cuLaunchKernel");
    void *driver = dlopen(TILEWRIGHT_FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL), *graph = nullptr;
    reinterpret_cast<int (*)(void *, int)>(dlsym(driver, "cuStreamBeginCapture_v2"))(&first, 2);
    CHECK(launchesOf([&] { kernel.launch({&first}, rows.arguments, rows.space()); }).empty());
    reinterpret_cast<int (*)(void *, void **)>(dlsym(driver, "cuStreamEndCapture"))(&first, &graph);
    reinterpret_cast<int (*)(void *)>(dlsym(driver, "cuGraphDestroy"))(graph);
    CHECK(calls("cuGraphLaunch") == queued);
    CHECK(calls("cuLaunchKernel") == plain + 1);
  }
  SECTION("of these arguments alone") {
    const auto queued = calls("cuGraphLaunch");
    const auto other = launchesOf([&] { kernel.launch({&first}, others.arguments, others.space()); });
    REQUIRE(other.size() == 1);
    CHECK(parametersOf(other[0]).Y == others.y.address());
    CHECK(calls("cuGraphLaunch") == queued);
    // Another workspace, and then one that is promised to be zeroed: neither is the launch that was recorded.
    const auto moved = launchesOf([&] { kernel.launch({&first}, rows.arguments, others.space()); });
    REQUIRE(moved.size() == 1);
    CHECK(parametersOf(moved[0]).counters == others.workspace.address());
    Workspace promised = others.space();
    promised.isZeroed = true;
    kernel.launch({&first}, rows.arguments, promised);
    CHECK(calls("cuGraphLaunch") == queued);
  }
  SECTION("and what the driver cannot record is launched as before") {
    fake().failures["cuGraphInstantiate"] = 2;
    const auto queued = calls("cuGraphLaunch");
    CHECK(launchesOf([&] {
            for (int i = 0; i < 6; ++i)
              kernel.launch({&first}, others.arguments, others.space());
          }).size() == 6);
    fake().failures.clear();
    CHECK(calls("cuGraphLaunch") == queued);
  }
}

TEST_CASE("without counters a launch needs no workspace") {
  Artifact artifact = rowsArtifact();
  artifact.launch.counters = 0;
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70);
  CHECK(kernel.workspaceBytes(rows.arguments) == 0);
  CHECK(launchesOf([&] { kernel.launch(hostStream, rows.arguments, {}); }).size() == 1);
}

TEST_CASE("a launch with a workspace of its own") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70);
  const int frees = fake().calls["cuMemFree"], waits = fake().calls["cuStreamSynchronize"];
  const auto launches = launchesOf([&] { kernel.launch(rows.arguments); });
  REQUIRE(launches.size() == 1);
  CHECK(parametersOf(launches[0]).counters != 0);
  CHECK(fake().calls["cuMemFree"] == frees + 1);
  CHECK(fake().calls["cuStreamSynchronize"] == waits + 1);
}

TEST_CASE("empty problems") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  SECTION("no item: nothing is launched, and no GPU is asked for") {
    const Rows rows(0, 70);
    CHECK(launchesOf([&] { kernel.launch(hostStream, rows.arguments, rows.space()); }).empty());
  }
  SECTION("an empty fold: every item still stores, and the map points to memory that is there") {
    const Rows rows(300, 0);
    const auto launches = launchesOf([&] { kernel.launch(hostStream, rows.arguments, rows.space()); });
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].blocks == 3);
    CHECK(parametersOf(launches[0]).tm_X.address == rows.y.address());
    CHECK(parametersOf(launches[0]).len_k == 0);
  }
}

TEST_CASE("edge row 96: tensors that are not on one GPU are refused, and nothing is launched") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  Rows rows(300, 70);
  const Rows other(300, 70, 1);
  std::string message;
  const auto launches = launchesOf([&] {
    SECTION("on two") {
      rows.arguments.tensors["Y"].data = other.y.data();
      message = messageOf<ArgumentError>([&] { kernel.launch(hostStream, rows.arguments, rows.space()); });
      CHECK(message == "tensor 'X' is on GPU 0 and tensor 'Y' on GPU 1; copy them to one GPU");
    }
    SECTION("on none") {
      alignas(16) static float here[300];
      rows.arguments.tensors["Y"].data = here;
      message = messageOf<ArgumentError>([&] { kernel.launch(hostStream, rows.arguments, rows.space()); });
      CHECK(message.starts_with("tensor 'Y' lies at address 0x"));
      CHECK(message.ends_with(", which is in no GPU's memory; copy it to the GPU, or build the kernel for the CPU (target host)"));
    }
    SECTION("on one of another kind") {
      const Rows old(300, 70, 2);
      message = messageOf<RuntimeError>([&] { kernel.launch(hostStream, old.arguments, old.space()); });
      CHECK(message.starts_with("kernel 'rows' was built for target 'h200' (sm90a), and GPU 2 is "));
    }
  });
  CHECK(launches.empty());
}

TEST_CASE("a workspace that is not on the tensors' GPU is refused, and nothing is launched") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70), other(300, 70, 1);
  auto refusal = [&](Workspace workspace) { return messageOf<ArgumentError>([&] { kernel.launch(hostStream, rows.arguments, workspace); }); };
  alignas(64) static std::byte here[64];
  auto refused = [&] {
    CHECK(launchesOf([&] {
            CHECK(refusal(other.space()) == "the workspace is on GPU 1 and the tensors of kernel 'rows' on GPU 0; allocate it there");
            const std::string message = refusal({here, sizeof here});
            CHECK(message.starts_with("the workspace lies at address 0x"));
            CHECK(message.ends_with(", which is in no GPU's memory; kernel 'rows' counts there: allocate it on GPU 0, where the tensors are"));
          }).empty());
  };
  SECTION("at the first launch") { refused(); }
  SECTION("after launches with another one, of the same arguments") {
    kernel.launch(hostStream, rows.arguments, rows.space());
    refused();
  }
  SECTION("in the host's memory, though the driver knows it") {
    fake().pinned[reinterpret_cast<std::uintptr_t>(here)] = sizeof here;
    CHECK(refusal({here, sizeof here}).ends_with(", which is the host's memory; kernel 'rows' counts there: allocate it on GPU 0, where the tensors are"));
    fake().pinned.clear();
  }
}

TEST_CASE("a workspace is looked up once") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70);
  const cuda::Buffer second(0, 64);
  auto lookUps = [&](const cuda::Buffer &workspace) {
    const int before = fake().calls["cuPointerGetAttributes"];
    CHECK(launchesOf([&] { kernel.launch(hostStream, rows.arguments, {workspace.data(), workspace.bytes()}); }).size() == 1);
    return fake().calls["cuPointerGetAttributes"] - before;
  };
  CHECK(lookUps(rows.workspace) > 1);
  const int ofTensors = lookUps(rows.workspace);   // one, as this process sees several GPUs
  CHECK(ofTensors == 1);
  CHECK(lookUps(second) == ofTensors + 1);
  CHECK(lookUps(second) == ofTensors);
}

TEST_CASE("a kernel describes what it takes of the GPU") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const std::string text = kernelOf(artifact).describe();
  CHECK(text.find("  target    h200\n") != std::string::npos);
  CHECK(text.find(", entry tilewright_rows\n  resources 128 threads a block, ") != std::string::npos);
  CHECK(text.find(" registers a thread, 0 bytes spilled, 4096 bytes of shared memory a block\n") != std::string::npos);
}

TEST_CASE("code and facts that do not fit each other are never launched") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  SECTION("parameters") {
    artifact.launch.fields.pop_back();
    artifact.launch.fields.pop_back();
    artifact.launch.fields.pop_back();
    artifact.launch.fields.erase(artifact.launch.fields.begin());
    CHECK(messageOf<RuntimeError>([&] { (void)kernelOf(artifact); }) == "kernel 'rows' takes 256 bytes of parameters by its code and 24 by its facts, of at most 4096; clear the cache");
  }
  SECTION("threads") {
    artifact.launch.threads = 256;
    CHECK(messageOf<RuntimeError>([&] { (void)kernelOf(artifact); }) == "kernel 'rows' is made for blocks of 128 threads and is launched with 256; clear the cache");
  }
  SECTION("names") {
    artifact.launch.fields[1].tensor = "Z";
    CHECK(messageOf<RuntimeError>([&] { (void)kernelOf(artifact); }) == "kernel 'rows' takes tensor 'Z', of which it says nothing else; clear the cache");
  }
  SECTION("code that is none") {
    artifact.code.resize(100);
    CHECK_THROWS_AS(kernelOf(artifact), RuntimeError);
  }
}

TEST_CASE("threads launch one kernel at once, each on its stream") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const auto launches = launchesOf([&] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&kernel, t] {
        const Rows rows(100 * (t + 1), 70, t % 2);
        for (int i = 0; i < 50; ++i)
          kernel.launch({reinterpret_cast<void *>(std::uintptr_t(t + 1))}, rows.arguments, rows.space());
      });
  });
  REQUIRE(launches.size() == 200);
  for (const FakeLaunch &launch : launches) {
    const auto t = reinterpret_cast<std::uintptr_t>(launch.stream) - 1;
    CHECK(launch.ordinal == int(t % 2));
    CHECK(parametersOf(launch).len_q == int(100 * (t + 1)));
  }
}

TEST_CASE("what was accepted before is not taken for what differs from it") {
  Artifact artifact = rowsArtifact();
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  Rows rows(300, 70);
  auto launched = [&] { return launchesOf([&] { kernel.launch(hostStream, rows.arguments, rows.space()); }); };
  auto refusal = [&] { return messageOf<ArgumentError>([&] { kernel.launch(hostStream, rows.arguments, rows.space()); }); };
  const RowsParameters first = parametersOf(launched().front());
  const RowsParameters second = parametersOf(launched().front());
  CHECK(std::memcmp(&first, &second, sizeof first) == 0);
  SECTION("a scalar") {
    rows.arguments.scalars["scale"] = 2;
    CHECK(parametersOf(launched().front()).scale == 2.f);
  }
  SECTION("the sign of a zero") {
    rows.arguments.scalars["scale"] = 0.0;
    CHECK(!std::signbit(parametersOf(launched().front()).scale));
    rows.arguments.scalars["scale"] = -0.0;
    CHECK(std::signbit(parametersOf(launched().front()).scale));
  }
  SECTION("a shape") {
    rows.arguments.tensors["X"].shape = {300, 60, 64};
    CHECK(parametersOf(launched().front()).len_k == 60);
  }
  SECTION("strides") {
    rows.arguments.tensors["X"].strides = {70 * 64, 64, 2};
    CHECK(refusal().starts_with("tensor 'X' of shape [300, 70, 64] has stride 2 along dimension 2"));
  }
  SECTION("a type") {
    rows.arguments.tensors["X"].type = Type::f16;
    CHECK(refusal() == "tensor 'X' is f16, expected bf16; convert it, or build the program for f16");
  }
  SECTION("an address") {
    const Rows other(300, 70);
    rows.arguments.tensors["Y"].data = other.y.data();
    CHECK(parametersOf(launched().front()).Y == other.y.address());
  }
  SECTION("lengths that disagree, after tensors alike") {
    rows.arguments.tensors["Y"].shape = {299};
    CHECK(refusal() == "axis 'q' is 300 long along dimension 0 of 'X' and 299 along dimension 0 of 'Y'; they must agree");
  }
  SECTION("a tensor too many") {
    rows.arguments.tensors["Z"] = rows.arguments.tensors["Y"];
    CHECK(refusal().starts_with("program 'rows' has no tensor 'Z'"));
  }
  SECTION("the kernel") {
    Artifact other = rowsArtifact();
    other.launch.threads = 64;
    assembleDevice(other, rowsText, {});
    const Kernel smaller = kernelOf(other);
    CHECK(launchesOf([&] { smaller.launch(hostStream, rows.arguments, rows.space()); }).front().threads == 64);
  }
}

TEST_CASE("this machine's GPU is found in the table of targets") {
  CHECK(gpuTarget(0) == "h200");
  CHECK(gpuTarget(2) == "a100-80gb");
  CHECK(messageOf<RuntimeError>([] { (void)gpuTarget(3); }) == "there is no GPU 3; this process sees 3");
}

TEST_CASE("a program is built for a GPU where there is none, and launched as its facts say") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  BuildOptions options;
  options.target = "h200";
  options.extents = {{"d", 64}, {"e", 64}};
  options.useCache = false;
  const Kernel kernel = build(makeVariant("causal", {Type::bf16, true}), options);
  const std::string text = kernel.describe();
  INFO(text);
  CHECK(text.find("  target    h200\n") != std::string::npos);
  CHECK(text.find("  resources ") != std::string::npos);
  CHECK(text.find("entry ") != std::string::npos);
  const std::vector<std::int64_t> shape = {2, 3, 300, 64};
  const std::size_t bytes = 2 * 3 * 300 * 64 * 2;
  const cuda::Buffer q(1, bytes), k(1, bytes), v(1, bytes), o(1, bytes), lse(1, 2 * 3 * 300 * 4);
  Arguments arguments;
  for (auto [name, buffer] : {std::pair("Q", &q), {"K", &k}, {"V", &v}, {"O", &o}})
    arguments.tensors[name] = {buffer->data(), Type::bf16, shape, {}};
  arguments.tensors["lse"] = {lse.data(), Type::f32, {2, 3, 300}, {}};
  const cuda::Buffer workspace(1, 4096);
  REQUIRE(kernel.workspaceBytes(arguments) <= workspace.bytes());
  const auto launches = launchesOf([&] { kernel.launch(hostStream, arguments, {workspace.data(), workspace.bytes()}); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].ordinal == 1);
  CHECK(launches[0].entry.find("causal") != std::string::npos);   // what a profiler shows
  CHECK(launches[0].blocks > 0);
  CHECK(launches[0].blocks <= 132);
}

TEST_CASE("where the assembler's code would be slow, a default schedule gives way to the next; one that was asked for does not") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const Program program = makeVariant("gemma2+alibi", {Type::bf16, true});
  BuildOptions options;
  options.target = "h200";
  options.extents = {{"d", 8}, {"e", 8}};
  options.useCache = false;
  const Schedule preferred = defaultSchedule(program, findTarget("h200"), options.extents);
  const Kernel kernel = build(program, options);
  options.schedule = preferred;
  std::string refusal;
  try {
    (void)build(program, options);
  } catch (const SlowCodeError &error) {
    refusal = error.what();
  }
  CHECK((kernel.schedule() == preferred) == refusal.empty());   // another assembler may have no quarrel with it
  if (!refusal.empty())
    CHECK_THAT(refusal, Catch::Contains("kernel 'gemma2+alibi' spills ") && Catch::Contains("; take a schedule with narrower tiles. The schedule: " + print(preferred)));
  CHECK(kernel.describe().find("  schedule  " + print(kernel.schedule()) + "\n") != std::string::npos);
}

TEST_CASE("a launch costs the host a few microseconds", "[time]") {
  Artifact artifact = rowsArtifact();
  artifact.launch.counters = 0;
  if (!assembleRows(artifact))
    return;
  const Kernel kernel = kernelOf(artifact);
  const Rows rows(300, 70);
  auto now = [] {
    timespec t;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  double best = 1;
  for (int round = 0; round < 20; ++round) {
    const double start = now();
    for (int i = 0; i < 100; ++i)
      kernel.launch(hostStream, rows.arguments, {});
    best = std::min(best, (now() - start) / 100);
    fake().launches.clear();
  }
  INFO("microseconds: " << best * 1e6);
  CHECK(best < 5e-6);   // of which the fake driver takes as much as a real one
}
