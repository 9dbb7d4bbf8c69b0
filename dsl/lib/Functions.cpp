// Functions of one value, computed in f32 (f64 for an f64).
#include "Fail.h"
#include "Promotion.h"

namespace tw {
namespace {

Tile function(Op op, const Operand &a) {
  if (a.tile.type() == Type::boolean)
    detail::fail(a.where, std::string(name(op)) + " of a condition " + text(a.tile) + "; choose between two numbers by it: where(condition, a, b)",
                 {detail::madeHere(a.tile, "the condition")});
  Type type = detail::functionType(a.tile.type());
  return makeTile({.op = op, .type = type, .axes = a.tile.axes(), .where = a.where, .operands = {detail::converted(a.tile, type, a.where)}});
}

} // namespace

Tile exp(Operand a) { return function(Op::exp, a); }
Tile exp2(Operand a) { return function(Op::exp2, a); }
Tile log(Operand a) { return function(Op::log, a); }
Tile tanh(Operand a) { return function(Op::tanh, a); }
Tile sigmoid(Operand a) { return function(Op::sigmoid, a); }
Tile sqrt(Operand a) { return function(Op::sqrt, a); }

Tile cast(Operand a, Type type) {
  if (a.tile.type() == type)
    return a.tile;
  return makeTile({.op = Op::cast, .type = type, .axes = a.tile.axes(), .where = a.where, .operands = {a.tile}});
}

} // namespace tw
