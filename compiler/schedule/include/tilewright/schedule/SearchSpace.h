// All schedules of a program that a target can launch.
#pragma once
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/schedule/Target.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// Every schedule that fits shared memory, registers, warps and copies of a GPU; `withSharedLimit` bounds the first. In a fixed order, each
/// once. Pruned without compiling: what would spill more than a little, or could never be better than another one listed, is left out.
/// The default schedule is among them, and the second one where there is one. On the host, the schedules whose tiles fit its caches.
/// `innerExtents` as in defaultSchedule(), which throws for the same reasons.
[[nodiscard]] std::vector<Schedule> searchSpace(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents);

} // namespace tw
