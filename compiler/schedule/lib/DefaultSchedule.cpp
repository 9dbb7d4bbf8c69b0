// The widest tiles that fit, tried in a fixed order of preference.
#include "tilewright/schedule/DefaultSchedule.h"
#include "Fitting.h"
#include "Footprint.h"
#include "ListedMasks.h"
#include "NestedSchedules.h"
#include "StepCost.h"
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <vector>

namespace tw {
namespace {

struct Candidate {
  int warpgroups, block, fold, stages;
  bool producer = true;
  int blocksPerSM = 1;
  bool turns = true;       // of three warpgroups; two find their rhythm by themselves
};

/// Is a step bound by its exponentials, which take as long as its dots and longer than other arithmetic? Then three warpgroups keep their units busier than two
/// do, though their tiles are half as wide along the fold. Measured for steps with a stabiliser (docs/performance.md), where two with wide ones fit, for a second
/// kernel: short launches take that.
bool exponentialsLead(const Program &program, const Roles &roles, const std::vector<TileUse> &uses, const Target &target, Schedule schedule) {
  constexpr int rows = 128, fold = 128;
  if (!anyNode(program, roles, [](const Node &node) { return node.op == Op::stabiliser; }))
    return false;
  schedule.warpgroups = 2;
  schedule.stages = 2;
  schedule.stabilised = schedule.overlap = true;
  schedule.widths[schedule.block] = rows;
  schedule.widths[roles.fold->axis.name()] = fold;
  const Footprint taken = footprint(uses, schedule, target);
  if (taken.sharedBytes > target.sharedBytesOfBlock(1) || taken.registersPerThread > registersAvailable(target, schedule))
    return false;
  const StepCost cost = stepCost(workOf(program, roles), schedule, target, 0);
  return cost.tensor > 0 && cost.exponentials >= cost.tensor && cost.exponentials >= cost.operations;
}

/// Does a step multiply tiles more than once before it accumulates? Then one dot runs under the work on another's result, which is worth more than
/// to run those that accumulate a step behind. A step with a stabiliser is tried first and needs all its dots for that.
bool multipliesOften(const Program &program, const Roles &roles, const std::vector<TileUse> &uses) {
  auto count = [&](TileUse::Kind kind) { return std::count_if(uses.begin(), uses.end(), [&](const TileUse &use) { return use.kind == kind; }); };
  return count(TileUse::Kind::product) > 1 && count(TileUse::Kind::accumulator) > 0 &&
         !anyNode(program, roles, [](const Node &node) { return node.op == Op::stabiliser; });
}

/// Wide blocks first: a block's operands are read once for all its rows. Then two stages, so that copies run under the work; then wide folds.
std::vector<Candidate> candidates(const Target &target, bool oneByOne, bool multiplies, bool exponentialsLead) {
  std::vector<Candidate> list;
  if (target.isHost()) {
    for (int block : {64, 32, 16, 8})
      for (int fold : {64, 32, 16, 8})
        list.push_back({1, block, fold, 1});
    return list;
  }
  // Where each warp multiplies for itself, 32 rows a warp, no producer, and best two blocks beside each other, each working while the other waits. All
  // were measured on an H200 (docs/performance.md).
  if (!target.isHopper()) {
    for (int fold : {128, 64, 32})
      list.push_back({1, 128, fold, 2, false, 2});
    for (int rows : {128, 64})
      for (int fold : {64, 32})
        list.push_back({2, 2 * rows, fold, 2, false, 1});
    // Where a block may have little shared memory: 16 rows a warp, and more blocks. Where even two stages are too many, a producer copies what one of
    // them has left.
    for (int blocks : {3, 2}) {
      list.push_back({1, 64, 32, 2, false, blocks});
      list.push_back({1, 64, 32, 1, true, blocks});
    }
  }
  // Where nothing is multiplied, threads wait for memory: many of them, with little each.
  if (target.isHopper() && !multiplies)
    for (int fold : {64, 32, 16})
      list.push_back({2, 128, fold, 2, true, 2});
  // Where dots follow each other one by one, the widest steps that fit (docs/performance.md, Backward).
  if (oneByOne) {
    for (int stages : {2, 1})
      for (int fold : {128, 112, 96, 80, 64, 48, 32, 16})
        list.push_back({2, 128, fold, stages});
    for (int fold : {128, 64, 32})           // below that, programs that carry less take over
      list.push_back({1, 64, fold, 1});
    return list;
  }
  // Three warpgroups where their tiles are narrow enough to stay wide in the other direction.
  for (int stages : {3, 2})
    list.push_back({3, 192, target.isHopper() ? 128 : 64, stages});
  if (exponentialsLead)
    list.push_back({3, 192, 64, 2, true, 1, false});
  // Widths between 128 and 64 were measured, and were slower than 64 with a third stage where a mask cuts tiles, and no faster on the whole where none does
  // (docs/performance.md).
  for (int warpgroups : {2, 1})
    for (int stages : {2, 1})
      for (int fold : target.isHopper() ? std::vector{128, 64, 48, 32, 16} : std::vector{128, 64, 32, 16}) {
        if (target.isHopper() && fold == 64 && stages == 2)
          list.push_back({warpgroups, 64 * warpgroups, fold, 3});
        list.push_back({warpgroups, 64 * warpgroups, fold, stages});
      }
  return list;
}

/// With dots over the block axis one step behind, where there is memory for a second slot of what warpgroups exchange; that is worth more than a second
/// block buffer (docs/performance.md, Backward).
std::optional<Schedule> delayed(const std::vector<TileUse> &uses, Schedule schedule, const Target &target) {
  if (schedule.warpgroups < 2)
    return std::nullopt;
  schedule.delayed = true;
  schedule.exchangeBuffers = 2;
  for (; schedule.blockBuffers > 0; --schedule.blockBuffers)
    if (footprint(uses, schedule, target).sharedBytes <= target.sharedBytesOfBlock(schedule.blocksPerSM))
      return schedule;
  return std::nullopt;
}

/// Of a program with axes that are walked in chunks or computed in passes.
struct Nested {
  std::vector<Schedule> fitting;
  Schedule last;             // that was looked at, and what it takes
  Footprint smallest;
};

Nested nested(const Program &program, const std::vector<TileUse> &uses, const Roles &roles, const Target &target, const Schedule &start, std::size_t most) {
  Nested found;
  for (Schedule &schedule : nestedCandidates(roles, target, start)) {
    if (!found.fitting.empty() && found.fitting.back().widths == schedule.widths)
      continue;   // fewer slots take no fewer registers
    schedule.overlap = schedule.turns = schedule.stabilised = false;   // a step's chunks are gone when its numbers are known
    schedule.drawn = !target.isHost() && std::none_of(roles.axes.begin(), roles.axes.end(), [&](const Axis &axis) { return schedule.nested.contains(axis.name()) && canSplit(program, axis); });
    found.smallest = footprint(uses, schedule, target);
    found.last = schedule;
    if (found.smallest.sharedBytes <= target.sharedBytesOfBlock(1) && found.smallest.registersPerThread <= registersAvailable(target, schedule))
      found.fitting.push_back(schedule);
    if (found.fitting.size() == most)
      break;
  }
  return found;
}

std::vector<Schedule> fittingNested(const Program &program, const std::vector<TileUse> &uses, const Roles &roles, const Target &target, const Schedule &start, std::size_t most) {
  Nested found = nested(program, uses, roles, target, start, most);
  if (found.fitting.empty() && target.isHost())
    return {found.last};        // a CPU runs what outgrows its cache too
  if (found.fitting.empty())
    throw fitsNothing(program, target, found.last, found.smallest);
  return found.fitting;
}

/// How else the axes may be walked of which no tile of their whole length fits: in chunks where dots contract them, in passes where nothing does, or both.
std::vector<Schedule> inParts(Schedule schedule, const Program &program, const Roles &roles, const Target &target) {
  schedule.producer = true;
  schedule.blockBuffers = schedule.blocksPerSM = 1;
  auto walked = [&](Schedule from, auto may, int width, int stages) {
    for (std::size_t i = 0; i < roles.axes.size(); ++i) {
      const std::string &name = roles.axes[i].name();
      if (roles.roles[i] != Role::inner || from.widths.at(name) <= width || !may(roles.axes[i]))
        continue;
      from.nested[name] = {width, stages};
      from.widths[name] = (from.widths.at(name) + width - 1) / width * width;
    }
    return from;
  };
  constexpr int passWidth = 128;
  const auto nests = [&](const Axis &axis) { return canNest(program, roles, axis); };
  const auto splits = [&](const Axis &axis) { return canSplit(program, axis); };
  const Schedule chunks = walked(schedule, nests, chunkWidth(target), 0);
  std::vector<Schedule> ways;
  for (const Schedule &way : {chunks, walked(schedule, splits, passWidth, 1), walked(chunks, splits, passWidth, 1)})
    if (!way.nested.empty() && std::find(ways.begin(), ways.end(), way) == ways.end())
      ways.push_back(way);
  return ways;
}

} // namespace

Schedule defaultSchedule(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents) {
  return fittingSchedules(program, target, innerExtents, 1).front();
}

std::vector<Schedule> fittingSchedules(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents, std::size_t most) {
  std::vector<Schedule> fitting;
  Roles roles = rolesOf(program);
  Schedule schedule;
  schedule.block = roles.block().name();
  setInner(schedule, program, roles, target, innerExtents);
  const auto uses = tileUses(program, roles);
  const bool exchanges = std::any_of(uses.begin(), uses.end(), [](const TileUse &use) { return use.kind == TileUse::Kind::exchange; });
  if (exchanges && !target.isHost() && !schedule.nested.empty())
    throw std::invalid_argument(fmt::format("the steps of program '{}' add to a tensor and walk axis '{}' in chunks; on {} they do one of the two", program.name, schedule.nested.begin()->first, target.title));
  if (!schedule.nested.empty())
    return fittingNested(program, uses, roles, target, schedule, most);
  const bool itemsDiffer = masksDiffer(program, roles), lists = !target.isHost() && mayListTiles(roles);
  const bool oneByOne = target.isHopper() && multipliesOften(program, roles, uses);
  const bool multiplies = anyNode(program, roles, [](const Node &node) { return node.op == Op::dot; });
  const bool carries = !roles.fold->arguments.empty();
  if (exchanges && !target.isHost() && !target.isHopper())
    throw std::invalid_argument(fmt::format("the steps of program '{}' add to a tensor, which takes a copy engine that adds, and {} has none: carry the sums, in a program of its own for each", program.name, target.title));
  if (exchanges && !target.isHost() && !oneByOne)
    throw std::invalid_argument(fmt::format("the steps of program '{}' add to a tensor, which on {} is for steps that make two products at least, carry tiles and hold no stabiliser: carry the sums, in a program of its own for each", program.name,
                                            target.title));
  Footprint smallest;
  const bool overlaps = target.isHopper() && !oneByOne && multiplies && carries;             // elsewhere a warp waits for its own products
  for (const Candidate &c : candidates(target, oneByOne, multiplies, overlaps && exponentialsLead(program, roles, uses, target, schedule))) {
    if (lists && !c.producer)
      continue;                                // who lists is the producer
    schedule.overlap = overlaps;
    schedule.warpgroups = c.warpgroups;
    schedule.stages = c.stages;
    schedule.widths[schedule.block] = c.block;
    schedule.widths[roles.fold->axis.name()] = c.fold;
    schedule.blockBuffers = 1;
    schedule.producer = c.producer;
    schedule.blocksPerSM = c.blocksPerSM;
    if (exchanges && target.isHopper() && !sharesOut(uses, schedule))
      continue;
    smallest = footprint(uses, schedule, target);
    bool fits = smallest.sharedBytes <= target.sharedBytesOfBlock(c.blocksPerSM) && smallest.registersPerThread <= registersAvailable(target, schedule);
    if (fits && target.isHopper()) {       // the next item's tiles come while the last one's are read
      schedule.blockBuffers = 2;
      if (footprint(uses, schedule, target).sharedBytes > target.sharedBytesPerBlock)
        schedule.blockBuffers = 1;
    }
    if (fits || (target.isHost() && c.block == 8 && c.fold == 8)) {   // a CPU runs what outgrows its cache too
      schedule.stabilised = !target.isHost() && carries;
      schedule.drawn = !target.isHost() && ((c.producer && !exchanges) || itemsDiffer);   // else it would only cost consumers registers
      schedule.turns = target.isHopper() && c.warpgroups > 2 && c.turns;
      if (!fitting.empty() && fitting.back().widths == schedule.widths)
        continue;   // fewer stages take no fewer registers
      if (exchanges && target.isHopper())
        if (const std::optional<Schedule> behind = delayed(uses, schedule, target)) {
          fitting.push_back(*behind);
          if (fitting.size() == most)
            return fitting;
        }
      fitting.push_back(schedule);
      if (fitting.size() == most)
        return fitting;
    }
  }
  if (fitting.empty() && exchanges && smallest.sharedBytes == 0)
    throw std::invalid_argument(fmt::format("the steps of program '{}' add tiles to a tensor whose columns two warpgroups cannot share out on {}: make the axis 64, 128 or 256 long, or carry the sums, in a program of its own for each", program.name,
                                            target.title));
  if (fitting.empty() && !exchanges)
    for (const Schedule &way : inParts(schedule, program, roles, target)) {
      Nested found = nested(program, uses, roles, target, way, most);
      if (!found.fitting.empty())
        return found.fitting;
      schedule = found.last;
      smallest = found.smallest;
    }
  if (fitting.empty())
    throw fitsNothing(program, target, schedule, smallest);
  return fitting;
}

} // namespace tw
