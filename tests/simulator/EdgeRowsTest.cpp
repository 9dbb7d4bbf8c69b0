// Ways in which kernels of other projects went wrong in real use, one test a row of the list that they are numbered by: what needs no GPU.
#include "EmittedKernel.h"
#include "programs/Programs.h"
#include "support/Arrays.h"
#include "support/Compare.h"
#include "support/Thrown.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/device/Named.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>

using namespace tw;
using namespace tw::tests;

namespace {

const double inf = infinity;

struct Lengths {
  std::int64_t b, h, hkv, sq, skv, d, dv;
};

/// A program of the gallery's tensors and its kernel for an H200, in tiles small enough that folds have several steps.
struct Compiled {
  Program program;
  Artifact artifact;
  EmittedKernel kernel;
  Type type;

  /// With the default schedule for `target`.
  Compiled(Program made, Type type, std::int64_t d, std::int64_t dv, const Target &target)
      : program(std::move(made)), artifact(compileDevice(program, defaultSchedule(program, target, {{"d", d}, {"e", dv}}), target)), kernel(artifact), type(type) {}

  Compiled(Program made, Type type, std::int64_t d, std::int64_t dv)
      : program(std::move(made)), artifact(compileDevice(program, small(program, d, dv), findTarget("h200"))), kernel(artifact), type(type) {}

  static Schedule small(const Program &program, std::int64_t d, std::int64_t dv) {
    Schedule schedule = defaultSchedule(program, findTarget("h200"), {{"d", d}, {"e", dv}});
    schedule.widths["k"] = 32;
    return schedule;
  }
};

/// Kernels are made once: a compile takes longer than a run.
const Compiled &variant(const std::string &name, Type type, std::int64_t d, std::int64_t dv) {
  static std::map<std::string, std::unique_ptr<Compiled>> made;
  auto &kernel = made[name + tw::name(type) + std::to_string(d) + "," + std::to_string(dv)];
  if (!kernel)
    kernel = std::make_unique<Compiled>(makeVariant(name, {.type = type}), type, d, dv);
  return *kernel;
}

Evaluation randomInputs(const Lengths &n, Type type, double spread = 1) {
  return {{{"Q", randomArray({n.b, n.h, n.sq, n.d}, 1, type, spread)},
           {"K", randomArray({n.b, n.hkv, n.skv, n.d}, 2, type, spread)},
           {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, 3, type, spread)}},
          {}};
}

double largest(const Array &array) {
  double most = 0;
  for (double x : array.data)
    most = std::max(most, std::isfinite(x) ? std::fabs(x) : 0);
  return most;
}

/// Runs under every setting without random ones, holds each output against evaluate(), and returns those of the last run. `score` is how
/// large scores get: a score that goes through exp costs as many roundings of f32.
std::map<std::string, Array> right(const Compiled &c, const Lengths &n, const Evaluation &inputs, double score = 8, Nans nans = Nans::refused) {
  const std::map<std::string, std::vector<std::int64_t>> stored{{"O", {n.b, n.h, n.sq, n.dv}}, {"lse", {n.b, n.h, n.sq}}};
  Evaluation measured = inputs;
  for (const auto &[name, shape] : stored)
    measured.tensors[name] = zeros(shape);
  const auto expected = evaluate(c.program, measured);
  const double depth = double(n.skv + n.d);
  EmittedOutcome outcome;
  for (const SimulatorOptions &options : simulatorSettings(0)) {
    outcome = c.kernel.run(inputs, stored, options);
    INFO(c.program.name << " of " << n.b << "/" << n.h << "/" << n.hkv << "/" << n.sq << "/" << n.skv << "/" << n.d << "/" << n.dv);
    INFO(outcome.simulation.text());
    CHECK(outcome.simulation.clean());
    CHECK(outcome.countersAreZero);
    const auto o = compare(outcome.outputs.at("O"), expected.at("O"), roundingOf(c.type, std::max(4.0, largest(inputs.tensors.at("V"))), depth, score), nans);
    INFO("O: " << o.summary);
    CHECK(o.ok);
    const auto lse = compare(outcome.outputs.at("lse"), expected.at("lse"), roundingOf(Type::f32, 8, depth, score), nans);
    INFO("lse: " << lse.summary);
    CHECK(lse.ok);
  }
  return outcome.outputs;
}

