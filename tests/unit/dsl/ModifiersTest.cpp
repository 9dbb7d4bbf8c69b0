// What is wrong in a library step is reported at the line on which the user asked for it.
#include "Refused.h"

using namespace tw;

namespace {
Attention attention() {
  return {"a", Tensor("Q", Type::bf16, 4), Tensor("K", Type::bf16, 4), Tensor("V", Type::bf16, 4), Tensor("O", Type::bf16, 4)};
}
} // namespace

TEST_CASE("edge row 62: a window that is no window is refused") {
  REFUSED_HERE("slidingWindow(-1, -3): -3 keys are no width; each side is 0 or more, or -1 for unbounded", slidingWindow(-1, -3));
  REFUSED_HERE("slidingWindow(-3, 0): -3 keys are no width; each side is 0 or more, or -1 for unbounded", slidingWindow(-3, 0));
}

TEST_CASE("refused: numbers that make no step") {
  REFUSED_HERE("softcap(0): the cap must be positive and finite; leave the step out for none", softcap(0.0));
  REFUSED_HERE("softcapApproximate(-1): the cap must be positive and finite; leave the step out for none", softcapApproximate(-1.0));
  REFUSED_HERE("softcap(inf): the cap must be positive and finite; leave the step out for none", softcap(infinity));
  REFUSED_HERE("scaled(nan): the factor must be finite", scaled(NAN));
}

TEST_CASE("refused: numbers that make no mask or bias") {
  const Tensor table("table", Type::i32, 1), bias("bias", Type::f32, 3);
  REFUSED_HERE("dilated(8, 0): each number is 1 or more", dilated(8, 0));
  REFUSED_HERE("strided(-1): each number is 1 or more", strided(-1));
  REFUSED_HERE("sinkWindow(0, 5): each number is 1 or more", sinkWindow(0, 5));
  REFUSED_HERE("neighborhood2d(0, 3, 3): each number is 1 or more", neighborhood2d(0, 3, 3));
  REFUSED_HERE("blockSparse(): 'table' has 1 dimensions, expected [blocks of queries, blocks of keys], with heads before it, with the batch before those", blockSparse(table, 64, 64));
  REFUSED_HERE("blockLists(): 'table' has 1 dimensions and 'bias' 3, expected [blocks of queries, longest] and [blocks of queries], with heads before both, with the batch before those", blockLists(table, bias, 64, 64));
  REFUSED_HERE("blockLists(64, 0): each number is 1 or more", blockLists(table, bias, 64, 0));
  REFUSED_HERE("t5Bias(): 2 buckets up to distance 128; there are at least 4 buckets, and the farthest distance is beyond the 1 that have one each", t5Bias(bias, 2, 128, true));
  REFUSED_HERE("t5Bias(): 32 buckets up to distance 8; there are at least 4 buckets, and the farthest distance is beyond the 8 that have one each", t5Bias(bias, 32, 8, true));
  REFUSED_HERE("relativeBias(): a radius of -1; it is 0 or more", relativeBias(bias, -1));
  REFUSED_HERE("denseBias(): 'hqx' names no axes; write one of b, h, q and k for each dimension of the bias", denseBias(bias, "hqx"));
  REFUSED_HERE("denseBias(): 'bias' has 3 dimensions and 'qk' names 2 axes; name one for each", denseBias(bias, "qk"));
  REFUSED_HERE("dropout(1): a probability is 0 or more and less than 1", dropout(scalar("seed", Type::i64), 1));
}

TEST_CASE("refused: a log-sum-exp that the normaliser does not have") {
  Attention a = attention();
  a.normalise(Sigmoid()); const unsigned chosen = __LINE__;
  a.lse(Tensor("lse", Type::f32, 3)); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "the normaliser has no log-sum-exp; leave lse() out, or give the normaliser a function logSumExp");
  CHECK(refusal->where.line == line);
  REQUIRE(refusal->notes.size() == 1);
  CHECK(refusal->notes[0].text == "the normaliser is chosen here");
  CHECK(refusal->notes[0].where.line == chosen);
}

