// Variants that read tables, elements and random numbers, as GPUs' kernels in the simulator, against evaluate().
#include "EmittedKernel.h"
#include "support/Arrays.h"
#include "support/Captures.h"
#include "support/Compare.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

/// `mass`: what the weights of a row add up to; `width`: of the fold's tiles.
void right(const std::string &variant, const VariantShape &n, Type type, const char *targetName = "h200", double mass = 1, int width = 32) {
  const Program program = makeVariant(variant, {.type = type});
  const Target &target = findTarget(targetName);
  Schedule schedule = defaultSchedule(program, target, {{"d", n.d}, {"e", n.dv}});
  schedule.widths["k"] = width;
  const EmittedKernel kernel(compileDevice(program, schedule, target));
  Evaluation inputs{{{"Q", randomArray({n.b, n.h, n.sq, n.d}, 1, type)}, {"K", randomArray({n.b, n.hkv, n.skv, n.d}, 2, type)}, {"V", randomArray({n.b, n.hkv, n.skv, n.dv}, 3, type)}}, {}};
  addCaptures(inputs, variant, n, type);
  std::map<std::string, std::vector<std::int64_t>> stored{{"O", {n.b, n.h, n.sq, n.dv}}};
  if (factsOf(variant, type).hasLse)
    stored["lse"] = {n.b, n.h, n.sq};
  const auto expected = evaluate(program, inputs);
  const EmittedOutcome outcome = kernel.run(inputs, stored, simulatorSettings(0).front());
  INFO(variant << " for " << targetName << "\n" << outcome.simulation.text());
  CHECK(outcome.simulation.clean());
  for (const auto &[name, want] : expected) {
    const auto compared = compare(outcome.outputs.at(name), want, roundingOf(name == "O" ? type : Type::f32, 4 * mass, double(n.skv + n.d), 40));
    INFO(name << ": " << compared.summary);
    CHECK(compared.ok);
  }
}

} // namespace

TEST_CASE("variants with tables, elements and random numbers in the simulator") {
  const VariantShape n{2, 2, 1, 70, 132, 64, 64};   // rows of tables are copied in pieces of 16 bytes
  for (const char *variant : {"t5+documents+dropout(0.3)+gated", "bias+graph+sink", "jagged+kerple+offbyone", "longformer+forgetting+tanhgated", "bigbird+graphormer+natten2d", "sigmoid+docprefix", "relu2+streaming"})
    right(variant, n, Type::bf16);
  right("retention", n, Type::bf16, "h200", 16);   // Σ |s| γ^distance
  for (const char *variant : {"t5+documents+dropout(0.3)", "longformer+bias"})
    right(variant, n, Type::f16, "a100");
}

TEST_CASE("tables that runs of columns read at one place in the simulator") {
  const VariantShape n{1, 2, 1, 150, 290, 64, 64};
  for (const char *variant : {"bigbird", "graph", "bigbird(16)+graph", "chunked(48)+bigbird(8)", "blockcausal(24)+causal"})
    right(variant, n, Type::bf16, "h200", 1, 128);
  right("bigbird(32)+graph", n, Type::f16, "a100", 1, 64);
}

TEST_CASE("outputs that no registers hold at once in the simulator") {
  for (const char *target : {"h200", "l4"})
    right("differential", {1, 2, 1, 70, 131, 256, 256}, Type::bf16, target, 1, 16);
}

TEST_CASE("norms of keys in the simulator") {
  // Of a tile of keys dots read the whole, and warpgroups share out the rows of which they make norms.
  right("qknorm", {2, 2, 1, 70, 132, 64, 64}, Type::bf16);
  right("qknorm+causal", {1, 2, 1, 45, 70, 40, 24}, Type::f16);
  for (const char *target : {"a100", "l4"})
    right("qknorm+window(20,3)", {1, 2, 2, 70, 90, 72, 64}, Type::bf16, target);
}

