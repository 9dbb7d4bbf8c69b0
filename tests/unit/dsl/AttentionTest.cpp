// evaluate() of the gallery against the textbook formula.
#include "support/Arrays.h"
#include "support/Compare.h"
#include "support/NaiveAttention.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

struct Shape {
  std::int64_t B, H, Hkv, Sq, Skv, D, Dv;
};

const Tolerance exact{1e-12, 1e-12};

Evaluation inputsFor(const Shape &s, unsigned seed = 1) {
  Evaluation in{{}, {}};
  in.tensors["Q"] = randomArray({s.B, s.H, s.Sq, s.D}, seed);
  in.tensors["K"] = randomArray({s.B, s.Hkv, s.Skv, s.D}, seed + 1);
  in.tensors["V"] = randomArray({s.B, s.Hkv, s.Skv, s.Dv}, seed + 2);
  in.tensors["slopes"] = randomArray({s.H}, seed + 3, Type::f64, 0.1);
  return in;
}

NaiveResult naive(const Evaluation &in, NaiveOptions options) {
  return naiveAttention(in.tensors.at("Q"), in.tensors.at("K"), in.tensors.at("V"), options);
}

auto windowed(std::int64_t left, std::int64_t right) {
  return [=](std::int64_t i, std::int64_t j, std::int64_t sq, std::int64_t skv) {
    const std::int64_t distance = i + skv - sq - j;
    return (left < 0 || distance <= left) && (right < 0 || distance >= -right);
  };
}

/// What the named variant means, written down once more.
NaiveOptions meaning(const std::string &variant, const Evaluation &in) {
  NaiveOptions o;
  std::int64_t left = -1, right = -1;
  if (variant.find("window(5,2)") != std::string::npos)
    left = 5, right = 2;
  if (variant.find("causal") != std::string::npos)   // after the window: the narrower right side holds
    right = 0;
  if (variant.find("gemma2") != std::string::npos)
    left = 4095, right = 0, o.softcap = 50;
  if (variant.find("softcap(2)") != std::string::npos)
    o.softcap = 2;
  if (variant.find("alibi") != std::string::npos)
    o.slopes = &in.tensors.at("slopes");
  o.keep = windowed(left, right);
  return o;
}

void check(const Program &program, const Evaluation &in, const NaiveOptions &options, Nans nans = Nans::refused) {
  const auto result = evaluate(program, in);
  const NaiveResult expected = naive(in, options);
  const Comparison output = compare(result.at("O"), expected.output, exact, nans), lse = compare(result.at("lse"), expected.lse, exact, nans);
  INFO("O: " << output.summary << "\nlse: " << lse.summary);
  CHECK(output.ok);
  CHECK(lse.ok);
}

} // namespace

TEST_CASE("every variant is the textbook formula, whatever the tiles' width") {
  const std::string variant = GENERATE(as<std::string>{}, "plain", "causal", "window(5,2)", "softcap(2)", "alibi", "gemma2",
                                       "softcap(2)+alibi+causal", "causal+window(5,2)");
  const Shape shape = GENERATE(Shape{2, 4, 2, 13, 13, 8, 16}, Shape{1, 3, 1, 7, 21, 8, 8}, Shape{1, 2, 2, 23, 9, 16, 8});
  INFO(variant << " Sq " << shape.Sq << " Skv " << shape.Skv);
  Evaluation in = inputsFor(shape);
  for (std::int64_t width : {0, 1, 3, 8}) {
    in.foldTile = width;
    check(makeVariant(variant, {.type = Type::f32}), in, meaning(variant, in));
  }
}

TEST_CASE("the variants' own numbers") {
  Evaluation in = inputsFor({1, 1, 1, 5, 300, 8, 8});
  NaiveOptions o;
  o.keep = windowed(127, 0);
  check(makeVariant("window"), in, o);
  in.tensors["Q"] = randomArray({1, 1, 5, 8}, 9, Type::f64, 60);
  o.keep = windowed(-1, -1);
  o.softcap = 50;
  check(makeVariant("softcap"), in, o);
  in = inputsFor({1, 1, 1, 3, 4200, 8, 8});
  check(makeVariant("gemma2"), in, meaning("gemma2", in));
}

TEST_CASE("lengths from 0 up work") {
  for (const Shape &shape : {Shape{1, 2, 1, 0, 5, 8, 8}, Shape{1, 2, 1, 5, 0, 8, 8}, Shape{0, 2, 1, 5, 5, 8, 8}, Shape{1, 1, 1, 1, 1, 8, 8}, Shape{2, 2, 2, 0, 0, 8, 8}}) {
    Evaluation in = inputsFor(shape);
    for (const char *variant : {"plain", "causal+alibi"})
      check(makeVariant(variant), in, meaning(variant, in));
  }
}

TEST_CASE("edge row 6: both alignments of a causal mask") {
  Evaluation in = inputsFor({1, 2, 2, 29, 14, 8, 8});
  const Tensor Q("Q", Type::f16, 4), K("K", Type::f16, 4), V("V", Type::f16, 4), O("O", Type::f16, 4), lse("lse", Type::f32, 3);
  NaiveOptions o;
  Attention bottomRight("br", Q, K, V, O), topLeft("tl", Q, K, V, O), local("local", Q, K, V, O);
  o.keep = windowed(-1, 0);
  check(bottomRight.mask(causal()).lse(lse).program(), in, o);
  o.keep = [](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t) { return j <= i; };
  check(topLeft.mask(causalTopLeft()).lse(lse).program(), in, o);
  o.keep = windowed(3, 6);
  check(local.mask(slidingWindow(3, 6)).lse(lse).program(), in, o);
}