/// How many rows are empty: lse is -inf there and O 0, exactly.
int emptyRows(const std::map<std::string, Array> &outputs) {
  const Array &o = outputs.at("O"), &lse = outputs.at("lse");
  const std::size_t width = std::size_t(o.shape.back());
  int empty = 0;
  for (std::size_t row = 0; row < lse.data.size(); ++row) {
    if (lse.data[row] != -inf)
      continue;
    ++empty;
    for (std::size_t e = 0; e < width; ++e)
      CHECK(o.data[row * width + e] == 0);
  }
  return empty;
}

Program causalFromTheTop(Type type) {
  Attention attention("causal_from_the_top", Tensor("Q", type, 4), Tensor("K", type, 4), Tensor("V", type, 4), Tensor("O", type, 4));
  attention.mask(causalTopLeft());
  attention.lse(Tensor("lse", Type::f32, 3));
  return attention.program();
}

/// Queries of ones and keys whose scores before scaling are `level`, but for the first: it is 5000 higher.
Evaluation levelScores(const Lengths &n, double level, Type type) {
  Evaluation inputs = randomInputs(n, type);
  std::fill(inputs.tensors["Q"].data.begin(), inputs.tensors["Q"].data.end(), 1.0);
  Array &k = inputs.tensors["K"];
  for (std::size_t i = 0; i < k.data.size(); ++i)
    k.data[i] = roundTo((level + (i / std::size_t(n.d) % std::size_t(n.skv) == 0 ? 5000 : 0)) / double(n.d), type);
  return inputs;
}

void checkLevels(const Lengths &n) {
  for (double level : {-4e4, -6e4, -2e5}) {
    CAPTURE(level);
    const Evaluation inputs = levelScores(n, level, Type::bf16);
    const auto outputs = right(variant("plain", Type::bf16, n.d, n.dv), n, inputs, -level / std::sqrt(double(n.d)));
    const Array &o = outputs.at("O"), &v = inputs.tensors.at("V");
    for (std::int64_t head = 0; head < n.h; ++head)
      for (std::int64_t e = 0; e < n.dv; ++e)
        CHECK(o.data[std::size_t(head * n.sq * n.dv + e)] == Approx(v.data[std::size_t(head / (n.h / n.hkv) * n.skv * n.dv + e)]).epsilon(0.01));
  }
}

}   // namespace

TEST_CASE("edge row 1: a row without a key gives O 0 and lse -inf, exactly") {
  const Lengths n{1, 4, 4, 40, 7, 64, 64};
  const auto outputs = right(variant("causal", Type::bf16, 64, 64), n, randomInputs(n, Type::bf16));
  CHECK(emptyRows(outputs) == 4 * 33);
  for (std::size_t row = 0; row < 4 * 40; ++row)
    CHECK((outputs.at("lse").data[row] == -inf) == (row % 40 < 33));
}

TEST_CASE("edge row 2: no key at all gives lse -inf, not +inf") {
  const Lengths n{2, 2, 2, 5, 0, 32, 32};
  CHECK(emptyRows(right(variant("plain", Type::f16, 32, 32), n, randomInputs(n, Type::f16))) == 2 * 2 * 5);
}

TEST_CASE("edge row 6: more queries than keys, under both alignments and a window") {
  const Lengths n{1, 2, 2, 129, 64, 64, 64};
  const Evaluation inputs = randomInputs(n, Type::f16);
  CHECK(emptyRows(right(variant("causal", Type::f16, 64, 64), n, inputs)) == 2 * 65);
  CHECK(emptyRows(right(Compiled(causalFromTheTop(Type::f16), Type::f16, 64, 64), n, inputs)) == 0);
  CHECK(emptyRows(right(variant("window(32,64)", Type::f16, 64, 64), n, inputs)) == 2 * 1);
}

