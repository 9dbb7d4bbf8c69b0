// Integers bit by bit.
#include "Bits.h"
#include "Fail.h"
#include "Promotion.h"

namespace tw {
namespace detail {

Tile bits(Op op, const Operand &a, const Operand &b) {
  for (const Operand *x : {&a, &b})
    if (!isInteger(x->tile.type()))
      fail(a.where, std::string(name(op)) + " of " + text(a.tile) + " and " + text(b.tile) + " needs integers; combine conditions with &, | and !, cast() floats to Type::i32",
           {madeHere(x->tile, "the operand")});
  const Type type = commonType(a.tile, b.tile);
  return makeTile({.op = op, .type = type, .axes = unite(a.tile.axes(), b.tile.axes()), .where = a.where,
                   .operands = {converted(a.tile, type, a.where), converted(b.tile, type, b.where)}});
}

} // namespace detail

namespace {

/// The type is that of what is shifted, whatever that of the places.
Tile shift(Op op, const Operand &a, const Operand &places) {
  for (const Operand *x : {&a, &places})
    if (!isInteger(x->tile.type()))
      detail::fail(a.where, std::string(name(op)) + " of " + text(a.tile) + " by " + text(places.tile) + " needs integers; cast() floats to Type::i32",
                   {detail::madeHere(x->tile, "the operand")});
  const Type type = a.tile.type();
  const Node &by = places.tile.node();
  const int most = bytes(type) * 8 - 1;
  if (by.op == Op::constant && !(by.literal >= 0 && by.literal <= most))
    detail::fail(places.where, std::string(name(op)) + " of " + text(a.tile) + " by " + std::to_string(static_cast<long long>(by.literal)) + " places; shift by 0 to " + std::to_string(most));
  return makeTile({.op = op, .type = type, .axes = unite(a.tile.axes(), places.tile.axes()), .where = a.where,
                   .operands = {a.tile, detail::converted(places.tile, type, places.where)}});
}

} // namespace

Tile operator~(Operand a) { return detail::bits(Op::bitXor, a, Operand(-1, a.where)); }
Tile operator<<(Operand a, Operand places) { return shift(Op::shiftLeft, a, places); }
Tile operator>>(Operand a, Operand places) { return shift(Op::shiftRight, a, places); }

Tile testBit(Operand a, Operand bit) {
  auto at = [&](auto x) { return Operand(x, a.where); };
  return at(at(a >> bit) & at(1)) != at(0);
}

} // namespace tw
