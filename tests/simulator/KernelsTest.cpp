// Every kind of program, compiled for an H200 or for older GPUs and run in the simulator against float64: races, fences, barriers and numbers.
#include "EmittedKernel.h"
#include "Held.h"
#include "programs/Programs.h"
#include "support/Arrays.h"
#include "support/Compare.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/Target.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>

using namespace tw;
using namespace tw::tests;

namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

/// More than late and eager, where somebody asks for it.
int seeds() {
  const char *asked = std::getenv("TILEWRIGHT_SIMULATOR_SEEDS");
  return asked ? std::atoi(asked) : 0;
}

struct Case {
  Program program;
  std::map<std::string, std::int64_t> inner;
  Evaluation inputs;
  Shapes stored;
  Tolerance tolerance;
  std::string schedule = {};   // fields that differ from the default
  Nans nans = Nans::refused;
  std::function<bool(std::int64_t q, std::int64_t k)> sees = {};   // of variants: whether no mask hides key k from row q
  std::string target = "h200";
};

/// How a case fills a kernel: a ring must come round, a block must go on to another item, and masks must meet tiles of every class.
struct Filled {
  int empty = 0, partial = 0, full = 0, mostSteps = 0;
};

Filled filled(const Case &c, const Schedule &schedule) {
  const std::int64_t rows = c.stored.at("O")[2], keys = c.inputs.tensors.at("K").shape[2], height = schedule.widths.at("q"), width = schedule.widths.at("k");
  Filled filled;
  for (std::int64_t q = 0; q < rows; q += height) {
    int steps = 0;
    for (std::int64_t k = 0; k < keys; k += width) {
      std::int64_t seen = 0, all = 0;
      for (std::int64_t i = q; i < std::min(q + height, rows); ++i)
        for (std::int64_t j = k; j < std::min(k + width, keys); ++j, ++all)
          seen += c.sees(i, j);
      ++(seen == 0 ? filled.empty : seen == all ? filled.full : filled.partial);
      steps += seen != 0;
    }
    filled.mostSteps = std::max(filled.mostSteps, steps);
  }
  return filled;
}

Schedule scheduleOf(const Case &c) { return changed(defaultSchedule(c.program, findTarget(c.target), c.inner), c.schedule); }

/// Whether a case must fill its kernel, or is about lengths that do not.
enum class Fill { any, whole };

/// Compiles, runs under every setting, and holds each output against evaluate().
void right(const Case &c, Fill fill = Fill::any, int sms = 2) {
  const Schedule schedule = scheduleOf(c);
  const bool fills = fill == Fill::whole;
  if (fills) {
    const Filled tiles = filled(c, schedule);
    INFO(c.program.name << " under " << print(schedule) << ": " << tiles.mostSteps << " steps; " << tiles.empty << " empty, " << tiles.partial << " partial, " << tiles.full << " full tiles");
    CHECK(tiles.mostSteps >= schedule.stages + 2);
    CHECK(tiles.full > 0);
    if (tiles.partial || tiles.empty) {
      CHECK(tiles.partial > 0);
      CHECK(tiles.empty > 0);
    }
  }
  const Artifact artifact = compileDevice(c.program, schedule, findTarget(c.target));
  const EmittedKernel kernel(artifact);
  Evaluation measured = c.inputs;
  for (const auto &[name, shape] : c.stored)
    measured.tensors[name] = zeros(shape);
  const auto expected = evaluate(c.program, measured);
  std::map<std::string, Array> first;
  for (const SimulatorOptions &options : simulatorSettings(seeds())) {
    const EmittedOutcome outcome = kernel.run(c.inputs, c.stored, options, std::max(1, sms / schedule.blocksPerSM));
    INFO(c.program.name << " under " << print(schedule) << ", seed " << options.seed);
    INFO(outcome.simulation.text());
    CHECK(outcome.simulation.clean());
    CHECK(outcome.countersAreZero);
    CHECK((!fills || outcome.items >= 2 * outcome.blocks));
    for (const auto &[name, shape] : c.stored) {
      const auto compared = compare(outcome.outputs.at(name), expected.at(name), c.tolerance, c.nans);
      INFO(name << ": " << compared.summary);
      CHECK(compared.ok);
      if (first.contains(name))
        CHECK((c.nans == Nans::declared || first[name].data == outcome.outputs.at(name).data));   // whatever came when, bit for bit
    }
    if (first.empty())
      first = outcome.outputs;
  }
}

