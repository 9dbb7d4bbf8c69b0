#include "TuneCandidates.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/SearchSpace.h"
#include <algorithm>
#include <map>
#include <stdexcept>

namespace tw {
namespace {

/// Orders of work of the default tile that are predicted to take longer than the default one's by more than this come in their turn.
constexpr double mostBehind = 0.04;
/// Schedules of one tile, and of one width whatever its stages, that come before those of other widths: the model tells widths apart less well than it puts them in order, so that there
/// must be several among the first.
constexpr int mostOfTile = 2, mostOfWidths = 4;

/// The schedule without the order in which its work is done.
Schedule tileOf(Schedule schedule) {
  schedule.overlap = schedule.turns = schedule.drawn = schedule.delayed = schedule.ahead = false;
  schedule.blockBuffers = schedule.exchangeBuffers = schedule.outboxBuffers = 1;
  return schedule;
}

Schedule widthsOf(const Schedule &schedule) {
  Schedule widths = tileOf(schedule);
  widths.stages = 1;
  return widths;
}

} // namespace

std::vector<tuning::Candidate> candidatesFor(const ScheduleWanted &wanted, const Schedule &unchanged, const TuneOptions &how, const std::vector<Schedule> &without) {
  const LaunchShape shape = launchShapeOf(wanted);
  auto predicted = [&](const Schedule &schedule) {
    try {
      return wanted.target.isHost() ? 0.0 : estimate(wanted.program, schedule, wanted.target, shape).seconds;
    } catch (const std::invalid_argument &) { // of a schedule that was asked for, a width may be missing
      return 0.0;
    }
  };
  std::vector<tuning::Candidate> all{{unchanged, predicted(unchanged)}};
  auto add = [&](const Schedule &schedule, double seconds) {
    const bool isNew = std::none_of(all.begin(), all.end(), [&](const tuning::Candidate &known) { return known.schedule == schedule; }) && std::find(without.begin(), without.end(), schedule) == without.end();
    if (isNew)
      all.push_back({schedule, seconds});
    return isNew;
  };
  for (const Schedule &schedule : how.also)
    (void)add(schedule, predicted(schedule));
  if (all.size() >= how.candidates)
    return all;
  const std::size_t most = how.candidates * 3;
  if (wanted.target.isHost()) { // of which there is no model
    for (const Schedule &schedule : searchSpace(wanted.program, wanted.target, wanted.inner))
      if (all.size() < most)
        (void)add(schedule, 0);
    return all;
  }
  // The model tells tiles apart better than orders of work within one tile: of the default one's tile all orders come first, of others a few.
  const std::vector<RankedSchedule> ranking = rank(wanted.program, wanted.target, shape);
  const double behind = all.front().predictedSeconds * (1 + mostBehind);
  for (const RankedSchedule &ranked : ranking)
    if (tileOf(ranked.schedule) == tileOf(unchanged) && (behind == 0 || ranked.estimate.seconds <= behind))
      (void)add(ranked.schedule, ranked.estimate.seconds);
  std::map<std::string, int> ofTile, ofWidths;
  for (const RankedSchedule &ranked : ranking) {
    if (all.size() >= most)
      return all;
    int &tiles = ofTile[print(tileOf(ranked.schedule))], &widths = ofWidths[print(widthsOf(ranked.schedule))];
    if (tiles < mostOfTile && widths < mostOfWidths && add(ranked.schedule, ranked.estimate.seconds))
      ++tiles, ++widths;
  }
  for (const RankedSchedule &ranked : ranking)
    if (all.size() < most)
      (void)add(ranked.schedule, ranked.estimate.seconds);
  return all;
}

} // namespace tw
