// Random numbers by coordinates.
#include "Fail.h"
#include "Promotion.h"

namespace tw {

Tile random(Operand seed, std::vector<Operand> coordinates) {
  using detail::fail;
  if (!isInteger(seed.tile.type()))
    fail(seed.where, "random() takes an integer for a seed, got " + text(seed.tile) + "; give a scalar(\"seed\", Type::i64) or an element of an i64 tensor",
         {detail::madeHere(seed.tile, "the seed")});
  Axes axes = seed.tile.axes();
  std::vector<Tile> operands{detail::converted(seed.tile, Type::i64, seed.where)};
  int words = 0;
  for (const Operand &coordinate : coordinates) {
    if (!isInteger(coordinate.tile.type()))
      fail(seed.where, "random() takes integers for coordinates, got " + text(coordinate.tile) + "; cast() it to Type::i32", {detail::madeHere(coordinate.tile, "the coordinate")});
    axes = unite(axes, coordinate.tile.axes());
    words += bytes(coordinate.tile.type()) / 4;
    operands.push_back(coordinate.tile);
  }
  if (words < 1 || words > 4)
    fail(seed.where, "random() takes coordinates of one to four words of 32 bits, got " + std::to_string(words) + "; an i32 is one, an i64 two");
  return makeTile({.op = Op::random, .type = Type::f32, .axes = std::move(axes), .where = seed.where, .operands = std::move(operands)});
}

} // namespace tw