TEST_CASE("refused: steps of weights and outputs that return something else") {
  Attention a = attention();
  a.weights([](Tile, const At &at) { return cast(at.key, Type::f32); }); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "the step 'weights' makes f32[k] of the weight f32[b, h, q, k]; a step returns a weight of the same type and axes");
  CHECK(refusal->where.line == line);
  Attention b = attention();
  b.output([](Tile output, const AtOutput &) { return output < 0; }); const unsigned second = __LINE__;
  refusal = tests::refusal([&] { return b.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "the step 'output' makes bool[b, h, q, e] of the output f32[b, h, q, e]; a step returns an output of the same type and axes");
  CHECK(refusal->where.line == second);
}

TEST_CASE("refused: a branch of another shape") {
  const Tensor four("T", Type::bf16, 4), three("S", Type::bf16, 3);
  auto factor = [](const AtOutput &) { return constant(1); };
  REFUSED_HERE("'S' has 3 dimensions, expected 4: [B, H, Sq, D]", attention().branch(three, four, factor));
}

TEST_CASE("refused: a library step that does not fit, at the user's line") {
  Attention a = attention();
  a.score(alibi(Tensor("slopes", Type::f32, 2))); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "'slopes' has 2 dimensions, indexed with 1; give one index a dimension");
  CHECK(refusal->where.line == line);
  REQUIRE(refusal->notes.size() == 2);
  CHECK(refusal->notes[0].text == "in the library step alibi()");
  CHECK(shortName(refusal->notes[0].where).substr(0, 14) == "Modifiers.cpp:");
  CHECK(refusal->notes[1].text == "declared here");
}

TEST_CASE("refused: a step of one's own, at the line of its mistake") {
  Attention a = attention();
  a.score([](Tile s, const At &at) { return s + (at.key <= at.query); }); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "add of a condition bool[q, k]; choose between two numbers by it: where(condition, a, b)");
  CHECK(refusal->where.line == line);
}

TEST_CASE("refused: a step that returns no score") {
  Attention a = attention();
  a.score([](Tile, const At &at) { return at.key - at.query; }); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "the step 'score' makes i32[q, k] of the score f32[b, h, q, k]; a step returns a score of the same type and axes");
  CHECK(refusal->where.line == line);
}

TEST_CASE("refused: a mask that is no condition") {
  Attention a = attention();
  a.mask([](const At &at) { return at.key - at.query; }); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return a.program(); });
  REQUIRE(refusal);
  CHECK(refusal->message == "where() needs a condition, got i32[q, k]; compare it: x != 0");
  CHECK(refusal->where.line == line);
}

TEST_CASE("refused: tensors of the wrong rank or type") {
  const Tensor four("T", Type::bf16, 4), three("S", Type::bf16, 3), integers("I", Type::i32, 4);
  REFUSED_HERE("'S' has 3 dimensions, expected 4: [B, Hkv, Skv, D]", Attention("a", four, three, four, four));
  REFUSED_HERE("'I' is of type i32, expected a float: f16, bf16, f32 or f64", Attention("a", four, four, integers, four));
  REFUSED_HERE("'T' has 4 dimensions, expected 3: [B, H, Sq]", attention().lse(four));
}

TEST_CASE("without scaled() the scale is 1/sqrt(D), and printing shows it") {
  const std::string text = print(attention().program());
  CHECK(text.find("cast extent(d) : f32[]") != std::string::npos);
  CHECK(text.find("named \"scale\"") != std::string::npos);
  Attention a = attention();
  CHECK(print(a.score(scaled(0.0625)).program()).find("named \"scale\"") == std::string::npos);
}

TEST_CASE("a step is printed at the user's line") {
  Attention a = attention();
  a.score(softcap(50)); const Location here = Location::current();
  const std::string text = print(a.program(), Locations::print);
  const auto tanh = text.find("tanh");
  REQUIRE(tanh != std::string::npos);
  const std::string line = text.substr(tanh, text.find('\n', tanh) - tanh);
  CHECK(line.find("ModifiersTest.cpp\":" + std::to_string(here.line)) != std::string::npos);
}

TEST_CASE("scales and caps may be values") {
  Attention a = attention();
  const Tile cap = scalar("cap", Type::f32, Sign::positive), temperature = scalar("temperature");
  const Program p = a.score(scaled(temperature)).score(softcap(cap)).program();
  CHECK(scalarsOf(p).size() == 2);
}