struct Lengths {
  std::int64_t b, h, hkv, sq, skv, d, dv;
};

std::function<bool(std::int64_t, std::int64_t)> seesOf(const std::string &name, const Lengths &n) {
  const std::int64_t shift = n.skv - n.sq;
  if (name.starts_with("causal"))
    return [shift](std::int64_t q, std::int64_t k) { return k <= q + shift; };
  if (name == "window(70,20)")
    return [shift](std::int64_t q, std::int64_t k) { return q + shift - k <= 70 && q + shift - k >= -20; };
  return [](std::int64_t, std::int64_t) { return true; };
}

Case variant(const std::string &name, const Lengths &n, Type type, const std::string &schedule = {}) {
  Program program = makeVariant(name, {.type = type});
  Evaluation inputs{{{"Q", randomArray({n.b, n.h, n.sq, n.d}, 1, type)},
                     {"K", randomArray({n.b, n.hkv, n.skv, n.d}, 2, type)},
                     {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, 3, type)}},
                    {}};
  if (name.find("alibi") != name.npos)
    inputs.tensors["slopes"] = randomArray({n.h}, 4, Type::f32, 0.1);
  return {std::move(program),
          {{"d", n.d}, {"e", n.dv}},
          std::move(inputs),
          {{"O", {n.b, n.h, n.sq, n.dv}}, {"lse", {n.b, n.h, n.sq}}},
          roundingOf(type, 4, double(n.skv + n.d), 8),
          schedule,
          Nans::refused,
          seesOf(name, n)};
}

}   // namespace

TEST_CASE("variants of the gallery in the simulator") {
  const std::string small = "k=32";
  for (const char *name : {"plain", "causal", "window(70,20)", "softcap(5)", "alibi", "causal+alibi+softcap(4)"})
    for (Type type : {Type::bf16, Type::f16})
      right(variant(name, {1, 2, 1, 200, 260, 64, 64}, type, small), Fill::whole);
}

TEST_CASE("head dims in the simulator") {
  for (std::int64_t d : {8, 40, 80, 128})
    right(variant("causal", d < 64 ? Lengths{1, 2, 1, 260, 330, d, d} : Lengths{1, 2, 1, 200, 260, d, d}, Type::bf16, d == 128 ? "k=64" : "k=32"), Fill::whole);
  right(variant("plain", {1, 2, 1, 130, 260, 192, 128}, Type::bf16, "k=64"), Fill::whole);
  right(variant("plain", {1, 2, 1, 70, 130, 256, 256}, Type::f16, "k=32 warpgroups=1 q=64"), Fill::whole);
}

