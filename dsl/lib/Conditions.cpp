// Comparisons, logic and the choice by a condition.
#include "Bits.h"
#include "Fail.h"
#include "Promotion.h"
#include <cmath>

namespace tw {
namespace {

using detail::converted;
using detail::fail;

Tile condition(Op op, const Operand &a, const Operand &b, Type type) {
  return makeTile({.op = op, .type = Type::boolean, .axes = unite(a.tile.axes(), b.tile.axes()), .where = a.where,
                   .operands = {converted(a.tile, type, a.where), converted(b.tile, type, b.where)}});
}

Tile comparison(Op op, const Operand &a, const Operand &b) {
  const bool boolA = a.tile.type() == Type::boolean, boolB = b.tile.type() == Type::boolean;
  if (boolA && boolB && (op == Op::eq || op == Op::ne))
    return condition(op, a, b, Type::boolean);
  if (boolA || boolB) {
    const Operand &x = boolA ? a : b;
    fail(x.where, std::string(name(op)) + " of " + text(a.tile) + " and " + text(b.tile) + " compares a condition; combine conditions with &, | and !",
         {detail::madeHere(x.tile, "the condition")});
  }
  return condition(op, a, b, detail::commonType(a.tile, b.tile));
}

void needsCondition(const Operand &a, const char *what) {
  if (a.tile.type() != Type::boolean)
    fail(a.where, std::string(what) + " needs a condition, got " + text(a.tile) + "; compare it: x != 0", {detail::madeHere(a.tile)});
}

Tile logic(Op op, const char *what, const Operand &a, const Operand &b) {
  needsCondition(a, what);
  needsCondition(b, what);
  return condition(op, a, b, Type::boolean);
}

bool areIntegers(const Operand &a, const Operand &b) { return isInteger(a.tile.type()) && isInteger(b.tile.type()); }

/// Whether a bare number can stand in a 16-bit float without becoming infinite.
bool fits(double value, Type type) {
  double largest = type == Type::f16 ? 65504.0 : 3.3895313892515355e38;
  return !std::isfinite(value) || std::abs(value) <= largest;
}

/// The type of a choice: nothing is computed, so that two 16-bit branches stay 16 bits wide.
Type branchType(const Tile &a, const Tile &b) {
  if (a.type() == b.type())
    return a.type();
  const bool weakA = a.node().weak, weakB = b.node().weak;
  if (weakA != weakB) {
    const Tile &number = weakA ? a : b, &value = weakA ? b : a;
    if (isFloat(value.type()) && fits(number.node().literal, value.type()))
      return value.type();
  }
  return detail::commonType(a, b);
}

} // namespace

Tile operator<(Operand a, Operand b) { return comparison(Op::lt, a, b); }
Tile operator<=(Operand a, Operand b) { return comparison(Op::le, a, b); }
Tile operator>(Operand a, Operand b) { return comparison(Op::gt, a, b); }
Tile operator>=(Operand a, Operand b) { return comparison(Op::ge, a, b); }
Tile operator==(Operand a, Operand b) { return comparison(Op::eq, a, b); }
Tile operator!=(Operand a, Operand b) { return comparison(Op::ne, a, b); }
Tile operator&(Operand a, Operand b) { return areIntegers(a, b) ? detail::bits(Op::bitAnd, a, b) : logic(Op::logicalAnd, "&", a, b); }
Tile operator|(Operand a, Operand b) { return areIntegers(a, b) ? detail::bits(Op::bitOr, a, b) : logic(Op::logicalOr, "|", a, b); }
Tile operator^(Operand a, Operand b) { return areIntegers(a, b) ? detail::bits(Op::bitXor, a, b) : logic(Op::ne, "^", a, b); }

Tile operator!(Operand a) {
  needsCondition(a, "!");
  return makeTile({.op = Op::logicalNot, .type = Type::boolean, .axes = a.tile.axes(), .where = a.where, .operands = {a.tile}});
}

Tile where(Operand condition, Operand then, Operand otherwise) {
  needsCondition(condition, "where()");
  if ((then.tile.type() == Type::boolean) != (otherwise.tile.type() == Type::boolean))
    fail(condition.where, "where() chooses between " + text(then.tile) + " and " + text(otherwise.tile) + ", a condition and a number; make both the one or the other",
         {detail::madeHere(then.tile, "the first"), detail::madeHere(otherwise.tile, "the second")});
  Type type = branchType(then.tile, otherwise.tile);
  return makeTile({.op = Op::select, .type = type,
                   .axes = unite(condition.tile.axes(), unite(then.tile.axes(), otherwise.tile.axes())), .where = condition.where,
                   .operands = {condition.tile, converted(then.tile, type, then.where), converted(otherwise.tile, type, otherwise.where)}});
}

} // namespace tw