TEST_CASE("edge row 10: scores far below any sentinel") { checkLevels({1, 16, 1, 1, 64, 128, 128}); }

TEST_CASE("edge row 12: scores far below any sentinel, one query, an odd length") { checkLevels({1, 4, 4, 1, 33, 128, 128}); }

TEST_CASE("edge row 19: inputs ten times as large") {
  const Lengths n{1, 2, 2, 240, 240, 128, 128};
  right(variant("plain", Type::bf16, 128, 128), n, randomInputs(n, Type::bf16, 10), 6000);
}

TEST_CASE("edge row 33: three heads of Q to one of K, few rows") {
  for (const Lengths &n : {Lengths{1, 9, 3, 5, 5, 64, 64}, {1, 9, 3, 1, 40, 64, 64}})
    right(variant("causal", Type::bf16, 64, 64), n, randomInputs(n, Type::bf16));
}

TEST_CASE("edge row 35: sixty-four heads of Q to one of K") {
  for (const Lengths &n : {Lengths{1, 64, 1, 1, 70, 64, 64}, {1, 64, 1, 9, 40, 64, 64}})
    right(variant("causal", Type::bf16, 64, 64), n, randomInputs(n, Type::bf16));
}

TEST_CASE("edge row 38: whether a head dim is held is known before compiling, and is so") {
  for (const Target &target : targets())
    for (const char *name : {"plain", "gemma2"})
      for (Type type : {Type::bf16, Type::f16})
        for (std::int64_t d = 8; d <= 256; d += 8) {
          INFO(name << " D=" << d << " on " << target.name);
          const Program program = makeVariant(name, {.type = type});
          const Schedule schedule = defaultSchedule(program, target, {{"d", d}, {"e", d}});
          CHECK(schedule.widths.at("d") >= d);
          if (!target.isHost())
            CHECK(footprint(program, schedule, target).sharedBytes <= target.sharedBytesPerBlock);
        }
  const Program program = makeVariant("causal");
  for (auto [d, what] : {std::pair<std::int64_t, std::string>{0, "lies whole inside a tile may be 1 to 256"}, {1032, "is computed in passes may be 1 to 1024"}})
    CHECK(messageOf<std::invalid_argument>([&, d = d] { (void)defaultSchedule(program, findTarget("h200"), {{"d", 64}, {"e", d}}); }) ==
          "axis 'e' of program 'causal' is " + std::to_string(d) + " long; an axis that " + what + " long");
  for (std::int64_t d : {24, 32, 88, 160, 200, 224, 248}) {
    INFO("D=" << d);
    for (const char *target : {"h100", "h200"})
      CHECK(!compileDevice(program, defaultSchedule(program, findTarget(target), {{"d", d}, {"e", d}}), findTarget(target)).source.empty());
  }
  const Lengths n{1, 1, 1, 70, 100, 224, 224};
  right(variant("causal", Type::bf16, 224, 224), n, randomInputs(n, Type::bf16));
}

TEST_CASE("edge row 39: shared memory is never more than there is") {
  const Program program = makeVariant("causal");
  for (const Target &whole : targets())
    for (int kibibytes : {48, 64, 99, 163, 227}) {
      if (whole.isHost())
        continue;
      const Target target = withSharedLimit(whole, kibibytes << 10);
      INFO(target.name << " with " << kibibytes << " KiB");
      std::string refusal;
      try {
        const Schedule schedule = defaultSchedule(program, target, {{"d", 192}, {"e", 128}});
        CHECK(footprint(program, schedule, target).sharedBytes <= target.sharedBytesPerBlock);
        CHECK(compileDevice(program, schedule, target).launch.sharedBytes <= target.sharedBytesPerBlock);
      } catch (const std::invalid_argument &error) {
        refusal = error.what();
        CHECK_THAT(refusal, Catch::Contains("the smallest tiles need ") && Catch::Contains("there are " + std::to_string(target.sharedBytesPerBlock)) &&
                                Catch::Contains("make an inner axis shorter"));
      }
      CHECK((kibibytes < 99 || refusal.empty()));
    }
}

