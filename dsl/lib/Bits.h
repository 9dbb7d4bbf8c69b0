// Operations on the bits of integers, for the operators that conditions have too.
#pragma once
#include "tilewright/dsl/Tile.h"

namespace tw::detail {

/// bitAnd, bitOr, bitXor of two integers.
[[nodiscard]] Tile bits(Op op, const Operand &a, const Operand &b);

} // namespace tw::detail
