#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>

using namespace tw;

namespace {
const Axis q("q"), k("k");
Tile valueOf(Type type) { return full(0, {q}, type); }
} // namespace

TEST_CASE("names and sizes of types") {
  for (Type type : {Type::boolean, Type::i32, Type::i64, Type::f16, Type::bf16, Type::f32, Type::f64})
    CHECK(typeNamed(name(type)) == type);
  CHECK_FALSE(typeNamed("f8"));
  CHECK(bytes(Type::boolean) == 1);
  CHECK(bytes(Type::bf16) == 2);
  CHECK(bytes(Type::i64) == 8);
}

TEST_CASE("arithmetic is done in the wider type, and never in 16 bits") {
  CHECK(arithmeticType(Type::i32, Type::i64) == Type::i64);
  CHECK(arithmeticType(Type::i64, Type::f32) == Type::f32);
  CHECK(arithmeticType(Type::i64, Type::f16) == Type::f32);
  CHECK(arithmeticType(Type::f16, Type::f16) == Type::f32);
  CHECK(arithmeticType(Type::f16, Type::bf16) == Type::f32);
  CHECK(arithmeticType(Type::bf16, Type::f64) == Type::f64);
}

TEST_CASE("operands of an operation are brought to one type") {
  const Tile sum = valueOf(Type::f16) + valueOf(Type::f32);
  CHECK(sum.type() == Type::f32);
  CHECK(sum.node().operands[0].node().op == Op::cast);
  CHECK(sum.node().operands[0].type() == Type::f32);
  CHECK(sum.node().operands[1].node().op == Op::constant);
  const Tile less = valueOf(Type::i32) < valueOf(Type::i64);
  CHECK(less.type() == Type::boolean);
  CHECK(less.node().operands[0].type() == Type::i64);
}

TEST_CASE("a bare number takes the type of the other operand") {
  auto typeOf = [](const Tile &tile) { return tile.node().operands[1].type(); };
  CHECK(typeOf(valueOf(Type::f64) * 2) == Type::f64);
  CHECK(typeOf(valueOf(Type::f64) * 0.5) == Type::f64);
  CHECK(typeOf(valueOf(Type::f32) * 2) == Type::f32);
  CHECK(typeOf(valueOf(Type::i64) + 2) == Type::i64);
  CHECK(typeOf(valueOf(Type::i32) + 2) == Type::i32);
  CHECK(typeOf(valueOf(Type::i32) + 5000000000L) == Type::i64);
  CHECK((valueOf(Type::f16) * 2).type() == Type::f32);
  CHECK((valueOf(Type::i32) * 0.5).type() == Type::f32);
  CHECK((valueOf(Type::i64) * 0.5).type() == Type::f32);
  CHECK((valueOf(Type::i32) < 0.5).node().operands[0].type() == Type::f32);
}

TEST_CASE("numbers of every C++ type are operands") {
  const Tile x = valueOf(Type::f32);
  for (const Tile &y : {x + 1, x + 1L, x + 1LL, x + 1u, x + 1ul, x + 1.0f, x + 1.0})
    CHECK(y.node().operands[1].node().literal == 1);
  CHECK((valueOf(Type::boolean) & true).type() == Type::boolean);
}

TEST_CASE("functions of integers compute in f32") {
  CHECK(exp(valueOf(Type::i32)).type() == Type::f32);
  CHECK(log(valueOf(Type::f16)).type() == Type::f32);
  CHECK(sqrt(valueOf(Type::f64)).type() == Type::f64);
  CHECK(abs(valueOf(Type::i64)).type() == Type::i64);
  CHECK((-valueOf(Type::bf16)).type() == Type::f32);
}

TEST_CASE("division of integers is floor division") {
  CHECK((valueOf(Type::i32) / 2).node().op == Op::floorDiv);
  CHECK((valueOf(Type::i32) % 2).node().op == Op::mod);
  CHECK((valueOf(Type::f32) / 2).node().op == Op::div);
  CHECK((valueOf(Type::i32) / 2.0).node().op == Op::div);
}

TEST_CASE("a choice keeps 16 bits, unless a bare number does not fit") {
  const Tile condition = q < 3, half = valueOf(Type::f16);
  CHECK(where(condition, half, half).type() == Type::f16);
  CHECK(where(condition, half, 0).type() == Type::f16);
  CHECK(where(condition, half, -infinity).type() == Type::f16);
  CHECK(where(condition, half, -1e6).type() == Type::f32);
  CHECK(where(condition, half, valueOf(Type::bf16)).type() == Type::f32);
  CHECK(where(condition, condition, false).type() == Type::boolean);
}

TEST_CASE("reductions and dots") {
  const Tile half = full(0, {q, k}, Type::f16), wide = full(0, {k}, Type::f64);
  CHECK(sum(half, over(k)).type() == Type::f32);
  CHECK(max(full(0, {k}, Type::i32), over(k)).type() == Type::i32);
  CHECK(dot(half, half, over(k)).type() == Type::f32);
  CHECK(dot(half, half, over(k)).node().operands[0].type() == Type::f16);
  CHECK(dot(half, wide, over(k)).type() == Type::f64);
  CHECK(text(dot(half, wide, over(k))) == "f64[q]");
}

TEST_CASE("axes unite in order of declaration") {
  CHECK(text((index(k) - q)) == "i32[q, k]");
  CHECK(text(full(0, {k, q})) == "f32[q, k]");
  CHECK(text(extent(q)) == "i32");
}
