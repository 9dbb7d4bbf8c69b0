// Reductions and contractions: one axis is consumed.
#include "Fail.h"
#include "Promotion.h"

namespace tw {
namespace {

using detail::fail;

Tile reduction(Op op, const char *what, const Operand &a, const Over &over) {
  if (a.tile.type() == Type::boolean)
    fail(a.where, std::string(what) + " of a condition " + text(a.tile) + "; count or choose by it: where(condition, 1, 0)", {detail::madeHere(a.tile, "the condition")});
  if (!contains(a.tile.axes(), over.axis))
    fail(a.where, std::string(what) + " of " + text(a.tile) + " over '" + over.axis.name() + "': the value has no such axis; reduce over one of " + text(a.tile.axes()),
         {detail::madeHere(a.tile), {over.axis.where(), "the axis is declared here"}});
  Type type = arithmeticType(a.tile.type(), a.tile.type());
  return makeTile({.op = op, .type = type, .axes = without(a.tile.axes(), over.axis), .where = a.where,
                   .operands = {detail::converted(a.tile, type, a.where)}, .consumed = {over.axis}});
}

} // namespace

Tile max(Operand a, Over over) { return reduction(Op::reduceMax, "max", a, over); }
Tile min(Operand a, Over over) { return reduction(Op::reduceMin, "min", a, over); }
Tile sum(Operand a, Over over) { return reduction(Op::reduceSum, "sum", a, over); }

Tile dot(Operand a, Operand b, Over over) {
  for (const Operand *x : {&a, &b}) {
    if (!contains(x->tile.axes(), over.axis))
      fail(a.where, "dot over '" + over.axis.name() + "': operand " + text(x->tile) + " has no such axis; both operands of a dot run along the contracted axis",
           {detail::madeHere(x->tile, "the operand"), {over.axis.where(), "the axis is declared here"}});
    if (!isFloat(x->tile.type()))
      fail(a.where, "dot over '" + over.axis.name() + "': operand " + text(x->tile) + " is no float; cast(x, Type::f32) first",
           {detail::madeHere(x->tile, "the operand")});
  }
  const bool wide = a.tile.type() == Type::f64 || b.tile.type() == Type::f64;
  auto operand = [&](const Operand &x) { return wide ? detail::converted(x.tile, Type::f64, x.where) : x.tile; };
  return makeTile({.op = Op::dot, .type = wide ? Type::f64 : Type::f32, .axes = without(unite(a.tile.axes(), b.tile.axes()), over.axis), .where = a.where,
                   .operands = {operand(a), operand(b)}, .consumed = {over.axis}});
}

} // namespace tw
