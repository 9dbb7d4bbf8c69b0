// Every complaint about a single value, with its exact text, at the line on which the user wrote it.
#include "Refused.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tw;

namespace {
const Axis q("q"), k("k"), d("d");
const Tensor T("T", Type::f32, 2), N("N", Type::i32, 1);
const Tile x = T(q, k), n = N(q), condition = q < k;
} // namespace

TEST_CASE("refused: names") {
  REFUSED_HERE("'2q' is no name for an axis; use letters, digits and _, and no digit first", Axis("2q"));
  REFUSED_HERE("'' is no name for a tensor; use letters, digits and _, and no digit first", Tensor("", Type::f32, 1));
  REFUSED_HERE("'a-b' is no name for a scalar; use letters, digits and _, and no digit first", scalar("a-b"));
  REFUSED_HERE("'inf' is no name for an axis: it is a literal of the text form; choose another", Axis("inf"));
  REFUSED_HERE("a named value needs a name; write named(\"score\", x)", named("", x));
  REFUSED_HERE("the name of a value holds a quote, a backslash or a control character; use letters, digits and _", named("a\"b", x));
}

TEST_CASE("refused: numbers that a type cannot hold") {
  REFUSED_HERE("constant 0.5 is no i32; give it a float type: constant(0.5, Type::f32)", constant(0.5, Type::i32));
  REFUSED_HERE("constant 2 is no bool; write 0 or 1, or compare: x != 0", constant(2, Type::boolean));
  REFUSED_HERE("constant 3e+09 is out of range for i32; use Type::i64", constant(3e9, Type::i32));
  REFUSED_HERE("constant 1e+17 is out of range for i64: literals are exact up to 2^53", full(1e17, {q}, Type::i64));
  REFUSED_HERE("literal 9007199254740993 is out of range: literals are exact up to 2^53; pass it as a scalar()", x + 9007199254740993L);
  REFUSED_HERE("full() names the axis 'q' twice; name each axis once", full(0, {q, q}));
  REFUSED_HERE("scalar 's' is a bool and has no sign; leave Sign::positive out", scalar("s", Type::boolean, Sign::positive));
}

TEST_CASE("refused: arithmetic on conditions") {
  REFUSED_HERE("add of a condition bool[q, k]; choose between two numbers by it: where(condition, a, b)", x + condition);
  REFUSED_HERE("max of a condition bool[q, k]; choose between two numbers by it: where(condition, a, b)", max(condition, x));
  REFUSED_HERE("neg of a condition bool[q, k]; choose between two numbers by it: where(condition, a, b)", -condition);
  REFUSED_HERE("exp of a condition bool[q, k]; choose between two numbers by it: where(condition, a, b)", exp(condition));
  REFUSED_HERE("sum of a condition bool[q, k]; count or choose by it: where(condition, 1, 0)", sum(condition, over(k)));
  auto refusal = tests::refusal([] { (void)(x + condition); });
  REQUIRE(refusal->notes.size() == 1);
  CHECK(refusal->notes[0].text == "the condition is made here");
  CHECK(refusal->notes[0].where.line == condition.where().line);
}

TEST_CASE("refused: integer operations on floats") {
  REFUSED_HERE("mod of f32[q, k] and i32 needs integers; cast() the floats to Type::i32 first", x % 2);
  REFUSED_HERE("floor_div of i32[q] and f32[q, k] needs integers; cast() the floats to Type::i32 first", floorDiv(n, x));
}

TEST_CASE("refused: comparisons and logic") {
  REFUSED_HERE("lt of bool[q, k] and i32 compares a condition; combine conditions with &, | and !", condition < 1);
  REFUSED_HERE("& needs a condition, got i32[q]; compare it: x != 0", condition & n);
  REFUSED_HERE("| needs a condition, got f32[q, k]; compare it: x != 0", x | condition);
  REFUSED_HERE("! needs a condition, got i32[q]; compare it: x != 0", !n);
  REFUSED_HERE("where() needs a condition, got i32[q, k]; compare it: x != 0", where(index(q) - k, 1.0, 0.0));
  REFUSED_HERE("where() chooses between f32[q, k] and bool[q, k], a condition and a number; make both the one or the other", where(condition, x, condition));
}

