// What every choice of a schedule asks: inner widths, registers there are, and the refusal where nothing fits.
#pragma once
#include "Footprint.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <functional>
#include <stdexcept>
#include <vector>

namespace tw {

/// Widths of inner axes: whole, padded to what one instruction copies and multiplies on a GPU; wider ones are walked in chunks where they can be.
void setInner(Schedule &schedule, const Program &program, const Roles &roles, const Target &target, const std::map<std::string, std::int64_t> &extents);

/// Does a node that the fold's step or a store is made of have the property?
[[nodiscard]] bool anyNode(const Program &program, const Roles &roles, const std::function<bool(const Node &)> &has);

/// Does a mask set rows apart, so that items may take unequally long? A condition on coordinates of the block axis and the fold axis together.
[[nodiscard]] bool masksDiffer(const Program &program, const Roles &roles);

/// Where steps add to a tensor: are a step's rows the warpgroups' own, or 64 that they share out by columns?
[[nodiscard]] bool sharesOut(const std::vector<TileUse> &uses, const Schedule &schedule);

/// Registers that a consumer thread may hold: the file shared out among the multiprocessor's threads, at most what one thread can name. It is given
/// out to four warps at a time, so that a producer's single warp takes as much as a warpgroup; on Hopper it is one, and gives most away.
[[nodiscard]] int registersAvailable(const Target &target, const Schedule &schedule);

/// Why a program has no schedule: `smallest` is what `schedule`, with the smallest tiles, takes.
[[nodiscard]] std::invalid_argument fitsNothing(const Program &program, const Target &target, const Schedule &schedule, const Footprint &smallest);

} // namespace tw
