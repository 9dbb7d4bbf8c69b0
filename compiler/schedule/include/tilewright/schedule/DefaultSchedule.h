// A schedule from a target's SRAM and registers, without measuring.
#pragma once
#include "tilewright/dsl/Program.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/schedule/Target.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// What a schedule takes of a processor.
struct Footprint {
  std::int64_t sharedBytes = 0;       // tiles and rings of one block; on the host, the working set of one item
  int registersPerThread = 0;         // of a consumer thread, estimated; 0 on the host
};
[[nodiscard]] Footprint footprint(const Program &program, const Schedule &schedule, const Target &target);

/// The widest tiles that fit the target's shared memory and registers (the level-2 cache on the host).
/// `innerExtents` gives the length of every inner axis (a head dim), by name.
/// Throws ProgramError for a program without a fitting block axis, std::invalid_argument for an inner
/// axis whose length is not given or out of range, and for a program that fits no schedule, saying which
/// resource, how much is needed by the smallest tiles and how much there is.
[[nodiscard]] Schedule defaultSchedule(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents);

/// The same and what would come after it, at most `most`: what is left to try where the assembler's code for it would be slow.
[[nodiscard]] std::vector<Schedule> fittingSchedules(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents, std::size_t most);

} // namespace tw
