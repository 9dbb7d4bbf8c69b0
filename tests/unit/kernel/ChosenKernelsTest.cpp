// Of a program's kernels for a GPU, the one that a launch takes: by lengths, by strides, and with its reads looked at first. On the fake driver.
#include "DeviceKernels.h"
#include "support/Thrown.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SecondSchedule.h"
#include <random>
#include <utility>

using namespace tw;
using namespace tw::tests;

TEST_CASE("of two kernels of a program a launch takes the one that its lengths speak for, in a workspace that is enough for either") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  const Program program = makeVariant("causal", {Type::bf16, true});
  BuildOptions options;
  options.target = "h200";
  options.extents = {{"d", 64}, {"e", 64}};
  options.useCache = false;
  const Kernel kernel = build(program, options);
  const Schedule first = defaultSchedule(program, findTarget("h200"), options.extents);
  const auto second = secondSchedule(program, findTarget("h200"), options.extents, first);
  REQUIRE(second);
  CHECK(kernel.schedule() == first);
  CHECK(kernel.describe().find("  second    " + print(*second) + ", for launches ") != std::string::npos);
  BuildOptions alone = options;
  alone.schedule = first;
  CHECK(build(program, alone).describe().find("  second ") == std::string::npos);
  const cuda::Buffer memory(1, std::size_t(288) << 20), workspace(1, 4096);   // nothing of it is touched
  auto argumentsOf = [&](std::int64_t b, std::int64_t h, std::int64_t length) {
    Arguments arguments;
    auto *data = static_cast<std::byte *>(memory.data());
    for (const char *name : {"Q", "K", "V", "O"})
      arguments.tensors[name] = {std::exchange(data, data + b * h * length * 64 * 2), Type::bf16, {b, h, length, 64}, {}};
    arguments.tensors["lse"] = {data, Type::f32, {b, h, length}, {}};
    return arguments;
  };
  const Arguments brief = argumentsOf(4, 32, 512), tall = argumentsOf(1, 32, 16384);
  CHECK(kernel.scheduleFor(brief) == *second);
  CHECK(kernel.scheduleFor(tall) == first);
  for (int round = 0; round < 2; ++round)
    for (const Arguments *arguments : {&brief, &tall}) {
      REQUIRE(kernel.workspaceBytes(*arguments) <= workspace.bytes());
      const Schedule taken = kernel.scheduleFor(*arguments);
      const auto launches = launchesOf([&] { kernel.launch(hostStream, *arguments, {workspace.data(), workspace.bytes()}); });
      REQUIRE(launches.size() == 1);
      const auto &shape = arguments->tensors.at("Q").shape;
      const std::int64_t width = taken.widths.at("q"), items = shape[0] * shape[1] * ((shape[2] + width - 1) / width);
      CHECK(int(launches[0].threads) == 128 * (taken.warpgroups + 1));
      CHECK(std::int64_t(launches[0].blocks) == std::min<std::int64_t>(132 * taken.blocksPerSM, items));
    }
}

