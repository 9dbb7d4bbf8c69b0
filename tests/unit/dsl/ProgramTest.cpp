// Whole programs: what they mention, and mentions that do not agree.
#include "Refused.h"

using namespace tw;

namespace {
const Axis q("q"), k("k");
const Tensor T("T", Type::f32, 2), O("O", Type::f32, 1), P("P", Type::f32, 1);
Program storing(Tile value) { return {"p", {store(O, {q}, value)}}; }
} // namespace

TEST_CASE("what a program mentions, in order of first mention") {
  const Tile cap = scalar("cap"), x = T(q, k) * cap;
  auto [total] = fold(k, std::tuple{full(0, {q})}, [&](Tile so) { return std::tuple{so + sum(x, over(k))}; });
  const Program p{"p", {store(O, {q}, total * cap)}, {require(scalar("first", Type::i32) > 0, "")}};
  REQUIRE(axesOf(p).size() == 2);
  CHECK(same(axesOf(p)[0], q));
  REQUIRE(tensorsOf(p).size() == 2);
  CHECK(tensorsOf(p)[0]->name == "T");
  CHECK(tensorsOf(p)[1]->name == "O");
  REQUIRE(scalarsOf(p).size() == 2);
  CHECK(scalarsOf(p)[0].node().label == "first");
  CHECK(scalarsOf(p)[1].node().label == "cap");
  REQUIRE(foldsOf(p).size() == 1);
  CHECK(same(foldsOf(p)[0]->axis, k));
}

TEST_CASE("refused: a program without a store") {
  REFUSED("program 'p' stores nothing; add a store(tensor, {axes}, value)", print(Program{"p", {}}));
}

TEST_CASE("refused: one name for two tensors") {
  const Tensor other("T", Type::f16, 2);
  REFUSED_HERE("'T' is used as f16[2] here and as f32[2] elsewhere; give the two tensors different names", print(storing(T(q, 0) + other(q, 0))));
  const Tensor copy = T;
  CHECK_NOTHROW(verify(storing(T(q, 0) + copy(q, 1))));
  const Tensor alike("T", Type::f32, 2); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { verify(storing(T(q, 0) + alike(q, 1))); });
  REQUIRE(refusal);
  CHECK(refusal->message == "two tensors of program 'p' are named 'T'; use one Tensor object, or two names");
  CHECK(refusal->where.line == line);
  REQUIRE(refusal->notes.size() == 1);
  CHECK(refusal->notes[0].text == "the other is declared here");
}

TEST_CASE("refused: a tensor stored twice, or loaded and stored") {
  REFUSED_HERE("'O' is stored twice; store each tensor once", print(Program{"p", {store(O, {q}, full(0, {q})), store(O, {q}, full(1, {q}))}}));
  REFUSED("'O' is both loaded and stored; store to another tensor, since tiles run in any order", print(storing(O(q) + 1.0)));
}

TEST_CASE("refused: two axes of one name") {
  const Axis other("q"); const unsigned line = __LINE__;
  auto refusal = tests::refusal([&] { return print(Program{"p", {store(O, {q}, full(0, {q})), store(P, {other}, full(0, {other}))}}); });
  REQUIRE(refusal);
  CHECK(refusal->message == "two axes of program 'p' are named 'q'; use one Axis object, or two names");
  CHECK(refusal->where.line == line);
}

TEST_CASE("refused: two scalars of one name that differ") {
  REFUSED_HERE("scalar 's' is f64 here and f32 elsewhere; make both alike, or give them different names", print(storing(full(0, {q}) + scalar("s") + cast(scalar("s", Type::f64), Type::f32))));
  REFUSED_HERE("scalar 's' is positive f32 here and f32 elsewhere; make both alike, or give them different names", print(storing(full(0, {q}) + scalar("s") + scalar("s", Type::f32, Sign::positive))));
}
