// Folds that are no attention go through the same passes, and schedules change no result.
#include "Launched.h"
#include "programs/Programs.h"
#include "support/Compare.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

BuildOptions made(std::map<std::string, std::int64_t> extents, std::optional<Schedule> schedule = {}) {
  BuildOptions options;
  options.extents = std::move(extents);
  options.schedule = std::move(schedule);
  options.useCache = false;
  return options;
}

/// Builds, launches and holds every stored tensor against evaluate().
void right(const Program &program, const Evaluation &inputs, const Shapes &stored, const BuildOptions &options, Tolerance tolerance) {
  Tensors tensors(program, inputs, stored);
  build(program, options).launch(tensors.arguments);
  Evaluation measured = inputs;
  for (const auto &[name, shape] : stored)
    measured.tensors[name] = zeros(shape);
  auto expected = evaluate(program, measured);
  for (const auto &[name, shape] : stored) {
    auto compared = compare(tensors.read(name), expected.at(name), tolerance);
    INFO(program.name << " " << name << ": " << compared.summary);
    CHECK(compared.ok);
  }
}

/// Sizes t × v × d of two matrices.
struct Sizes {
  std::int64_t t, v, d;
};
const Sizes sizes[] = {{1, 1, 1}, {5, 3, 8}, {65, 127, 64}, {130, 200, 256}, {17, 0, 16}, {0, 9, 16}};

/// The accumulated error of a sum over the depth d, then over v; the result is rounded to `type`.
Tolerance tolerance(Type type, const Sizes &n) {
  return roundingOf(type, 8 * std::sqrt(double(std::max<std::int64_t>(n.d, 1))) * double(std::max<std::int64_t>(n.v, 1)), double(n.d + n.v));
}

/// The program of two matrices X [t, d] and W [v, d] at every size and type.
template <class Make> void everywhere(Make make, std::vector<std::string> outputs) {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    for (const Sizes &n : sizes) {
      INFO(name(type) << " t=" << n.t << " v=" << n.v << " d=" << n.d);
      Shapes stored;
      for (const std::string &output : outputs)
        stored[output] = {n.t};
      Evaluation inputs{{{"X", randomArray({n.t, n.d}, 1, type)}, {"W", randomArray({n.v, n.d}, 2, type)}}, {}};
      right(make(type), inputs, stored, made({{"d", n.d}}), tolerance(type == Type::f64 ? Type::f64 : Type::f32, n));
    }
}

} // namespace

TEST_CASE("a matrix product") {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    for (const Sizes &n : sizes) {
      INFO(name(type) << " t=" << n.t << " v=" << n.v << " e=" << n.d);
      Evaluation inputs{{{"X", randomArray({n.t, n.v}, 1, type)}, {"W", randomArray({n.v, n.d}, 2, type)}}, {}};
      right(programs::gemm(type), inputs, {{"Y", {n.t, n.d}}}, made({{"e", n.d}}), roundingOf(type, double(std::max<std::int64_t>(n.v, 1)), double(n.v)));
    }
}

TEST_CASE("row sums of |A · Bᵀ|") { everywhere(programs::rowSumsOfAbs, {"R"}); }

TEST_CASE("the log-sum-exp of a linear layer") {
  for (const Sizes &n : sizes) {
    if (n.v == 0)
      continue;                      // the program has no guard for an empty row: -inf - -inf, in float64 too
    for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
      INFO(name(type) << " t=" << n.t << " v=" << n.v << " d=" << n.d);
      Evaluation inputs{{{"X", randomArray({n.t, n.d}, 1, type, 0.3)}, {"W", randomArray({n.v, n.d}, 2, type)}}, {}};
      right(programs::linearLogSumExp(type), inputs, {{"lse", {n.t}}, {"best", {n.t}}}, made({{"d", n.d}}), tolerance(type == Type::f64 ? Type::f64 : Type::f32, n));
    }
  }
}

TEST_CASE("three sums under different masks") { everywhere(programs::sumsUnderMasks, {"A", "B", "C"}); }

