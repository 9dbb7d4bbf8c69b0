// A schedule beside the rest of its search space, and bytes over sizes of shared memory.
#pragma once
#include "Measurement.h"
#include "Output.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/IoAnalysis.h"
#include "tilewright/schedule/Target.h"
#include <optional>

namespace tw::cli {

struct Explanation {
  std::string program;
  std::map<std::string, std::int64_t> lengths;
  std::string block, fold;               // names of axes
  Schedule schedule;
  bool isDefault = false;
  Estimate estimate;
  std::size_t place = 0;                 // among `ranked` by prediction, from 1; 0: not among them
  std::vector<RankedSchedule> ranked;    // the whole search space
  std::vector<RankedSchedule> next;      // the best three with other tiles
  std::optional<RankedSchedule> second;  // beside the default schedule: that of the program's other kernel
  bool takesSecond = false;              // this launch does
  std::optional<Measurement> measured;   // what is known of such lengths
};
/// Of the default schedule, where none is given. `target` is as the limit leaves it.
[[nodiscard]] Explanation explain(const Program &program, const Target &target, const LaunchShape &shape, const std::optional<Schedule> &given, const std::optional<std::int64_t> &sharedLimit);
[[nodiscard]] std::string explanationText(const Explanation &explanation, const Target &target);
[[nodiscard]] Json explanationJson(const Explanation &explanation, bool all);

/// What one size of shared memory makes of a program.
struct SramPoint {
  std::string block, fold;               // names of axes
  IoPoint io;                            // everything in it, no cache
  std::optional<Schedule> schedule;      // the default one within that limit
  std::optional<Estimate> estimate;
  std::string refusal;                   // where there is none
};
[[nodiscard]] std::vector<SramPoint> sweepSram(const Program &program, const Target &target, const LaunchShape &shape);
[[nodiscard]] std::string sweepText(const std::vector<SramPoint> &points);
[[nodiscard]] Json sweepJson(const std::vector<SramPoint> &points);

} // namespace tw::cli