namespace {

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();

/// Element e of row `row` of every head of a tensor [B, H, S, E].
void put(Array &tensor, std::int64_t row, std::int64_t e, double value) {
  const std::int64_t rows = tensor.shape[2], columns = tensor.shape[3];
  for (std::size_t head = 0; head < tensor.data.size() / std::size_t(rows * columns); ++head)
    tensor.data[head * std::size_t(rows * columns) + std::size_t(row * columns + e)] = value;
}

/// Keys and values that are not finite, seen by some rows of each tile that they meet a mask in.
Case notFinite(Case c) {
  Array &keys = c.inputs.tensors["K"], &values = c.inputs.tensors["V"];
  const std::int64_t last = values.shape[2] - 1, columns = values.shape[3];
  put(values, last, 0, notANumber);
  put(values, last - 40, columns - 1, infinite);
  put(values, last - 41, columns - 1, -infinite);      // both seen: NaN
  put(values, last - 75, 3, -infinite);
  put(values, last - 76, 4, infinite);
  put(values, last - 77, 4, infinite);
  for (std::int64_t e = 0; e < columns; e += 2)
    put(values, last - 100, e, e % 4 ? notANumber : -infinite);
  put(values, 0, 1, infinite);
  put(keys, last - 20, 2, notANumber);
  put(keys, last - 21, 2, infinite);
  c.nans = Nans::declared;
  return c;
}

Case onTarget(Case c, const std::string &target) {
  c.target = target;
  return c;
}

}   // namespace

TEST_CASE("kernels without Hopper's instructions in the simulator") {
  for (const char *name : {"plain", "causal", "window(70,20)", "causal+alibi+softcap(4)"})
    for (Type type : {Type::bf16, Type::f16})
      right(onTarget(variant(name, {1, 2, 1, 200, 260, 64, 64}, type, name[0] == 'w' ? "k=16 q=64 warpgroups=1" : "k=32"), "a100"), Fill::whole);
  for (std::int64_t d : {8, 40, 80, 128})
    right(onTarget(variant("causal", {1, 2, 1, 200, 260, d, d}, Type::bf16, d == 128 ? "q=128 warpgroups=2 k=64" : "q=128 warpgroups=2 k=32"), "rtx4090"), d == 128 ? Fill::any : Fill::whole);
  right(onTarget(variant("plain", {1, 2, 1, 130, 260, 192, 128}, Type::f16, "k=32"), "b200"), Fill::whole);
  right(onTarget(variant("causal", {1, 1, 1, 70, 130, 256, 256}, Type::f16, "k=32 warpgroups=1 q=64"), "rtx5090"));
  for (const char *schedule : {"k=32 drawn=no", "k=32 stages=1", "k=32 stages=3 blockBuffers=2", "k=16 q=64 warpgroups=1", "k=48 q=192 warpgroups=3", "k=32 stabilised=no", "k=32 overlap=yes"})
    right(onTarget(variant("causal", {1, 3, 1, 250, 250, 64, 64}, Type::bf16, schedule), "a100"));
  for (auto [sq, skv] : {std::pair{1, 1}, {1, 300}, {300, 1}, {40, 7}, {5, 0}, {0, 5}, {129, 64}, {127, 129}})
    right(onTarget(variant("causal", {2, 2, 1, sq, skv, 64, 64}, Type::bf16, "k=32"), "a100"));
  right(onTarget(notFinite(variant("causal", {1, 2, 1, 200, 260, 64, 64}, Type::bf16, "k=32")), "a100"));
}

TEST_CASE("warps of 32 rows in the simulator") {
  for (const char *name : {"plain", "causal", "window(170,20)", "causal+alibi+softcap(4)"})
    for (Type type : {Type::bf16, Type::f16})
      right(onTarget(variant(name, {1, 2, 1, 300, 340, 64, 64}, type, "q=128 warpgroups=1 k=32 producer=yes"), "a100"), type == Type::bf16 ? Fill::whole : Fill::any);
  for (std::int64_t d : {8, 40, 128})
    right(onTarget(variant("causal", {1, 2, 1, 200, 260, d, d}, Type::bf16, "q=128 warpgroups=1 k=32 blocksPerSM=1"), "rtx4090"));
  for (const char *schedule : {"q=256 warpgroups=2 k=32", "q=128 warpgroups=1 k=16 stabilised=no", "q=128 warpgroups=1 k=32 drawn=no stages=1"})
    right(onTarget(variant("causal", {1, 3, 1, 270, 290, 64, 64}, Type::bf16, schedule), "a100"));
  for (const char *name : {"causal", "window(70,20)"})
    right(onTarget(notFinite(variant(name, {1, 1, 1, 200, 260, 64, 64}, Type::bf16, "q=128 warpgroups=1 k=32")), "a100"));
}