TEST_CASE("edge row 39: nor is it for gradients") {
  const Gradient made = gradient(makeVariant("causal", {.type = Type::bf16}), {.outputs = {"O"}, .inputs = {}, .tilesPerProgram = 1});
  const std::map<std::string, std::int64_t> lengths{{"d", 192}, {"e", 128}};
  for (const char *whole : {"h200", "a100", "l4"})
    for (int kibibytes : {48, 64, 99, 163, 227}) {
      const Target target = withSharedLimit(findTarget(whole), kibibytes << 10);
      for (const Program &program : made.backward) {
        INFO(program.name << " on " << target.name << " with " << kibibytes << " KiB");
        std::map<std::string, std::int64_t> inner;
        const Roles roles = rolesOf(program);
        for (std::size_t i = 0; i < roles.axes.size(); ++i)
          if (roles.roles[i] == Role::inner)
            inner[roles.axes[i].name()] = lengths.at(roles.axes[i].name());
        std::string refusal;
        try {
          const Schedule schedule = defaultSchedule(program, target, inner);
          CHECK(compileDevice(program, schedule, target).launch.sharedBytes <= target.sharedBytesPerBlock);
        } catch (const std::invalid_argument &error) {
          refusal = error.what();
          CHECK_THAT(refusal, Catch::Contains("the smallest tiles need ") && Catch::Contains("there are ") && Catch::Contains("make an inner axis shorter"));
        }
        CHECK((kibibytes < 99 || refusal.empty()));
      }
    }
}

TEST_CASE("edge row 39: kernels within a limit of shared memory are right") {
  for (const char *name : {"h200", "h200-sm80"})
    for (int kibibytes : {48, 64, 99})
      for (auto [made, n] : {std::pair("causal", Lengths{1, 2, 1, 67, 131, 192, 128}), std::pair("gemma2", Lengths{1, 2, 1, 67, 131, 128, 128}), std::pair("causal", Lengths{1, 1, 1, 67, 83, 256, 256})}) {
        if (n.dv == 256 && kibibytes != 48)
          continue;
        const Target target = withSharedLimit(findTarget(name), kibibytes << 10);
        INFO(made << " on " << name << " with " << kibibytes << " KiB");
        const Compiled kernel(makeVariant(made, {.type = Type::bf16}), Type::bf16, n.d, n.dv, target);
        CHECK(kernel.artifact.launch.sharedBytes <= kibibytes << 10);
        right(kernel, n, randomInputs(n, Type::bf16));
      }
}

/// The order of a tensor's dimensions in memory, the slowest first.
Layout ordered(const std::vector<std::int64_t> &shape, const std::vector<int> &order) {
  Layout layout{std::vector<std::int64_t>(shape.size())};
  std::int64_t next = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    layout.strides[std::size_t(order[i])] = next;
    next *= shape[std::size_t(order[i])];
  }
  return layout;
}

/// Runs once more with tensors elsewhere in memory, and expects the same bits.
void checkLayouts(const Compiled &c, const Lengths &n, const Evaluation &inputs, const std::map<std::string, Array> &want, const std::map<std::string, Layout> &layouts) {
  const EmittedOutcome outcome = c.kernel.run(inputs, {{"O", {n.b, n.h, n.sq, n.dv}}, {"lse", {n.b, n.h, n.sq}}}, simulatorSettings(0).front(), 2, layouts);
  INFO(outcome.simulation.text());
  CHECK(outcome.simulation.clean());
  for (const char *name : {"O", "lse"})
    CHECK(std::memcmp(outcome.outputs.at(name).data.data(), want.at(name).data.data(), want.at(name).data.size() * sizeof(double)) == 0);
}

TEST_CASE("edge row 42: one head of K and V behind sixteen of Q in one buffer gives the same bits") {
  const Lengths n{2, 16, 1, 64, 64, 64, 64};
  const Evaluation inputs = randomInputs(n, Type::f16);
  for (const char *target : {"h200", "a100"}) {
    INFO(target);
    const Compiled kernel(makeVariant("plain", {.type = Type::f16}), Type::f16, 64, 64, findTarget(target));
    const auto outputs = right(kernel, n, inputs);
    // [S, B, 18 heads, D]
    const std::vector<std::int64_t> strides{18 * 64, 64, n.b * 18 * 64, 1};
    checkLayouts(kernel, n, inputs, outputs, {{"Q", {strides}}, {"K", {strides, 16 * 64}}, {"V", {strides, 17 * 64}}});
  }
}

