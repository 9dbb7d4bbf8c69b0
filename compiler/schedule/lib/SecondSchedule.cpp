// By the cost model, whose errors the first schedule gets the benefit of.
#include "tilewright/schedule/SecondSchedule.h"
#include "Fitting.h"
#include "Footprint.h"
#include "ListedMasks.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/CostModel.h"
#include <array>

namespace tw {
namespace {

/// What must be predicted to be gained: below that, what was measured is within the model's error (docs/performance.md).
constexpr double leastGain = 1.05;
/// And for a kernel to be worth building.
constexpr double leastGainOfBuild = 1.1;
/// Of two warpgroups with wide tiles beside three with narrow ones. What a mask costs a tile is the same in the model whatever its width, so that it takes two for
/// some 9 % faster than they are where masks cut tiles.
constexpr double leastGainOfTwo = 1.035, leastGainOfTwoUnderMasks = 1.1;

/// How much longer the first takes.
double gainOf(const Program &program, const Target &target, const Schedule &first, const Schedule &second, const LaunchShape &shape) {
  const auto found = estimates(program, std::array{first, second}, target, shape);
  return found[1].seconds > 0 ? found[0].seconds / found[1].seconds : 1;
}

/// A launch of so many points of every free axis, so long in every direction that a build leaves open.
LaunchShape shapeOf(const Roles &roles, const std::map<std::string, std::int64_t> &innerExtents, std::int64_t length) {
  constexpr std::int64_t frees = 24;
  LaunchShape shape;
  for (const Axis &axis : roles.axes) {
    const auto inner = innerExtents.find(axis.name());
    const Role role = roles.of(axis);
    shape.extents[axis.name()] = inner != innerExtents.end() ? inner->second : role == Role::free ? frees : role == Role::point ? 1 : length;
  }
  return shape;
}

} // namespace

std::optional<Schedule> secondSchedule(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents, const Schedule &first) {
  if (!target.isHopper() || !first.nested.empty() || !first.overlap)
    return {};
  const Roles roles = rolesOf(program, first.block);
  if (mayListTiles(roles))   // how much of it is visited no lengths tell
    return {};
  const auto uses = tileUses(program, roles);
  // Three blocks of one warpgroup each: what one of them waits for as an item begins and ends, the others work under.
  constexpr int rowsOfWarpgroup = 64, blocks = 3;
  Schedule second = first;
  second.warpgroups = 1;
  second.widths[second.block] = rowsOfWarpgroup;
  second.blocksPerSM = blocks;
  second.turns = false;
  if (first.widths.at(first.block) <= rowsOfWarpgroup)
    return {};
  double most = leastGainOfBuild;
  std::optional<Schedule> best;
  auto consider = [&](const Schedule &schedule) {
    const Footprint taken = footprint(uses, schedule, target);
    if (taken.sharedBytes > target.sharedBytesOfBlock(schedule.blocksPerSM) || taken.registersPerThread > registersAvailable(target, schedule))
      return;
    for (std::int64_t length : {512, 1024})
      if (const double gain = gainOf(program, target, first, schedule, shapeOf(roles, innerExtents, length)); gain > most) {
        most = gain;
        best = schedule;
      }
  };
  const std::string &foldAxis = roles.fold->axis.name();
  for (int fold : {128, 64})
    for (int stages : {3, 2})
      for (int buffers : {2, 1}) {
        second.widths[foldAxis] = fold;
        second.stages = stages;
        second.blockBuffers = buffers;
        consider(second);
      }
  // Where three warpgroups share narrow steps: two with wide ones, less of which is waste at ends and under masks.
  constexpr int wide = 128;
  if (!best && first.warpgroups == 3 && first.widths.at(foldAxis) < wide) {
    second.warpgroups = 2;
    second.widths[second.block] = 2 * rowsOfWarpgroup;
    second.widths[foldAxis] = wide;
    second.blocksPerSM = 1;
    second.stages = 2;
    for (int buffers : {2, 1}) {
      second.blockBuffers = buffers;
      consider(second);
    }
  }
  return best;
}

bool prefersSecond(const Program &program, const Target &target, const Schedule &first, const Schedule &second, const LaunchShape &shape) {
  const double least = second.warpgroups == 1 ? leastGain : masksDiffer(program, rolesOf(program, first.block)) ? leastGainOfTwoUnderMasks : leastGainOfTwo;
  return gainOf(program, target, first, second, shape) > least;
}

} // namespace tw