TEST_CASE("tiles are reduced by sums of several kinds in one step in the simulator") {
  Axis q("q"), k("k"), d("d");
  const Tensor X("X", Type::f16, 2), W("W", Type::f16, 2), S("S", Type::f32, 1);
  const Tile x = X(q, d);
  auto [sum_] = fold(k, std::tuple{full(0, {q})}, [&](Tile carried) {
    const Tile w = cast(W(k, d), Type::f32);
    const Tile size = sum(abs(w), over(d)), total = sum(w * 0.5, over(d));   // [k]
    return std::tuple{carried + sum(dot(x, W(k, d), over(d)) * size + total, over(k))};
  });
  const Program program{"reduced", {store(S, {q}, sum_)}};
  for (const char *targetName : {"h200", "a100"}) {
    const Target &target = findTarget(targetName);
    for (const int width : {16, 32, 48, 128}) {
      Schedule schedule = defaultSchedule(program, target, {{"d", 40}});
      schedule.widths["k"] = width;
      const EmittedKernel kernel(compileDevice(program, schedule, target));
      const Evaluation inputs{{{"X", randomArray({75, 40}, 1, Type::f16)}, {"W", randomArray({140, 40}, 2, Type::f16)}}, {}};
      const EmittedOutcome outcome = kernel.run(inputs, {{"S", {75}}}, simulatorSettings(0).front());
      INFO(targetName << ", tiles of " << width << "\n" << outcome.simulation.text());
      CHECK(outcome.simulation.clean());
      const auto compared = compare(outcome.outputs.at("S"), evaluate(program, inputs).at("S"), roundingOf(Type::f32, 40 * 40 * 140, 140 * 40, 40));
      INFO(compared.summary);
      CHECK(compared.ok);
    }
  }
}

TEST_CASE("functions and bits in the simulator") {
  Axis q("q"), k("k"), d("d");
  const Tensor X("X", Type::f16, 2), W("W", Type::f16, 2), F("F", Type::f32, 1), I("I", Type::f32, 1);
  const Tile x = X(q, d);
  auto [functions, bits] = fold(k, std::tuple{full(0, {q}), full(0, {q})}, [&](Tile functions, Tile bits) {
    const Tile z = dot(x, W(k, d), over(d)), size = abs(z) + 0.5;
    Tile f = sin(z) + cos(z) + erf(z) + expm1(z / 8) + log1p(size) + log2(size) + rsqrt(size) + pow(size, 0.7) + floor(z) + ceil(z) + round(z) + trunc(z) + sign(z) + gelu(z) + softplus(z) + clamp(z, -1, 1);
    Tile i = ((index(q) * 5 ^ k) & 29) + (index(k) << 2) - (~index(q) >> 1) + where(testBit(k, 1), 3, 0) + (index(k) - q) % 7 + floorDiv(index(k) - q, 3);
    return std::tuple{functions + sum(where(isfinite(z), f, 0.0), over(k)), bits + sum(cast(i, Type::f32) * where(isnan(z), 2.0, 1.0), over(k))};
  });
  const Program program{"functions", {store(F, {q}, functions), store(I, {q}, bits)}};
  const Target &target = findTarget("h200");
  const EmittedKernel kernel(compileDevice(program, defaultSchedule(program, target, {{"d", 64}}), target));
  const Evaluation inputs{{{"X", randomArray({75, 64}, 1, Type::f16, 0.3)}, {"W", randomArray({140, 64}, 2, Type::f16, 0.3)}}, {}};
  const EmittedOutcome outcome = kernel.run(inputs, {{"F", {75}}, {"I", {75}}}, simulatorSettings(0).front());
  INFO(outcome.simulation.text());
  CHECK(outcome.simulation.clean());
  for (const auto &[name, want] : evaluate(program, inputs)) {
    // Scores are sums in f32: where one lies next to a whole number the kernel may see it on the other side.
    const auto compared = compare(outcome.outputs.at(name), want, {name == "F" ? 2.5 : 0, 1e-6});
    INFO(name << ": " << compared.summary);
    CHECK(compared.ok);
    CHECK(compared.rms < (name == "F" ? 0.5 : 1e-6 * 1e5));
  }
}
