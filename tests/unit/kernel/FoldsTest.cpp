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

TEST_CASE("the log-sum-exp of a wide linear layer, whose inner axis is walked in chunks") {
  for (Type type : {Type::bf16, Type::f32})
    for (const Sizes &n : {Sizes{37, 90, 1000}, Sizes{5, 3, 257}, Sizes{70, 65, 512}}) {
      INFO(name(type) << " t=" << n.t << " v=" << n.v << " d=" << n.d);
      Evaluation inputs{{{"X", randomArray({n.t, n.d}, 1, type, 0.3)}, {"W", randomArray({n.v, n.d}, 2, type)}}, {}};
      right(programs::linearLogSumExp(type), inputs, {{"lse", {n.t}}, {"best", {n.t}}}, made({{"d", n.d}}), tolerance(Type::f32, n));
    }
}

TEST_CASE("a fold that is shared out by an axis of parts, and the parts put together") {
  for (auto [parts, v] : {std::pair<std::int64_t, std::int64_t>{3, 200}, {5, 3}, {1, 70}}) {
    const std::int64_t t = 37, d = 300;
    INFO(parts << " parts of " << v);
    Evaluation inputs{{{"X", randomArray({t, d}, 1, Type::f32, 0.3)}, {"W", randomArray({v, d}, 2, Type::f32)}}, {}};
    const Shapes stored{{"top", {parts, t}}, {"total", {parts, t}}};
    const Program program = programs::linearLogSumExpParts(Type::f32);
    right(program, inputs, stored, made({{"d", d}}), tolerance(Type::f32, {t, v, d}));
    Tensors tensors(program, inputs, stored);
    build(program, made({{"d", d}})).launch(tensors.arguments);
    const Array top = tensors.read("top"), total = tensors.read("total");
    right(programs::logSumExpOfParts(), {{{"top", top}, {"total", total}}, {}}, {{"lse", {t}}}, made({}), {1e-5, 1e-5});
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
  // A window splits its fold into a loop over full tiles and one over the partial ones on both sides, which share tiles and carried values.
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
  CHECK(loops == 2);
}

/// The array as TF32 would hold it: f32 with 10 bits behind the point.
Array inTf32(Array array) {
  for (double &x : array.data) {
    int exponent = 0;
    const double fraction = std::frexp(x, &exponent);
    x = std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
  }
  return array;
}

TEST_CASE("edge row 92: f32 is multiplied as f32, not as TF32") {
  const Program program = makeVariant("causal", {.type = Type::f32});
  const Lengths n{1, 2, 1, 33, 70, 64, 64};
  const Evaluation inputs = randomInputs(n, Type::f32);
  const Tolerance tolerance = roundingOf(Type::f32, 4, double(n.skv + n.d), 8);
  right(program, inputs, outputs(n), made({{"d", n.d}, {"e", n.dv}}), tolerance);
  // The tolerance tells them apart.
  Evaluation exact = inputs, rounded = inputs;
  for (auto &[name, array] : rounded.tensors)
    array = inTf32(array);
  for (const auto &[name, shape] : outputs(n))
    exact.tensors[name] = rounded.tensors[name] = zeros(shape);
  const auto expected = evaluate(program, exact), other = evaluate(program, rounded);
  for (const char *name : {"O", "lse"})
    CHECK_FALSE(compare(other.at(name), expected.at(name), tolerance).ok);
}

TEST_CASE("a schedule that cannot be is refused") {
  Program program = makeVariant("causal", {.type = Type::f32});
  auto built = [&](auto change) {
    Schedule schedule = defaultSchedule(program, findTarget("host"), {{"d", 40}, {"e", 40}});
    change(schedule);
    (void)build(program, made({{"d", 40}, {"e", 40}}, schedule));
  };
  CHECK_THROWS_WITH(built([](Schedule &s) { s.widths["d"] = 32; }), "the schedule's tiles are 32 wide along axis 'd', which is 40 long and lies whole inside a tile; make d at least 40");
  CHECK_THROWS_WITH(built([](Schedule &s) { s.widths["q"] = 99999; }), "the schedule gives axis 'q' a width of 99999; a tile is 1 to 4096 wide");
  CHECK_THROWS_WITH(built([](Schedule &s) { s.registerRows = 0; }), "the schedule's registerRows is 0; expected 1 to 32");
  CHECK_THROWS_WITH(built([](Schedule &s) { s.widths["b"] = 4; }), "the schedule gives axis 'b' a width of 4, but an item has one value of it: leave it out");
}

TEST_CASE("scores of any finite size give finite, right results") {
  // The larger the scores, the more a row is its largest one alone; the maximum's own weight must be exactly 1.
  for (Type type : {Type::f32, Type::bf16})
    for (double spread : {1e2, 1e4, 1e5, 1e7, 1e9}) {
      Lengths n{1, 1, 1, 20, 50, 16, 8};
      for (const char *variant : {"plain", "causal", "alibi"}) {
        INFO(variant << " " << name(type) << " " << spread);
        Program program = makeVariant(variant, {.type = type});
        Evaluation inputs = randomInputs(n, type);
        inputs.tensors["Q"] = randomArray({n.b, n.h, n.sq, n.d}, 7, type, spread);
        if (std::string(variant) == "alibi")
          inputs.tensors["slopes"] = randomArray({n.h}, 8, Type::f32);
        Tensors tensors(program, inputs, outputs(n));
        build(program, headDims(n)).launch(tensors.arguments);
        auto expected = evaluate(program, inputs);
        Array o = tensors.read("O"), lse = tensors.read("lse");
        for (std::size_t i = 0; i < o.data.size(); ++i)
          CHECK((std::isfinite(o.data[i]) && std::abs(o.data[i]) < 6));      // a mean of values below 6
        for (std::size_t i = 0; i < lse.data.size(); ++i)
          CHECK(std::abs(lse.data[i] - expected.at("lse").data[i]) <= 1e-5 * (1 + std::abs(expected.at("lse").data[i])));
      }
    }
}

TEST_CASE("a NaN in a value that is kept shows, however small its weight; one that is masked does not") {
  Lengths n{1, 1, 1, 4, 8, 8, 8};
  for (Type type : {Type::f32, Type::bf16}) {
    Evaluation inputs = randomInputs(n, type);
    for (double &x : inputs.tensors["Q"].data)
      x = 20;
    for (std::size_t k = 0; k < 8; ++k)
      for (std::size_t d = 0; d < 8; ++d)
        inputs.tensors["K"].data[k * 8 + d] = k == 0 ? 20 : -20;      // every weight but the first underflows
    for (std::size_t d = 0; d < 8; ++d)
      inputs.tensors["V"].data[7 * 8 + d] = NAN;
    for (const char *variant : {"plain", "causal"}) {
      INFO(variant << " " << name(type));
      Program program = makeVariant(variant, {.type = type});
      Tensors tensors(program, inputs, outputs(n));
      build(program, headDims(n)).launch(tensors.arguments);
      auto compared = compare(tensors.read("O"), evaluate(program, inputs).at("O"), {0.05, 0.01}, Nans::declared);
      INFO(compared.summary);
      CHECK(compared.ok);
      CHECK(std::isnan(tensors.read("O").data[3 * 8]));               // the last row sees the last key
      CHECK(std::isnan(tensors.read("O").data[0]) == (std::string(variant) == "plain"));
    }
  }
}

TEST_CASE("integers and conditions are stored as 16-bit floats by way of f32") {
  Axis t("t"), v("v"), d("d");
  for (Type type : {Type::f16, Type::bf16}) {
    Tensor X("X", Type::f32, 2), W("W", Type::f32, 2), I("I", Type::i64, 1), O("O", type, 1), P("P", type, 1);
    auto [count] = fold(v, std::tuple{full(0, {t})}, [&](Tile count) {
      return std::tuple{count + sum(cast(dot(X(t, d), W(v, d), over(d)) > 0.0, Type::f32), over(v))};
    });
    Program program{"counted", {store(O, {t}, cast(count, type)), store(P, {t}, cast(I(t), type))}};
    Evaluation inputs{{{"X", randomArray({9, 8}, 1, Type::f32)}, {"W", randomArray({33, 8}, 2, Type::f32)}, {"I", {{9}, {0, 1, -2, 3, 250, -7, 8, 9, 10}}}}, {}};
    right(program, inputs, {{"O", {9}}, {"P", {9}}}, made({{"d", 8}}), {0, unitRoundoff(type)});
  }
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

namespace {
/// R[t] = Σ_u Σ_v |X[u, t, :] · W[u, v, :]|, and Y[t, d] = Σ_u Σ_v (X[u, t, :] · W[u, v, :]) · W[u, v, d] of even u.
Program sumsOfSums(Type type) {
  Axis u("u"), t("t"), v("v"), d("d");
  Tensor X("X", type, 3), W("W", type, 3), R("R", type == Type::f64 ? type : Type::f32, 1), Y("Y", type, 2);
  auto [r, y] = fold(u, std::tuple{full(0, {t}, R.type()), full(0, {t, d}, R.type())}, [&](Tile outerR, Tile outerY) {
    return fold(v, std::tuple{outerR, outerY}, [&](Tile r, Tile y) {
      Tile z = dot(X(u, t, d), W(u, v, d), over(d));
      Tile even = where(u % 2 == 0, z, 0.0);
      return std::tuple{named("r", r + sum(sum(abs(z), over(v)), over(u))), named("y", y + sum(dot(even, W(u, v, d), over(v)), over(u)))};
    });
  });
  return {"sums_of_sums", {store(R, {t}, r), store(Y, {t, d}, y)}};
}
} // namespace

TEST_CASE("a fold inside another that carries its values through") {
  for (Type type : {Type::f32, Type::bf16, Type::f64})
    for (const auto &[u, t, v] : {std::tuple{3, 65, 130}, {1, 5, 3}, {4, 7, 0}, {0, 9, 4}, {2, 0, 3}}) {
      INFO(name(type) << " u=" << u << " t=" << t << " v=" << v);
      Evaluation inputs{{{"X", randomArray({u, t, 16}, 1, type)}, {"W", randomArray({u, v, 16}, 2, type)}}, {}};
      const Tolerance allowed = roundingOf(type, 40 * double(std::max(u * v, 1)), double(16 + v));
      right(sumsOfSums(type), inputs, {{"R", {t}}, {"Y", {t, 16}}}, made({{"d", 16}}), allowed);
    }
}

TEST_CASE("folds that stand otherwise to one another are no kernel") {
  Axis t("t"), v("v"), w("w");
  Tensor X("X", Type::f32, 2), Z("Z", Type::f32, 2), R("R", Type::f32, 1);
  auto [a] = fold(v, std::tuple{full(0, {t})}, [&](Tile a) { return std::tuple{a + sum(X(t, v), over(v))}; });
  auto [b] = fold(w, std::tuple{full(0, {t})}, [&](Tile b) { return std::tuple{b + sum(Z(t, w), over(w))}; });
  CHECK_THROWS_WITH(build({"two", {store(R, {t}, a + b)}}),
                    Catch::Contains("program 'two' has 2 folds; a kernel walks one, or one inside others that only carry its values through: make a program of each"));
}
