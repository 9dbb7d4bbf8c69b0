#include "tilewright/dsl/Normalizers.h"

namespace tw {

std::tuple<Tile, Tile> Softmax::start(const Axes &rows, Type type) const {
  return {full(-infinity, rows, type), full(0, rows, type)};
}

/// A row in which no key is left so far has top −inf; base is then 0, so that −inf − base stays −inf and
/// every weight is exactly 0. A NaN score makes top NaN, and with it the row.
Softmax::Step Softmax::step(Tile top, Tile total, Tile score) const {
  Tile next = named("top", stabiliser(max(top, max(score, over(axis)))));
  Tile base = named("base", where(-infinity < next, next, 0.0));
  Tile weights = named("weights", exp(score - base));
  Tile shrink = named("shrink", exp(top - base));
  return {next, named("total", total * shrink + sum(weights, over(axis))), weights, shrink};
}

/// Asks whether the total is zero and not whether it is positive: a NaN total spoils its row.
Tile Softmax::finish(Tile total, Tile accumulated) const { return where(total == 0.0, 0.0, accumulated / total); }

Tile Softmax::logSumExp(Tile top, Tile total) const { return top + log(total); }

} // namespace tw