TEST_CASE("edge row 44: dimensions in any order in memory give the same bits") {
  const Lengths n{2, 4, 2, 33, 33, 256, 256};
  const Evaluation inputs = randomInputs(n, Type::bf16);
  for (const char *target : {"h200", "a100"}) {
    INFO(target);
    const Compiled kernel(makeVariant("plain", {.type = Type::bf16}), Type::bf16, 256, 256, findTarget(target));
    const auto outputs = right(kernel, n, inputs);
    for (const std::vector<int> &order : {std::vector{0, 2, 1, 3}, {2, 0, 1, 3}}) {
      std::map<std::string, Layout> layouts;
      for (auto [name, heads] : {std::pair("Q", n.h), std::pair("K", n.hkv), std::pair("V", n.hkv), std::pair("O", n.h)})
        layouts[name] = ordered({n.b, heads, 33, 256}, order);
      layouts["lse"] = {{33, n.b * 33, 1}};   // [H, B, S]
      checkLayouts(kernel, n, inputs, outputs, layouts);
    }
  }
}

TEST_CASE("edge row 51: offsets past 2^31 elements") {
  const Artifact artifact = compileDevice(makeVariant("plain"), Compiled::small(makeVariant("plain"), 64, 64), findTarget("h200"));
  const std::int64_t far = (std::int64_t(1) << 31) + 64;
  device::NamedProblem problem;
  std::uint64_t address = std::uint64_t(1) << 40;
  for (const char *name : {"Q", "K", "V", "O"})
    problem.tensors[name] = {address += std::uint64_t(1) << 36, {2, 1, 70, 64}, {far, 70 * 64, 64, 1}};
  problem.tensors["lse"] = {address += std::uint64_t(1) << 36, {2, 1, 70}, {far, 70, 1}};
  problem.lengths = {{"b", 2}, {"h", 1}, {"q", 70}, {"k", 70}, {"d", 64}, {"e", 64}};
  problem.workspace = address + (std::uint64_t(1) << 36);
  std::vector<device::TensorMap> maps;
  const device::Launch launch = device::prepare(device::Plan(artifact.launch), problem, {132, 50 << 20}, [&](const device::TensorMap &map, void *) { maps.push_back(map); });
  REQUIRE(launch.blocks > 0);
  std::size_t mapped = 0, strides = 0;
  for (const device::TensorMap &map : maps)
    mapped += std::count(map.strides.begin(), map.strides.end(), std::uint64_t(far) * 2) > 0;
  CHECK(mapped == maps.size());
  // What is not read through a map is reached by strides of 64 bits.
  const auto *bytes = reinterpret_cast<const char *>(launch.parameters.data());
  for (std::size_t at = 0; at + 8 <= launch.parameterBytes; at += 8)
    strides += std::memcmp(bytes + at, &far, 8) == 0;
  CHECK(maps.size() + strides >= 5);
}

// What a user gives in f32, and sums of products, keep all of f32's bits: slopes whose last bits TF32 has not are off by 0.01 in a score 100 keys away.
TEST_CASE("edge row 92: what is f32 in a kernel is never rounded to TF32") {
  for (const char *name : {"h200", "h200-sm80"}) {
    const Target &target = findTarget(name);
    for (const char *each : programs::plainVariants)
      for (Type type : {Type::bf16, Type::f16}) {
        const Program program = makeVariant(each, {.type = type});
        INFO(each << " for " << name);
        CHECK(compileDevice(program, defaultSchedule(program, target, {{"d", 64}, {"e", 64}}), target).source.find("tf32") == std::string::npos);
      }
    const Lengths n{1, 2, 1, 150, 150, 64, 64};
    Evaluation inputs = randomInputs(n, Type::f16);
    inputs.tensors["slopes"] = {{2}, {roundTo(1 / 3.0, Type::f32), roundTo(1 / 12.0, Type::f32)}};
    INFO("alibi for " << name);
    const Compiled kernel(makeVariant("alibi", {.type = Type::f16}), Type::f16, 64, 64, target);
    const auto outputs = right(kernel, n, inputs, 50);
    Evaluation rounded = inputs;
    rounded.tensors["slopes"].data = {0x1.554p-2, 0x1.554p-4};   // in TF32
    rounded.tensors["O"] = zeros({1, 2, 150, 64});
    rounded.tensors["lse"] = zeros({1, 2, 150});
    CHECK_FALSE(compare(outputs.at("lse"), evaluate(kernel.program, rounded).at("lse"), roundingOf(Type::f32, 8, double(n.skv + n.d), 50)).ok);
  }
}