TEST_CASE("edge row 56: a window of all earlier keys is the causal mask") {
  Evaluation in = inputsFor({1, 1, 1, 12, 12, 8, 8});
  const auto causal = evaluate(makeVariant("causal"), in);
  for (const char *same : {"window(-1,0)", "window(12,0)", "window(11,0)"})
    CHECK(evaluate(makeVariant(same), in).at("O").data == causal.at("O").data);
  CHECK(evaluate(makeVariant("window(-1,-1)"), in).at("O").data == evaluate(makeVariant("plain"), in).at("O").data);
}

TEST_CASE("edge row 2: a row without a key gives 0 and lse -inf") {
  Evaluation in = inputsFor({1, 2, 2, 40, 7, 8, 8});
  const auto result = evaluate(makeVariant("causal"), in);
  for (std::size_t row = 0; row < 33; ++row) {
    CHECK(result.at("lse").data[row] == -INFINITY);
    CHECK(result.at("O").data[row * 8] == 0);
  }
  CHECK(std::isfinite(result.at("lse").data[33]));
}

TEST_CASE("edge row 5: an additive mask of the lowest float over a whole row") {
  Evaluation in = inputsFor({1, 1, 1, 8, 8, 16, 16});
  in.tensors["bias"] = zeros({8, 8});
  for (std::size_t j = 0; j < 8; ++j)
    in.tensors["bias"].data[3 * 8 + j] = -3.4028234663852886e38;
  Attention a("bias", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  const Tensor bias("bias", Type::f32, 2);
  a.score([&](Tile s, const At &at) { return s + bias(at.query, at.key); });
  const Array output = evaluate(a.program(), in).at("O");
  for (std::size_t e = 0; e < 16; ++e) {
    double mean = 0;
    for (std::size_t j = 0; j < 8; ++j)
      mean += in.tensors["V"].data[j * 16 + e] / 8;
    CHECK(output.data[3 * 16 + e] == Approx(mean));
  }
}

TEST_CASE("edge row 8: lse is the natural logarithm") {
  Evaluation in = inputsFor({1, 1, 1, 1, 4, 8, 8});
  in.tensors["Q"] = zeros({1, 1, 1, 8});
  for (std::int64_t width : {0, 1, 3}) {
    in.foldTile = width;
    CHECK(evaluate(makeVariant("plain"), in).at("lse").data[0] == Approx(std::log(4.0)).epsilon(1e-14));
  }
}

TEST_CASE("a NaN under a mask is nothing") {
  Evaluation in = inputsFor({1, 2, 1, 6, 6, 8, 8});
  const auto before = evaluate(makeVariant("causal"), in);
  for (const char *tensor : {"K", "V"})
    for (std::size_t d = 0; d < 8; ++d)
      in.tensors[tensor].data[5 * 8 + d] = d % 2 ? NAN : INFINITY;   // the last key: only the last query sees it
  for (std::int64_t width : {0, 1, 4}) {
    in.foldTile = width;
    const auto after = evaluate(makeVariant("causal"), in);
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t i = 0; i < 5; ++i)
        for (std::size_t e = 0; e < 8; ++e)
          CHECK(after.at("O").data[(h * 6 + i) * 8 + e] == Approx(before.at("O").data[(h * 6 + i) * 8 + e]));
      CHECK(std::isnan(after.at("O").data[(h * 6 + 5) * 8]));
    }
  }
}

TEST_CASE("a NaN that is not masked spoils its own rows and no other") {
  Evaluation in = inputsFor({1, 1, 1, 6, 6, 8, 8});
  SECTION("in a query, even where the key is 0") {
    in.tensors["Q"].data[2 * 8] = NAN;
    std::fill(in.tensors["K"].data.begin(), in.tensors["K"].data.end(), 0.0);
    const Array output = evaluate(makeVariant("plain"), in).at("O");
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::isnan(output.data[i * 8 + 3]) == (i == 2));
  }
  SECTION("in a key, even where the query is 0") {
    in.tensors["K"].data[4 * 8] = NAN;
    std::fill(in.tensors["Q"].data.begin(), in.tensors["Q"].data.end(), 0.0);
    const Array output = evaluate(makeVariant("causal"), in).at("O");
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::isnan(output.data[i * 8 + 3]) == (i >= 4));
  }
  SECTION("in a value whose weight underflows") {
    in.tensors["V"].data[0] = NAN;
    Attention a("far", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
    a.score([](Tile s, const At &at) { return s + 2000 * at.key; });
    const Array output = evaluate(a.program(), in).at("O");
    CHECK(std::isnan(output.data[0]));
    CHECK_FALSE(std::isnan(output.data[1]));
  }
}

TEST_CASE("scores of one's own") {
  Evaluation in = inputsFor({1, 2, 2, 5, 9, 8, 8});
  in.scalars["temperature"] = 3;
  Attention a("own", Tensor("Q", Type::f32, 4), Tensor("K", Type::f32, 4), Tensor("V", Type::f32, 4), Tensor("O", Type::f32, 4));
  a.lse(Tensor("lse", Type::f32, 3)).score(scaled(scalar("temperature", Type::f32, Sign::positive)));
  a.mask([](const At &at) { return (at.key + at.query) % 3 != 0; });
  NaiveOptions o;
  o.scale = 3;
  o.keep = [](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t) { return (i + j) % 3 != 0; };
  check(a.program(), in, o);
}

TEST_CASE("f64 tensors carry f64") {
  const Program p = makeVariant("causal", {.type = Type::f64});
  for (const auto &fold : foldsOf(p))
    for (const Tile &start : fold->starts)
      CHECK(start.type() == Type::f64);
  Evaluation in = inputsFor({1, 2, 1, 5, 6, 8, 8});
  check(p, in, meaning("causal", in));
}
