// Schedules of programs with an inner axis that is too wide to lie whole inside a tile.
#pragma once
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/schedule/Target.h"
#include <vector>

namespace tw {

/// May the axis be walked in chunks: does the fold's step contract it by dots, and nothing else run along it?
[[nodiscard]] bool canNest(const Program &program, const Roles &roles, const Axis &axis);

/// May what runs along the axis be computed in passes: does no dot and no reduction consume it?
[[nodiscard]] bool canSplit(const Program &program, const Axis &axis);

/// The elements of a chunk: what of both operands is copied at a time.
[[nodiscard]] int chunkWidth(const Target &target);

/// The elements of a part of an axis that is computed in passes: of as few as there can be where a part may be `widest` long, all alike.
[[nodiscard]] int partWidth(std::int64_t length, std::int64_t widest);

/// `start`, which walks axes in chunks (0 slots: to be chosen), with tiles and rings that may fit, the best first. Products on more rows and columns read each chunk
/// fewer times, so the largest that registers hold come first, then as many slots for chunks as memory has; at least two, to copy one while another is read.
[[nodiscard]] std::vector<Schedule> nestedCandidates(const Roles &roles, const Target &target, const Schedule &start);

}   // namespace tw