TEST_CASE("edge row 107: an error in a kernel's text is shown with its line and the kernel's name") {
  if (!cuda::nvrtcAbsence().empty()) {
    WARN("skipped: " << cuda::nvrtcAbsence());
    return;
  }
  Artifact artifact = compileDevice(makeVariant("causal+softcap(20)"), Compiled::small(makeVariant("causal+softcap(20)"), 64, 64), findTarget("h200"));
  const std::size_t body = artifact.source.find("{\n", artifact.source.find("__global__"));
  REQUIRE(body != std::string::npos);
  artifact.source.insert(body + 2, "  planted(mistake);\n");
  const std::string message = messageOf<RuntimeError>([&] { (void)cuda::assemble(assembledText(artifact), artifact.program, {.arch = "sm90a"}); });
  CHECK_THAT(message, Catch::StartsWith("kernel 'causal+softcap(20)': NVRTC "));
  CHECK_THAT(message, Catch::Contains("causal+softcap(20).cu(") && Catch::Contains("error: identifier \"planted\" is undefined"));
  CHECK_THAT(message, Catch::Contains("planted(mistake);\n"));
}

TEST_CASE("edge row 108: kernels need no header and no include path") {
  for (const std::string &option : cuda::nvrtcOptions({.arch = "sm90a"})) {
    CHECK(option.find("-I") != 0);
    CHECK(option.find("include") == std::string::npos);
  }
  for (const char *name : {"h200", "a100"})
    for (const char *each : programs::plainVariants)
      for (Type type : {Type::bf16, Type::f16}) {
        const Program program = makeVariant(each, {.type = type});
        const Target &target = findTarget(name);
        const std::string text = assembledText(compileDevice(program, defaultSchedule(program, target, {{"d", 64}, {"e", 64}}), target));
        INFO(each << " for " << name);
        CHECK(text.find("#include") == std::string::npos);
        CHECK(text.find("INFINITY") == std::string::npos);
      }
}

/// Some keys hold `poison` in one tensor; every row that sees one may be spoilt, no other.
void checkPoisoned(const std::string &name, const std::string &tensor, double poison) {
  CAPTURE(name, tensor, poison);
  const Lengths n{1, 2, 1, 150, 150, 64, 64};
  Evaluation inputs = randomInputs(n, Type::f16);
  Array &array = inputs.tensors[tensor];
  for (std::int64_t row : {20, 100, 101, 127, 149})
    std::fill_n(array.data.begin() + row * 64, 64, poison);
  right(variant(name, Type::f16, 64, 64), n, inputs, 8, Nans::declared);
}

TEST_CASE("NaN or infinity in Q or K spoils the rows that see it and no other") {
  for (const char *name : {"causal", "window(32,64)"})
    for (const char *tensor : {"Q", "K"})
      for (double poison : {double(NAN), inf})
        checkPoisoned(name, tensor, poison);
}

// A tile that is masked in part is multiplied whole, and a weight of 0 times a V that is not finite would be NaN: device.isolate keeps it out.
TEST_CASE("NaN or infinity in V spoils the rows that see it and no other") {
  for (const char *name : {"causal", "window(32,64)"})
    for (double poison : {double(NAN), inf})
      checkPoisoned(name, "V", poison);
}
