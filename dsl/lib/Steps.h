// How a step of the library is made.
#pragma once
#include "tilewright/dsl/Modifiers.h"

namespace tw::detail {

/// A step of this library. What is wrong in it is wrong at the line on which the user asked for it: complaints at lines of the
/// file that makes the step are moved there.
[[nodiscard]] Modifier step(std::string label, ScoreFunction apply, Location where, bool setsScale = false, Location here = Location::current());
[[nodiscard]] Modifier maskStep(std::string label, MaskFunction keep, Location where, Location here = Location::current());
[[nodiscard]] OutputModifier outputStep(std::string label, OutputFunction apply, Location where, Location here = Location::current());

/// What query and key coordinates differ by where the last query is to meet the last key.
[[nodiscard]] inline Tile offset(const At &at) { return at.keys - at.queries; }
/// The key that stands where the query does, bottom-right aligned.
[[nodiscard]] inline Tile position(const At &at) { return at.query + offset(at); }

} // namespace tw::detail
