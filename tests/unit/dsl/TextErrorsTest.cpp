// Every complaint of the parser: its exact text, at its line.
#include "Refused.h"

using namespace tw;

namespace {

const std::string head = "program \"p\"\naxis q\naxis k\ntensor X f32[2]\ntensor O f32[1]\nscalar s f32\n";

/// The complaint about `line`, the seventh, after a good head.
void complains(const std::string &line, const std::string &message, unsigned at = 7) {
  INFO(line);
  auto refusal = tests::refusal([&] { return parseProgram(head + line + "\n", "text.tw"); });
  REQUIRE(refusal);
  CHECK(refusal->message == message);
  CHECK(shortName(refusal->where) == "text.tw:" + std::to_string(at));
}

} // namespace

TEST_CASE("parse errors: statements") {
  REFUSED("expected program \"name\", found 'axis'", parseProgram("axis q"));
  REFUSED("the text names no program; begin with: program \"name\"", parseProgram(""));
  REFUSED("program 'p' stores nothing; add a store(tensor, {axes}, value)", parseProgram("program \"p\""));
  complains("program \"r\"", "a second program; put each program into a text of its own");
  complains("program", "a second program; put each program into a text of its own");
  complains("launch it", "'launch' begins no statement; write program, axis, tensor, scalar, require, store, yield or %n = …");
  complains("\"text\"", "expected a statement, found \"text\"");
  complains("axis r r", "expected the end of the line, found 'r'");
  complains("axis q", "axis 'q' is declared twice; declare it once");
  complains("axis 7", "expected the axis's name, found '7'");
  complains("axis inf", "expected the axis's name, found 'inf'");
  complains("tensor X f32[2]", "tensor 'X' is declared twice; declare it once");
  complains("tensor Y f8[2]", "expected a type (f16, bf16, f32, f64, i32, i64 or bool), found 'f8'");
  complains("tensor Y f32[x]", "expected the number of dimensions, found 'x'");
  complains("tensor Y f32(2)", "expected '[', found '('");
  complains("scalar s f32", "scalar 's' is declared twice; declare it once");
  complains("require true", "expected a message in quotes, found the end of the line");
  complains("store Z[q] = 1.0", "no tensor is named 'Z'; did you mean 'O'?");
  complains("store O[q] 1.0", "expected '=', found '1.0'");
  complains("store O[q, q] = 1.0", "'O' has 1 dimensions, stored with 2 axes; give one axis a dimension");
  complains("yield 1.0", "yield outside of a fold; it ends the step of one");
  complains("}", "'}' closes no fold; remove it");
}

TEST_CASE("parse errors: words") {
  complains("require true \"no end", "a string has no end; close it with \"");
  complains("% = add 1.0, 2.0 : f32", "% names no value; write %0");
  complains("axis r @7", "a place reads @\"file\":line and ends the line; write it so or leave it out");
  complains("axis r @\"f\":x", "a place reads @\"file\":line and ends the line; write it so or leave it out");
  complains("%0 = add 1.0.0, 2.0 : f32", "'1.0.0' is no number; write 7, 7.0, 1e-3, inf, -inf or nan");
  complains("%0 = neg 1.0:f8 : f32", "'f8' is no type; write f16, bf16, f32, f64, i32, i64 or bool");
}

