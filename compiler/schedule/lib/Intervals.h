// Interval arithmetic over the operations of the DSL.
#pragma once
#include "Visits.h"
#include "tilewright/dsl/Tile.h"

namespace tw {

/// What an operation makes of intervals; everything where no rule is known. Truth is 0 or 1.
[[nodiscard]] Interval intervalOf(const Node &node, const std::vector<Interval> &operands);

} // namespace tw