TEST_CASE("consumers that copy for themselves in the simulator") {
  for (const char *name : {"plain", "causal", "window(70,20)", "causal+alibi+softcap(4)"})
    for (const char *schedule : {"producer=no k=32 q=128 warpgroups=2", "producer=no k=32 q=128 warpgroups=1 drawn=no"})
      right(onTarget(variant(name, {1, 2, 1, 300, 340, 64, 64}, Type::bf16, schedule + std::string(name[0] == 'p' ? "" : " blockBuffers=1")), "a100"));
  for (const char *schedule : {"producer=no k=32 q=256 warpgroups=2 stages=3", "producer=no k=16 q=64 warpgroups=1 stabilised=no", "producer=no k=32 blockBuffers=2 turns=yes",
                               "producer=no k=48 q=192 warpgroups=3", "producer=no k=32 q=128 warpgroups=1 blocksPerSM=2"})
    right(onTarget(variant("causal", {1, 3, 1, 270, 290, 64, 64}, Type::f16, schedule), "a100"));
  for (auto [sq, skv] : {std::pair{1, 1}, {1, 300}, {300, 1}, {40, 7}, {5, 0}, {0, 5}, {129, 64}, {127, 129}})
    for (const char *schedule : {"producer=no k=32 q=64 warpgroups=1", "producer=no k=32 q=64 warpgroups=1 stabilised=no"})
      right(onTarget(variant("causal", {2, 2, 1, sq, skv, 64, 64}, Type::bf16, schedule), "a100"));
  for (const char *schedule : {"producer=no k=32 q=128 warpgroups=2", "producer=no k=32 q=128 warpgroups=1", "producer=no k=32 q=128 warpgroups=1 drawn=no", "producer=no k=32 q=128 warpgroups=1 stabilised=no"})
    right(onTarget(notFinite(variant("window(70,20)", {1, 1, 1, 200, 260, 64, 64}, Type::bf16, schedule)), "a100"));
}

TEST_CASE("schedules of every kind in the simulator") {
  for (const char *schedule : {"k=32 overlap=no", "k=32 turns=no", "k=32 drawn=no", "k=32 stages=1", "k=32 stages=3 blockBuffers=2",
                               "k=16 q=64 warpgroups=1", "k=32 q=64 warpgroups=1 stages=3 blockBuffers=2 turns=no blocksPerSM=3", "k=48 q=192 warpgroups=3"})
    right(variant("causal", {1, 3, 1, 250, 250, 64, 64}, Type::bf16, schedule), Fill::whole);
}

TEST_CASE("lengths and rows without keys in the simulator") {
  for (auto [sq, skv] : {std::pair{1, 1}, {1, 300}, {300, 1}, {40, 7}, {5, 0}, {0, 5}, {129, 64}, {127, 129}})
    right(variant("causal", {2, 2, 1, sq, skv, 64, 64}, Type::bf16, "k=32"));
}

TEST_CASE("folds of every kind in the simulator") {
  const std::int64_t t = 150, v = 200, d = 64;
  Evaluation inputs{{{"X", randomArray({t, d}, 1, Type::bf16, 0.3)}, {"W", randomArray({v, d}, 2, Type::bf16)}}, {}};
  const Tolerance tolerance = roundingOf(Type::f32, 8 * std::sqrt(double(d)) * double(v), double(d + v));
  const Evaluation product{{{"X", randomArray({t, v}, 1, Type::bf16)}, {"W", randomArray({v, d}, 2, Type::bf16)}}, {}};
  for (const char *target : {"h200", "a100"}) {
    right(onTarget({programs::rowSumsOfAbs(), {{"d", d}}, inputs, {{"R", {t}}}, tolerance, "v=32"}, target));
    right(onTarget({programs::linearLogSumExp(), {{"d", d}}, inputs, {{"lse", {t}}, {"best", {t}}}, tolerance, "v=32"}, target));
    right(onTarget({programs::sumsUnderMasks(), {{"d", d}}, inputs, {{"A", {t}}, {"B", {t}}, {"C", {t}}}, tolerance, "v=32"}, target));
    right(onTarget({programs::gemm(), {{"e", d}}, product, {{"Y", {t, d}}}, roundingOf(Type::bf16, double(v), double(v)), "v=64"}, target));
  }
}