TEST_CASE("a hundred shapes, strides and scalars of one variant take one kernel more at most on a GPU, edge rows 45 and 47") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  Attention attention("capped", Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::bf16, 4));
  attention.score(softcap(scalar("cap", Type::f32, Sign::positive)))
      .score([bias = Tensor("bias", Type::f32, 1)](Tile s, const At &at) { return s + bias(at.key); })
      .mask(causal());
  BuildOptions options;
  options.target = "h200";
  options.extents = {{"d", 64}, {"e", 64}};
  options.useCache = false;
  const Kernel kernel = build(attention.program(), options);
  const std::uint64_t before = buildCounts().compiled;
  CHECK(kernel.describe().find("another one") == std::string::npos);
  std::mt19937_64 random(1);
  auto draw = [&](int low, int high) { return low + int(random() % std::uint64_t(high - low + 1)); };
  const cuda::Buffer memory(1, 64 << 20), workspace(1, 4096);
  int unfit = 0;
  for (int i = 0; i < 100; ++i) {
    const int hkv = draw(1, 2), h = hkv * draw(1, 3), b = draw(1, 2), sq = draw(1, 70), skv = draw(1, 90);
    Arguments arguments;
    arguments.scalars["cap"] = draw(1, 50);
    std::byte *next = static_cast<std::byte *>(memory.data());
    bool isOdd = false;
    auto place = [&](const char *name, Type type, std::vector<std::int64_t> shape) {
      // Row-major, with rows further apart, at an odd element, or transposed.
      const int kind = draw(0, 9) ? 0 : draw(1, 3), size = bytes(type);
      const std::int64_t row = shape.back() + (kind == 1), rows = shape[2];
      std::vector<std::int64_t> strides = {shape[1] * rows * row, rows * row, row, 1};
      if (kind == 3)
        strides[2] = 1, strides[3] = rows;
      arguments.tensors[name] = {next + (kind == 2 ? size : 0), type, shape, strides};
      next += (shape[0] * strides[0] * size + 31) / 16 * 16;
      isOdd |= kind == 2 || (kind == 1 && rows > 1) || (kind == 3 && rows > 1);
    };
    place("Q", Type::bf16, {b, h, sq, 64});
    place("K", Type::bf16, {b, hkv, skv, 64});
    place("V", Type::bf16, {b, hkv, skv, 64});
    place("O", Type::bf16, {b, h, sq, 64});
    arguments.tensors["bias"] = {next, Type::f32, {skv}, {}};
    unfit += isOdd;
    const auto launches = launchesOf([&] { kernel.launch(hostStream, arguments, {workspace.data(), workspace.bytes()}); });
    CHECK(launches.size() == 1);
    CHECK(buildCounts().compiled - before <= 1);
  }
  CHECK(unfit > 10);
  CHECK(unfit < 90);
  CHECK(buildCounts().compiled - before == 1);
  CHECK(kernel.describe().find("  launch    1 kernel; another one for tensors that cannot be copied in pieces of 16 bytes\n") != std::string::npos);
}

TEST_CASE("a checked kernel for a GPU looks at the tables where they are, and launches nothing where an index leaves one") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  Attention attention("checked", Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::bf16, 4));
  attention.score([table = Tensor("table", Type::f32, 1), row = Tensor("row", Type::i32, 1)](Tile s, const At &at) { return s + table(row(at.query)); });
  BuildOptions options;
  options.target = "h200";
  options.extents = {{"d", 64}, {"e", 64}};
  options.useCache = false;
  options.checked = true;
  const Kernel kernel = build(attention.program(), options);
  const cuda::Buffer memory(1, 1 << 20), workspace(1, 4096);
  cuda::Buffer table(1, 60 * 4), rows(1, 2 * 70 * 4);   // every other element counts
  Arguments arguments;
  for (const char *name : {"Q", "K", "V", "O"})
    arguments.tensors[name] = {memory.data(), Type::bf16, {1, 2, 70, 64}, {}};
  arguments.tensors["O"].data = static_cast<std::byte *>(memory.data()) + (1 << 19);
  arguments.tensors["table"] = {table.data(), Type::f32, {60}, {}};
  arguments.tensors["row"] = {rows.data(), Type::i32, {70}, {2}};
  std::vector<std::int32_t> places(140, 1 << 20);
  for (std::size_t i = 0; i < 140; i += 2)
    places[i] = std::int32_t(i % 60);
  auto launched = [&] {
    rows.write(places.data());
    return launchesOf([&] { kernel.launch(hostStream, arguments, {workspace.data(), workspace.bytes()}); }).size();
  };
  CHECK(launched() == 1);
  places[2 * 17] = -1;
  const std::string text = messageOf<ArgumentError>([&] { (void)launched(); });
  CHECK(text.starts_with("tensor 'table' is 60 long along dimension 0 and is read there at -1 for q = 17 (ChosenKernelsTest.cpp:"));
  CHECK(text.ends_with("), and outside at 1 of 70 places; give a longer tensor, or guard the read: where((i >= 0) & (i < table.dimension(0)), …, 0)"));
  CHECK(launchesOf([&] { CHECK_THROWS_AS(kernel.launch(arguments), ArgumentError); }).empty());
}