TEST_CASE("refused: reductions and dots") {
  REFUSED_HERE("sum of i32[q] over 'k': the value has no such axis; reduce over one of [q]", sum(n, over(k)));
  REFUSED_HERE("dot over 'd': operand f32[q, k] has no such axis; both operands of a dot run along the contracted axis", dot(x, x, over(d)));
  REFUSED_HERE("dot over 'q': operand i32[q] is no float; cast(x, Type::f32) first", dot(x, n, over(q)));
  REFUSED_HERE("stabiliser() of i32[q]: only a float value stabilises; leave it out", stabiliser(n));
  auto refusal = tests::refusal([] { (void)dot(x, x, over(d)); });
  REQUIRE(refusal->notes.size() == 2);
  CHECK(refusal->notes[0].text == "the operand is made here");
  CHECK(refusal->notes[1].text == "the axis is declared here");
}

TEST_CASE("refused: indexing") {
  REFUSED_HERE("'T' has 2 dimensions, indexed with 1; give one index a dimension", T(q));
  REFUSED_HERE("index 1 of 'T' is f32[q, k], not an integer; cast(x, Type::i32) first", T(q, x));
  REFUSED_HERE("index 0 of 'T' is negative; indices count from 0: the last is dimension(0) - 1", T(-1, q));
  REFUSED_HERE("'T' has 2 dimensions, asked for dimension 2; they count from 0", T.dimension(2));
}

TEST_CASE("a diagnostic renders as a compiler's would") {
  Diagnostic d{Location::of("/no/such/folder/file.cpp", 7), "wrong", {{Location::of("other.cpp", 0), "because"}}};
  CHECK(render(d) == "file.cpp:7: error: wrong\nother.cpp: note: because\n");
  const std::string file = std::filesystem::temp_directory_path() / ("tilewright_render_" + std::to_string(getpid()) + ".cpp");
  std::ofstream(file) << "int first;\n  int second;\n";
  CHECK(render({Location::of(file, 2), "this line"}) == shortName(Location::of(file, 2)) + ": error: this line\n  |   int second;\n");
  CHECK(render({Location::of(file, 3), "no such line"}) == shortName(Location::of(file, 3)) + ": error: no such line\n");
  std::filesystem::remove(file);
}

TEST_CASE("refused: what contains() is given") {
  const Tensor lists("lists", Type::i32, 2), floats("floats", Type::f32, 2);
  REFUSED_HERE("contains() looks for whole numbers, and 'floats' is f32; make it i32 or i64", contains(floats, {q}, k));
  REFUSED_HERE("'lists' has 2 dimensions, and contains() is given 0 indices; give one for each dimension but the last, which it looks through", contains(lists, {}, k));
  REFUSED_HERE("'lists' has 2 dimensions, and contains() is given 2 indices; give one for each dimension but the last, which it looks through", contains(lists, {q, k}, k));
  REFUSED_HERE("the value that contains() takes is f32[q, k], not an integer; cast(x, Type::i32) first", contains(lists, {q}, x));
  REFUSED_HERE("the count that contains() takes is f32[q, k], not an integer; cast(x, Type::i32) first", contains(lists, {q}, k, x));
  REFUSED_HERE("the count that contains() takes is i64; cast(x, Type::i32)", contains(lists, {q}, k, cast(n, Type::i64)));
  REFUSED_HERE("contains() looks for an i64 in 'lists', which is i32; make the list i64, or cast(x, Type::i32)", contains(lists, {q}, cast(n, Type::i64)));
  REFUSED_HERE("index 0 of 'lists' is f32[q, k], not an integer; cast(x, Type::i32) first", contains(lists, {x}, k));
  REFUSED_HERE("index 0 of 'lists' is negative; indices count from 0: the last is dimension(0) - 1", contains(lists, {-1}, k));
}
