// How scores become weights: structs of functions on values.
#pragma once
#include "tilewright/dsl/Tile.h"
#include <tuple>

namespace tw {

/// The running state of a softmax over one axis. A row with no key left gives zeros and lse −inf.
struct Softmax {
  Axis axis;
  struct Step {
    Tile top, total;        // the new running maximum and sum, over the rows
    Tile weights;           // of this tile
    Tile shrink;            // factor for what was summed before
  };
  /// The start of maximum and sum, over the rows' axes.
  [[nodiscard]] std::tuple<Tile, Tile> start(const Axes &rows, Type type = Type::f32) const;
  [[nodiscard]] Step step(Tile top, Tile total, Tile score) const;
  [[nodiscard]] Tile finish(Tile total, Tile accumulated) const;
  [[nodiscard]] Tile logSumExp(Tile top, Tile total) const;
};

} // namespace tw
