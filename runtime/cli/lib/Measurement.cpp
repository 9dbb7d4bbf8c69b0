#include "Measurement.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/kernel/Tune.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/Target.h"
#include "tilewright/tune/Records.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {

const tuning::Standing *Measurement::of(const Schedule &schedule) const {
  const auto found = std::find_if(standings.begin(), standings.end(),
                                  [&](const tuning::Standing &standing) { return standing.schedule == schedule && standing.rounds; });
  return found == standings.end() ? nullptr : &*found;
}

std::optional<Measurement> measurementOf(const Program &program, const BuildOptions &options, const Schedule &unchanged) {
  if (cuda::nvrtcAbsence().empty())
    if (const auto record = findRecord(program, options); record && !record->runs.empty())
      return Measurement{fmt::format("{}, tuned here", record->runs.back().processor), tuning::standings(*record)};
  const Target &target = findTarget(options.target);
  if (options.sharedLimit && *options.sharedLimit < target.sharedBytesPerBlock)
    return std::nullopt;
  const tuning::ShippedSchedule *shipped =
      tuning::findShipped(target.name, print(program), shapeClass(program, {options.shapes, {}, options.extents}));
  if (!shipped)
    return std::nullopt;
  Measurement measurement{fmt::format("{}, from a shipped table", target.title), {}};
  measurement.standings.push_back({.schedule = shipped->schedule,
                                   .seconds = shipped->seconds,
                                   .ratio = shipped->seconds / shipped->unchangedSeconds,
                                   .rounds = tuning::leastRounds});
  measurement.standings.push_back({.schedule = unchanged, .seconds = shipped->unchangedSeconds, .rounds = tuning::leastRounds});
  return measurement;
}

Json measurementJson(const Measurement &measurement) {
  Json all = Json::array();
  for (const tuning::Standing &standing : measurement.standings)
    if (standing.rounds)
      all.push_back({{"schedule", print(standing.schedule)}, {"seconds", standing.seconds}, {"ratio", standing.ratio}});
    else
      all.push_back({{"schedule", print(standing.schedule)}, {"refused", standing.refused}});
  return {{"where", measurement.where}, {"schedules", all}};
}

} // namespace tw::cli
