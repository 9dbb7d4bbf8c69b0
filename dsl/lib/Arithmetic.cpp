// Arithmetic operators: both operands are brought to one type, axes unite.
#include "Fail.h"
#include "Promotion.h"

namespace tw {
namespace {

using detail::fail;

void refuseCondition(const Operand &a, Op op) {
  if (a.tile.type() == Type::boolean)
    fail(a.where, std::string(name(op)) + " of a condition " + text(a.tile) + "; choose between two numbers by it: where(condition, a, b)",
         {detail::madeHere(a.tile, "the condition")});
}

Tile inType(Op op, Type type, const Operand &a, const Operand &b) {
  return makeTile({.op = op, .type = type, .axes = unite(a.tile.axes(), b.tile.axes()), .where = a.where,
                   .operands = {detail::converted(a.tile, type, a.where), detail::converted(b.tile, type, b.where)}});
}

Tile arithmetic(Op op, const Operand &a, const Operand &b) {
  refuseCondition(a, op);
  refuseCondition(b, op);
  return inType(op, detail::commonType(a.tile, b.tile), a, b);
}

Tile integerDivision(Op op, const Operand &a, const Operand &b) {
  refuseCondition(a, op);
  refuseCondition(b, op);
  for (const Operand *x : {&a, &b})
    if (isFloat(x->tile.type()))
      fail(a.where, std::string(name(op)) + " of " + text(a.tile) + " and " + text(b.tile) + " needs integers; cast() the floats to Type::i32 first",
           {detail::madeHere(x->tile, "the float")});
  return arithmetic(op, a, b);
}

/// An operation on one value, in the type of arithmetic on it.
Tile unary(Op op, const Operand &a) {
  refuseCondition(a, op);
  Type type = arithmeticType(a.tile.type(), a.tile.type());
  return makeTile({.op = op, .type = type, .axes = a.tile.axes(), .where = a.where, .operands = {detail::converted(a.tile, type, a.where)}});
}

Tile power(const Operand &a, const Operand &exponent) {
  refuseCondition(a, Op::pow);
  refuseCondition(exponent, Op::pow);
  return inType(Op::pow, detail::functionType(detail::commonType(a.tile, exponent.tile)), a, exponent);
}

} // namespace

Tile operator+(Operand a, Operand b) { return arithmetic(Op::add, a, b); }
Tile operator-(Operand a, Operand b) { return arithmetic(Op::sub, a, b); }
Tile operator*(Operand a, Operand b) { return arithmetic(Op::mul, a, b); }
Tile min(Operand a, Operand b) { return arithmetic(Op::min, a, b); }
Tile max(Operand a, Operand b) { return arithmetic(Op::max, a, b); }
Tile floorDiv(Operand a, Operand b) { return integerDivision(Op::floorDiv, a, b); }
Tile mod(Operand a, Operand b) { return integerDivision(Op::mod, a, b); }
Tile operator%(Operand a, Operand b) { return integerDivision(Op::mod, a, b); }
Tile operator-(Operand a) { return unary(Op::neg, a); }
Tile abs(Operand a) { return unary(Op::abs, a); }

Tile pow(Operand a, Operand exponent) {
  const Node &node = exponent.tile.node();
  for (int n : {2, 3, 4})
    if (node.op == Op::constant && node.weak && node.literal == n && isFloat(a.tile.type())) {
      Tile square = a * a;
      return n == 2 ? square : Operand(square, a.where) * (n == 3 ? a : Operand(square, a.where));
    }
  return power(a, exponent);
}

Tile operator/(Operand a, Operand b) {
  bool integers = isInteger(a.tile.type()) && isInteger(b.tile.type());
  return integers ? integerDivision(Op::floorDiv, a, b) : arithmetic(Op::div, a, b);
}

} // namespace tw