TEST_CASE("axes that are walked in chunks in the simulator") {
  // More chunks than slots, by two and more; the last one is cut. One step and several, and blocks that go on to another item.
  for (auto [t, v, d] : {std::tuple{300, 70, 328}, {70, 200, 264}, {129, 1, 320}}) {
    Evaluation inputs{{{"X", randomArray({t, d}, 1, Type::bf16, 0.3)}, {"W", randomArray({v, d}, 2, Type::bf16)}}, {}};
    const Tolerance tolerance = roundingOf(Type::f32, 8 * std::sqrt(double(d)) * double(v), double(d + v));
    for (const char *target : {"h200", "a100"}) {
      right(onTarget({programs::linearLogSumExp(), {{"d", d}}, inputs, {{"lse", {t}}, {"best", {t}}}, tolerance, "t=128 warpgroups=2 v=32 nested=d:64x3"}, target));
      right(onTarget({programs::sumsUnderMasks(), {{"d", d}}, inputs, {{"A", {t}}, {"B", {t}}, {"C", {t}}}, tolerance, "t=64 warpgroups=1 v=48 nested=d:64x2 drawn=no"}, target));
    }
  }
  // A fold that is shared out, one part for each item; the last part is shorter.
  const std::int64_t parts = 3, t = 130, v = 200, d = 328;
  const Evaluation inputs{{{"X", randomArray({t, d}, 1, Type::bf16, 0.3)}, {"W", randomArray({v, d}, 2, Type::bf16)}}, {}};
  right({programs::linearLogSumExpParts(), {{"d", d}}, inputs, {{"top", {parts, t}}, {"total", {parts, t}}}, roundingOf(Type::f32, 8 * std::sqrt(double(d)) * double(v), double(d + v)), "v=32 nested=d:64x3"});
  // The accumulating dots of a step come behind its chunks, and masks cut tiles of both.
  const Lengths n{1, 2, 1, 200, 260, 320, 64};
  Case weights = variant("causal", n, Type::bf16, "q=64 warpgroups=1 k=32 nested=d:64x3");
  weights.program = programs::sigmoidWeights();
  weights.inputs.scalars["scale"] = 0.05;
  weights.stored.erase("lse");
  for (const char *target : {"h200", "a100"})
    right(onTarget(weights, target), Fill::whole);
}

TEST_CASE("results that are computed in passes in the simulator") {
  for (const char *target : {"h200", "a100"}) {
    right(onTarget(variant("causal", {1, 2, 1, 200, 260, 64, 304}, Type::bf16, "q=64 warpgroups=1 k=32"), target), Fill::whole);
    right(onTarget(variant("plain", {1, 1, 1, 70, 130, 328, 264}, Type::f16, "q=64 warpgroups=1 k=32"), target));
  }
  right(notFinite(variant("causal", {1, 2, 1, 200, 260, 64, 304}, Type::bf16, "q=64 warpgroups=1 k=32")));
}

