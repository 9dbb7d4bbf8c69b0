// Derivatives of every function of the language, and the choices where there is none.
#include "Gradients.h"

using namespace tw;
using namespace tw::tests;

namespace {

const Lengths lengths{1, 2, 1, 5, 7, 8, 8};

Attention attentionWith(ScoreFunction step) {
  Attention attention("functions", Tensor("Q", Type::f64, 4), Tensor("K", Type::f64, 4), Tensor("V", Type::f64, 4), Tensor("O", Type::f64, 4));
  attention.score(std::move(step)).lse(Tensor("lse", Type::f64, 3));
  return attention;
}

/// Of a score's step that reads p, positive and one a head.
void check(const ScoreFunction &step, std::vector<std::string> inputs = {"Q", "K", "V", "p"}) {
  Evaluation in = attentionInputs(lengths);
  in.tensors["p"] = {{2}, {0.8, 1.7}};
  for (std::int64_t width : {0, 3}) {
    in.foldTile = width;
    checkGradients(attentionWith(step).program(), in, inputs);
  }
}

const Tensor p("p", Type::f64, 1);

} // namespace

TEST_CASE("every function of one value has its derivative") {
  SECTION("exp") { check([](Tile s, const At &at) { return exp(s * 0.3) * p(at.head); }); }
  SECTION("exp2") { check([](Tile s, const At &at) { return exp2(s * p(at.head)); }); }
  SECTION("expm1") { check([](Tile s, const At &at) { return expm1(s * p(at.head)); }); }
  SECTION("log") { check([](Tile s, const At &at) { return log(s * s + p(at.head)); }); }
  SECTION("log2") { check([](Tile s, const At &at) { return log2(s * s + p(at.head)); }); }
  SECTION("log1p") { check([](Tile s, const At &at) { return log1p(s * s * p(at.head)); }); }
  SECTION("tanh") { check([](Tile s, const At &at) { return tanh(s * p(at.head)); }); }
  SECTION("sigmoid") { check([](Tile s, const At &at) { return sigmoid(s * p(at.head)); }); }
  SECTION("sqrt") { check([](Tile s, const At &at) { return sqrt(s * s + p(at.head)); }); }
  SECTION("rsqrt") { check([](Tile s, const At &at) { return rsqrt(s * s + p(at.head)); }); }
  SECTION("sin") { check([](Tile s, const At &at) { return sin(s * p(at.head)); }); }
  SECTION("cos") { check([](Tile s, const At &at) { return cos(s * p(at.head)); }); }
  SECTION("erf") { check([](Tile s, const At &at) { return erf(s * p(at.head)); }); }
  SECTION("gelu") { check([](Tile s, const At &at) { return gelu(s * p(at.head)); }); }
  SECTION("softplus") { check([](Tile s, const At &at) { return softplus(s * p(at.head)); }); }
  SECTION("abs") { check([](Tile s, const At &at) { return abs(s * p(at.head)); }); }
  SECTION("neg and sign") { check([](Tile s, const At &at) { return -s * sign(s) * p(at.head); }); }
}

TEST_CASE("every function of two values has its derivatives") {
  SECTION("div") { check([](Tile s, const At &at) { return s / (p(at.head) + s * s); }); }
  SECTION("pow by a value") { check([](Tile s, const At &at) { return pow(s * s + 0.1, p(at.head)); }); }
  SECTION("pow by a number") { check([](Tile s, const At &at) { return pow(abs(s) * p(at.head), 1.5); }); }
  SECTION("max and min") { check([](Tile s, const At &at) { return max(s, p(at.head) - 1.0) + min(s * 2.0, p(at.head)); }); }
  SECTION("clamp") { check([](Tile s, const At &at) { return clamp(s, -p(at.head), p(at.head)); }); }
  SECTION("where") { check([](Tile s, const At &at) { return where(at.key % 2 == 0, s * p(at.head), s - p(at.head)); }); }
}

TEST_CASE("what jumps has no derivative: it counts as a constant") {
  SECTION("floor, ceil, round, trunc") { check([](Tile s, const At &at) { return s * p(at.head) + floor(s * 3.0) + ceil(s) + round(s * 2.0) + trunc(s * p(at.head)); }); }
  SECTION("integers and bits of them") {
    check([](Tile s, const At &at) { return s * p(at.head) + cast(((at.key ^ at.query) & 3) + ((at.key << 1) >> 2) + cast(s, Type::i32), s.type()); });
  }
  SECTION("random numbers") { check([](Tile s, const At &at) { return where(random(9, at.head, at.query, at.key) < 0.3, s * 0.5, s * p(at.head)); }); }
}

TEST_CASE("at the ends of a power's range the exponent's derivative is 0, and the base's as it is") {
  // s - s is 0 exactly: 0^p is 0, and by p too.
  Evaluation in = attentionInputs(lengths);
  in.tensors["p"] = {{2}, {2.0, 3.0}};
  const Gradients result = checkGradients(attentionWith([](Tile s, const At &at) { return s + pow(s - s, p(at.head)); }).program(), in, {"Q", "K", "V", "p"});
  for (double x : result.of("p").data)
    CHECK(x == 0);
}

TEST_CASE("dropout has the same mask backward, whatever the tiles") {
  Evaluation in = attentionInputs({1, 2, 1, 33, 40, 8, 8});
  in.tensors["seed"] = {{1}, {77}};
  std::map<std::string, Array> first;
  for (std::int64_t width : {0, 7, 16}) {
    in.foldTile = width;
    const Gradients result = checkGradients(makeVariant("dropout(0.3)", {.type = Type::f32}), in, {"Q", "K", "V"});
    // A row of dV is 0 where all queries drop the key, never by accident: with p = 0.3 no key is dropped by all 33.
    if (first.empty())
      first = result.got;
    CHECK(compare(result.of("V"), first.at("dV"), {1e-12, 1e-12}).ok);
  }
}