TEST_CASE("parse errors: values") {
  complains("%0 = frob q : f32", "'frob' is no operation; docs/dsl.md lists them");
  complains("%0 = tanhh s : f32", "'tanhh' is no operation; did you mean 'tanh'?");
  complains("%0 = add scalar(s), %9 : f32", "%9 is not defined here; define it above, and outside of other folds' steps");
  complains("%0 = add scalar(s) : f32", "expected ',', found ':'");
  complains("%0 = add scalar(s), 1.0", "expected ':', found the end of the line");
  complains("%0 = add scalar(s), 1.0 : f64", "'add' makes f32, not the stated f64; correct one of them");
  complains("%0 = add scalar(s), 1.0 : f32[q]", "'add' makes f32, not the stated f32[q]; correct one of them");
  complains("%0, %1 = add q, 1 : i32[q]", "'add' makes one value, not 2; only fold makes several");
  complains("%0 = neg r : f32", "no axis is named 'r'; did you mean 'k'?");
  complains("%0 = neg verylong : f32", "no axis is named 'verylong'; declare it first");
  complains("%0 = neg size(q) : i32", "'size(' begins no value; write extent(axis), dimension(tensor, n) or scalar(name)");
  complains("%0 = neg dimension(X, 5) : i32", "'X' has 2 dimensions, asked for dimension 5; they count from 0");
  complains("%0 = neg scalar(t) : f32", "no scalar is named 't'; did you mean 's'?");
  complains("%0 = load X[q] : f32[q]", "'X' has 2 dimensions, indexed with 1; give one index a dimension");
  complains("%0 = reduce_sum q : i32", "expected 'over', found ':'");
  complains("%0 = dot q, q over q : f32", "dot over 'q': operand i32[q] is no float; cast(x, Type::f32) first");
  complains("%0 = constant q : f32", "expected a number, found 'q'");
  complains("%0 = constant 0.5 : i32", "'constant' makes f32, not the stated i32; correct one of them");
  complains("%0 = and q, true : bool", "& needs a condition, got i32[q]; compare it: x != 0");
  complains("%0 = neg q : i32[q]\n%0 = neg q : i32[q]", "%0 is defined twice; give each value a number of its own", 8);
}

TEST_CASE("parse errors: folds") {
  complains("%0 = fold k (%1 = 0.0) {\nstore O[q] = 1.0", "'store' stands in the step of a fold; only values, folds and yield may", 8);
  complains("%0 = fold k (%1 = 0.0) {\n}", "the step of the fold yields nothing; write yield before }", 8);
  complains("%0 = fold k (%1 = 0.0) {\nyield %1\nyield %1", "expected '}' after yield, found 'yield'", 9);
  complains("%0 = fold k (%1 = 0.0) {\nyield %1, %1", "a fold that carries 1 values got 2 from its step; return one for each", 8);
  complains("%0 = fold k (%1 = 0.0) {\nyield 1", "carried value #0 enters as f32 and leaves as i32; start it as full(..., [], Type::i32) or change the step", 8);
  complains("%0 = fold k (%1 = 0.0) {\nyield %1", "the fold over 'k' has no end; close it with yield and }", 8);
  complains("%0, %2 = fold k (%1 = 0.0) {", "the fold carries 1 values and names 2 results; name one result for each");
  complains("%0 = fold k (q = 0.0) {", "expected the name of a carried value, found 'q'");
  complains("%0 = fold k (%1 = 0.0)", "expected '{', found the end of the line");
  complains("%0 = fold k (%1 = 0.0) {\n%2 = add %0, %1 : f32", "%0 is not defined here; define it above, and outside of other folds' steps", 8);
  complains("%0 = fold k (%1 = 0.0) {\nyield %1\n}\n%2 = add %1, %1 : f32", "%1 is not defined here; define it above, and outside of other folds' steps", 10);
}

TEST_CASE("parse: the place of a line goes into values, complaints stay at the text") {
  const Program p = parseProgram(head + "%0 = neg q : i32[q]   @\"a/b.cpp\":12\n%1 = cast %0 : f32[q]\nstore O[q] = %1\n", "text.tw");
  const Tile cast = p.stores[0].value, neg = cast.node().operands[0];
  CHECK(shortName(neg.where()) == "b.cpp:12");
  CHECK(shortName(cast.where()) == "text.tw:8");
  complains("%0 = exp true : f32 @\"a.cpp\":3", "exp of a condition bool; choose between two numbers by it: where(condition, a, b)");
}