TEST_CASE("sigmoid weights, without a maximum or a normaliser") {
  for (Type type : {Type::f16, Type::bf16, Type::f32, Type::f64})
    for (const Lengths &n : {Lengths{1, 2, 1, 33, 70, 64, 40}, Lengths{2, 2, 2, 100, 7, 8, 8}, Lengths{1, 1, 1, 5, 0, 8, 8}}) {
      INFO(name(type) << " " << n.sq << " × " << n.skv);
      Program program = programs::sigmoidWeights(type);
      Evaluation inputs = randomInputs(n, type);
      for (const Tile &scalar : scalarsOf(program))
        inputs.scalars[scalar.node().label] = 0.125;
      right(program, inputs, {{"O", {n.b, n.h, n.sq, n.dv}}}, made({{"d", n.d}, {"e", n.dv}}), roundingOf(type, 4 * std::sqrt(double(n.skv + 1)), double(n.skv + n.d), 8));
    }
}

TEST_CASE("edge row 90: stages change no result, though each step reads what the one before overwrote") {
  // A recurrence of two tiles that change places: each is read after the other has been written.
  Axis t("t"), v("v"), e("e");
  Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), A("A", Type::f32, 2), B("B", Type::f32, 2);
  auto [a, b] = orderedFold(v, std::tuple{full(0, {t, e}), full(1, {t, e})}, [&](Tile a, Tile b) {
    Tile product = dot(X(t, v), W(v, e), over(v));
    return std::tuple{b * 0.5 + product, a - b};
  });
  Program program{"exchange", {store(A, {t, e}, a), store(B, {t, e}, b)}};
  Evaluation inputs{{{"X", randomArray({37, 90}, 1, Type::f32)}, {"W", randomArray({90, 24}, 2, Type::f32)}}, {}};
  Shapes stored{{"A", {37, 24}}, {"B", {37, 24}}};
  for (int foldWidth : {8, 32}) {
    inputs.foldTile = foldWidth;     // how wide its tiles are matters to this program, so the oracle is told
    std::optional<std::pair<Array, Array>> first;
    for (int stages : {1, 2, 3, 4})
      for (bool overlap : {false, true}) {
        Schedule schedule = defaultSchedule(program, findTarget("host"), {{"e", 24}});
        schedule.widths["t"] = 16;
        schedule.widths["v"] = foldWidth;
        schedule.stages = stages;
        schedule.overlap = overlap;
        INFO(print(schedule));
        right(program, inputs, stored, made({{"e", 24}}, schedule), {1e-4, 1e-5});
        Tensors tensors(program, inputs, stored);
        build(program, made({{"e", 24}}, schedule)).launch(tensors.arguments);
        std::pair<Array, Array> now{tensors.read("A"), tensors.read("B")};
        if (!first)
          first = now;
        CHECK(now.first.data == first->first.data);
        CHECK(now.second.data == first->second.data);
      }
  }
}

TEST_CASE("edge row 91: several loops over one set of buffers, of every width") {
  // A window splits its fold into partial, full and partial loops, which share tiles and carried values.
  Program program = makeVariant("window(40,3)", {.type = Type::f32});
  Lengths n{1, 1, 1, 70, 150, 16, 8};
  Evaluation inputs = randomInputs(n, Type::f32);
  for (int block : {1, 7, 16})
    for (int fold : {1, 5, 8, 64})
      for (int stages : {1, 3}) {
        Schedule schedule = defaultSchedule(program, findTarget("host"), {{"d", n.d}, {"e", n.dv}});
        schedule.widths["q"] = block;
        schedule.widths["k"] = fold;
        schedule.stages = stages;
        INFO(print(schedule));
        right(program, inputs, outputs(n), made({{"d", n.d}, {"e", n.dv}}, schedule), roundingOf(Type::f32, 4, double(n.skv), 8));
      }
  Schedule schedule = defaultSchedule(program, findTarget("host"), {{"d", n.d}, {"e", n.dv}});
  std::string text = emitText(program, schedule, Emit::tile);
  std::size_t loops = 0;
  for (std::size_t at = text.find("scf.for"); at != std::string::npos; at = text.find("scf.for", at + 1))
    ++loops;
  CHECK(loops == 3);
}

TEST_CASE("a schedule that holds stabilisers gives the same results") {
  Lengths n{1, 2, 1, 100, 300, 64, 64};
  for (const char *variant : {"plain", "causal", "gemma2"}) {
    Program program = makeVariant(variant, {.type = Type::f32});
    Schedule schedule = defaultSchedule(program, findTarget("host"), {{"d", n.d}, {"e", n.dv}});
    schedule.stabilised = true;
    INFO(variant);
    right(program, randomInputs(n, Type::f32), outputs(n), made({{"d", n.d}, {"e", n.dv}}, schedule), roundingOf(Type::f32, 4, double(n.skv), 8));
  }
}
