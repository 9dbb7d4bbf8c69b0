// Two kernels of one program: which second one is worth building, and which of them a launch takes.
#pragma once
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/Target.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace tw {

/// Of one program, the most that a build makes.
inline constexpr int mostKernels = 2;

/// A schedule of three small blocks a multiprocessor for launches that `first`, the default one, suits badly: those with few items, or short ones, which begin and end
/// all the time, and whose tiles are mostly waste at ends and under masks. Where three warpgroups share narrow steps and such blocks do not fit, one of two
/// warpgroups with wide ones. Nothing where that does not fit, where the cost model promises too little of it at the
/// lengths for which it is meant, and on GPUs without a copy engine, whose default blocks are small. Throws as defaultSchedule() does.
[[nodiscard]] std::optional<Schedule> secondSchedule(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents, const Schedule &first);

/// Whether a launch takes the second kernel. It depends on nothing but what is given here: equal launches take the same one, in whatever order they
/// come. Throws as axisLengths() does.
[[nodiscard]] bool prefersSecond(const Program &program, const Target &target, const Schedule &first, const Schedule &second, const LaunchShape &shape);

} // namespace tw