TEST_CASE("what follows a fold in the simulator") {
  // Values by row and by column of what was carried, and products that are stored as they are.
  Axis t("t"), k("k"), e("e");
  Tensor X("X", Type::bf16, 2), W("W", Type::bf16, 2), byColumn("byColumn", Type::f32, 1), byRow("byRow", Type::f32, 1), Y("Y", Type::f32, 2);
  auto [acc] = fold(k, std::tuple{full(0, {t, e})}, [&](Tile a) { return std::tuple{a + dot(X(t, k), W(k, e), over(k))}; });
  const Evaluation inputs{{{"X", randomArray({150, 200}, 1, Type::bf16)}, {"W", randomArray({200, 64}, 2, Type::bf16)}, {"byColumn", randomArray({64}, 3, Type::f32, 10)}, {"byRow", randomArray({150}, 4, Type::f32)}}, {}};
  for (const char *target : {"h200", "a100"})
    for (const Tile &y : {max(acc + byColumn(e), 0.0), acc * byRow(t), acc * 2.0, acc * byColumn(e) + byRow(t)}) {
      Case c{{"linear", {store(Y, {t, e}, y)}}, {{"e", 64}}, {}, {{"Y", {150, 64}}}, roundingOf(Type::f32, 200 * 8, 200, 40), "k=64"};
      for (const Tensor &used : {X, W, byColumn, byRow})
        if (print(c.program).find(used.name()) != std::string::npos)
          c.inputs.tensors[used.name()] = inputs.tensors.at(used.name());
      right(onTarget(c, target));
    }
}

TEST_CASE("vectors along the fold axis in the simulator") {
  // L[t] = log Σ_v exp(X[t] · W[v] + c[v]), M[t] = Σ_v c[v] · [v ≤ t]: with dots of stage 0 alone, and Y[t, e] = Σ_v X[t, v] · W[v, e] beside N[t] = Σ_v c[v].
  Axis t("t"), v("v"), d("d");
  Tensor X("X", Type::bf16, 2), W("W", Type::bf16, 2), C("C", Type::f32, 1), L("L", Type::f32, 1);
  Tile x = X(t, d);
  auto [top, total] = fold(v, std::tuple{full(-infinity, {t}), full(0, {t})}, [&](Tile top, Tile total) {
    Tile z = dot(x, W(v, d), over(d)) + C(v);
    Tile next = max(top, max(z, over(v)));
    return std::tuple{next, total * exp(top - next) + sum(exp(z - next), over(v))};
  });
  Program biased{"biased_log_sum_exp", {store(L, {t}, top + log(total))}};
  Evaluation inputs{{{"X", randomArray({150, 64}, 1, Type::bf16, 0.3)}, {"W", randomArray({200, 64}, 2, Type::bf16)}, {"C", randomArray({200}, 3, Type::f32)}}, {}};
  right({biased, {{"d", 64}}, inputs, {{"L", {150}}}, roundingOf(Type::f32, 64, 264), "v=32"});
}

namespace {

/// Attention over one batch with tensors of its own: `write` adds steps to it.
Case withCaptures(const char *name, std::int64_t heads, std::int64_t queries, std::int64_t keys, std::map<std::string, Array> captures, const std::function<void(Attention &)> &write) {
  Attention program(name, Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::f32, 4));
  write(program);
  Case c = variant("plain", {1, heads, heads, queries, keys, 64, 64}, Type::bf16, "k=32");
  c.program = program.program();
  c.stored = {{"O", {1, heads, queries, 64}}};
  for (auto &[tensor, values] : captures)
    c.inputs.tensors[tensor] = values;
  return c;
}

}   // namespace

TEST_CASE("partial tiles on both sides of the full ones, the same for all rows, in the simulator") {
  // Tiles of stage 1 follow by one step, also from the loop over the partial tiles into that over the full ones.
  for (const char *target : {"h200", "a100"})
    for (const std::string schedule : {"k=32 overlap=yes", "k=32 overlap=yes stages=1", "k=32 overlap=no"})
      for (std::int64_t keys : {20, 64, 100, 160}) {
        Case c = withCaptures("all_but_the_first", 2, 70, keys, {}, [](Attention &a) { a.mask([](const At &at) { return at.key >= 3; }); });
        c.schedule = schedule;
        right(onTarget(c, target));
      }
}

