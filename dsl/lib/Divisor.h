// What a program's results are divided by, so that they do not depend on a stabiliser.
#pragma once
#include "HeldFold.h"

namespace tw::detail {

/// With the stabiliser held at c, each sum scales with e^(−n·c), n its degree, and results are quotients by `divisor`, of degree 1. Held at
/// c = base + log(divisor) it is 1.
///
/// A program may go on from another base than c, as softmax with a sink does: b = max(c, sink), whose results are quotients by
/// total · e^(c − b) + e^(sink − b). They depend neither on c nor, b taken for itself, on b: so b is c again, and the divisor total + e^(sink − c).
struct Divisor {
  std::vector<int> degrees;      // of each slot; 0: the stabiliser is nothing to it
  std::vector<Tile> values;      // of the stores, with the base taken for c
  Tile divisor;                  // in these
  Tile base, atBase;             // as the program has them: c or b, and the divisor by it
  Tile logarithm;                // base + log(atBase), with the base as the program writes it where that is
};

/// Nothing where results are of no such form. `slot` is the stabiliser's; `values` are those of the stores, over the fold's placeholders.
[[nodiscard]] std::optional<Divisor> findDivisor(Algebra &algebra, const HeldFold &held, std::size_t slot, const std::vector<Tile> &values);

} // namespace tw::detail
