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

/// A function to whole numbers: of an integer the integer itself.
Tile whole(Op op, const Operand &a) { return isInteger(a.tile.type()) ? a.tile : function(op, a); }

} // namespace

Tile exp(Operand a) { return function(Op::exp, a); }
Tile exp2(Operand a) { return function(Op::exp2, a); }
Tile expm1(Operand a) { return function(Op::expm1, a); }
Tile log(Operand a) { return function(Op::log, a); }
Tile log2(Operand a) { return function(Op::log2, a); }
Tile log1p(Operand a) { return function(Op::log1p, a); }
Tile tanh(Operand a) { return function(Op::tanh, a); }
Tile tanhApproximate(Operand a) { return function(Op::tanhApproximate, a); }
Tile sigmoid(Operand a) { return function(Op::sigmoid, a); }
Tile sqrt(Operand a) { return function(Op::sqrt, a); }
Tile rsqrt(Operand a) { return function(Op::rsqrt, a); }
Tile sin(Operand a) { return function(Op::sin, a); }
Tile cos(Operand a) { return function(Op::cos, a); }
Tile erf(Operand a) { return function(Op::erf, a); }
Tile floor(Operand a) { return whole(Op::floor, a); }
Tile ceil(Operand a) { return whole(Op::ceil, a); }
Tile round(Operand a) { return whole(Op::round, a); }
Tile trunc(Operand a) { return whole(Op::trunc, a); }

// ---- made of others, at the user's line
Tile gelu(Operand a) {
  auto at = [&](auto x) { return Operand(x, a.where); };
  Tile wave = erf(at(at(a.tile) * at(0.70710678118654752)));
  return at(at(0.5) * a) * at(at(1.0) + at(wave));
}

/// max(a, 0) + log1p(e^-|a|): no overflow.
Tile softplus(Operand a) {
  auto at = [&](auto x) { return Operand(x, a.where); };
  return at(max(a, at(0.0))) + at(log1p(at(exp(at(-at(abs(a)))))));
}

Tile sign(Operand a) {
  auto at = [&](auto x) { return Operand(x, a.where); };
  return where(at(a > at(0)), at(1), at(where(at(a < at(0)), at(-1), a)));
}

Tile isnan(Operand a) { return a != a; }
Tile isfinite(Operand a) { return Operand(abs(a), a.where) < Operand(infinity, a.where); }

Tile clamp(Operand a, Operand low, Operand high) { return min(Operand(max(a, low), a.where), high); }

Tile cast(Operand a, Type type) {
  if (a.tile.type() == type)
    return a.tile;
  return makeTile({.op = Op::cast, .type = type, .axes = a.tile.axes(), .where = a.where, .operands = {a.tile}});
}

} // namespace tw