TEST_CASE("scores that read by key in the simulator") {
  // Two vectors along the fold axis, read in every way of a step: where its votes hold, where they fail, and in the steps that a mask cuts.
  // Not bounded: no mask tells which tiles it leaves.
  for (const char *target : {"h200", "a100"})
    for (auto [rises, bounded] : {std::pair(false, true), {true, true}, {true, false}}) {
      Tensor Q("Q", Type::bf16, 4), K("K", Type::bf16, 4), V("V", Type::bf16, 4), O("O", Type::bf16, 4), bias("bias", Type::f32, 2), part("part", Type::i32, 2);
      Attention program("biased_parts", Q, K, V, O);
      program.score([=](Tile s, const At &at) { return s + bias(at.batch, at.key); });
      program.mask([=](const At &at) { return part(at.batch, at.query) == part(at.batch, at.key); });
      if (bounded)
        program.mask(causal());
      const std::int64_t n = 200;
      Case c = variant("causal", {1, 2, 1, n, n, 64, 64}, Type::bf16, "k=32");
      c.program = program.program();
      c.stored = {{"O", {1, 2, n, 64}}};
      Array &biases = c.inputs.tensors["bias"] = randomArray({1, n}, 5, Type::f32), &parts = c.inputs.tensors["part"] = zeros({1, n});
      for (std::int64_t i = 0; i < n; ++i) {
        parts.data[std::size_t(i)] = double(i / 70);
        biases.data[std::size_t(i)] += rises ? 60 * double(n - i) : 0;   // beyond what a held maximum may grow by
      }
      c.tolerance = roundingOf(Type::bf16, 4, double(n + 64), rises ? double(60 * n) : 8);
      right(onTarget(c, target));
    }
}

/// Does the kernel have a loop for items whose votes have failed?
bool leavesAttempts(const Case &c) { return compileDevice(c.program, scheduleOf(c), findTarget(c.target)).source.find("bar_any(") != std::string::npos; }

TEST_CASE("held stabilisers in the simulator") {
  for (const char *name : {"plain", "causal", "causal+alibi+softcap(4)"})
    for (Type type : {Type::bf16, Type::f16}) {
      Case c = variant(name, {1, 2, 1, 250, 290, 64, 64}, type, "k=32 stabilised=yes");
      right(c, Fill::whole);
      // Keys that grow towards the front, where the fold ends: the running maximum rises by more than a 16-bit type holds.
      Array &keys = c.inputs.tensors["K"];
      for (std::size_t i = 0; i < keys.data.size(); ++i)
        keys.data[i] = roundTo(keys.data[i] * (1 + 0.05 * double(290 - i / 64)), type);
      c.tolerance = roundingOf(type, 8, 400, 400);
      c.schedule = "q=128 warpgroups=2 k=16 stabilised=yes";      // more steps than stand between two looks at whether votes have failed
      CHECK(leavesAttempts(c));
      right(c, Fill::whole);
    }
}

TEST_CASE("when items vote changes no result but the last bits in the simulator") {
  for (const char *name : {"plain", "causal"})
    for (const char *votes : {"votes=4 firstVote=2", "votes=4 firstVote=1 observed=yes", "votes=3 observed=yes"}) {
      Case c = variant(name, {1, 2, 1, 250, 290, 64, 64}, Type::bf16, std::string("q=128 warpgroups=2 k=16 stabilised=yes ") + votes);
      CHECK(leavesAttempts(c));
      right(c, Fill::whole);
      Array &keys = c.inputs.tensors["K"];
      for (std::size_t i = 0; i < keys.data.size(); ++i)
        keys.data[i] = roundTo(keys.data[i] * (1 + 0.2 * double(290 - i / 64)), Type::bf16);
      c.tolerance = roundingOf(Type::bf16, 8, 400, 1600);
      right(c, Fill::whole);
    }
}

