// The type in which an operation computes, and its operands in that type.
#pragma once
#include "tilewright/dsl/Tile.h"

namespace tw::detail {

/// The tile in another type: a bare number is rewritten, anything else is cast; the same type is left alone.
[[nodiscard]] Tile converted(const Tile &tile, Type type, Location where);

/// The type of arithmetic on two operands neither of which is a bool. A bare number takes the other's
/// type: a float's, or an integer's if it was written as an integer.
[[nodiscard]] Type commonType(const Tile &a, const Tile &b);

/// The type of a function such as exp: f64 stays, all else computes in f32.
[[nodiscard]] Type functionType(Type type);

} // namespace tw::detail