TEST_CASE("values that are not finite under masks in the simulator") {
  for (const char *name : {"causal", "window(70,20)"})
    for (Type type : {Type::bf16, Type::f16})
      for (const char *schedule : {"k=32 q=64 warpgroups=1", "k=32", "k=48 q=192 warpgroups=3"})
        right(notFinite(variant(name, {1, 1, 1, 200, 260, 64, 64}, type, schedule)));
  for (const char *schedule : {"k=32 overlap=no", "k=32 turns=no", "k=32 stages=1", "k=32 stages=3", "k=32 stabilised=yes"})
    right(notFinite(variant("causal", {1, 1, 1, 200, 200, 64, 64}, Type::bf16, schedule)));
  for (std::int64_t d : {40, 128})
    right(notFinite(variant("causal", {1, 2, 1, 130, 200, d, d}, Type::f16, "k=32")));
  right(notFinite(variant("causal", {1, 1, 1, 70, 130, 192, 256}, Type::bf16, "k=32 warpgroups=1 q=64")));
}

TEST_CASE("random numbers of items that are done again are the same in the simulator") {
  for (const char *schedule : {"k=32 q=64 warpgroups=1", "k=128"}) {
    Case c = variant("dropout(0.3)+causal", {1, 2, 1, 200, 260, 64, 64}, Type::bf16, schedule);
    c.inputs.tensors["seed"] = {{1}, {1234567}};
    CHECK(compileDevice(c.program, scheduleOf(c), findTarget(c.target)).source.find("int bits[2]") != std::string::npos);      // decided in a loop of their own
    right(notFinite(c));
  }
}

TEST_CASE("what no row sees spoils nothing in the simulator") {
  for (Type type : {Type::bf16, Type::f16}) {
    Case c = variant("window(70,20)", {1, 1, 1, 100, 260, 64, 64}, type, "k=32");
    for (std::int64_t row = 0; row < 90; ++row)       // row 0 sees keys 90 and up
      for (std::int64_t e = 0; e < 64; ++e) {
        put(c.inputs.tensors["K"], row, e, notANumber);
        put(c.inputs.tensors["V"], row, e, e % 3 ? notANumber : e % 2 ? infinite : -infinite);
      }
    right(c);
  }
}

TEST_CASE("weights of either sign for one tile that is not finite in the simulator") {
  Axis q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", Type::bf16, 2), K("K", Type::bf16, 2), V("V", Type::bf16, 2), A("A", Type::f32, 2), B("B", Type::f32, 2);
  auto [a, b] = fold(k, std::tuple{full(0, {q, e}, Type::f32), full(0, {q, e}, Type::f32)}, [&](Tile a, Tile b) {
    Tile s = named("s", dot(Q(q, d), K(k, d), over(d)));
    return std::tuple{named("a", a + dot(where(k <= q, s, 0.0), V(k, e), over(k))), named("b", b + dot(where(k <= q, -s, 0.0), V(k, e), over(k)))};
  });
  const std::int64_t n = 100, columns = 64;
  Evaluation inputs{{{"Q", randomArray({n, columns}, 1, Type::bf16, 0.3)}, {"K", randomArray({n, columns}, 2, Type::bf16)}, {"V", randomArray({n, columns}, 3, Type::bf16)}}, {}};
  auto at = [&](std::int64_t row, std::int64_t column) -> double & { return inputs.tensors["V"].data[std::size_t(row * columns + column)]; };
  at(99, 0) = notANumber;
  at(70, 1) = at(40, 2) = at(41, 2) = infinite;
  at(20, 3) = -infinite;
  Case c{{"two_weights", {store(A, {q, e}, a), store(B, {q, e}, b)}}, {{"d", columns}, {"e", columns}}, inputs, {{"A", {n, columns}}, {"B", {n, columns}}}, roundingOf(Type::bf16, 64, double(n)), "k=32"};
  c.nans = Nans::declared;
  right(c);
}
