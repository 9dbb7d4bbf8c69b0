// Terms of a launch's time, and what they add up to.
#include "tilewright/schedule/CostModel.h"
#include "Fitting.h"
#include "Footprint.h"
#include "Makespan.h"
#include "StepCost.h"
#include "Traffic.h"
#include "Visits.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>

namespace tw {
namespace {

/// Of the peak rate of memory, what streams of bulk copies reach.
constexpr double dramShare = 0.9;

/// Everything about a program that no schedule changes, and visits by tile widths.
class Model {
public:
  Model(const Program &program, const Target &target, const LaunchShape &shape, std::string_view block, std::vector<CountedVisit> counted = {})
      : target(target), shape(shape), counted(std::move(counted)), roles(rolesOf(program, block)), uses(tileUses(program, roles)), work(workOf(program, roles)), lengths(axisLengths(program, shape)),
        visits(program, roles, lengths, shape) {
    if (target.isHost())
      throw std::invalid_argument(fmt::format("the cost model is of GPUs; target '{}' is this machine's CPU: take a GPU such as h200", target.name));
  }

  Estimate estimate(const Schedule &schedule) {
    for (const Axis &axis : roles.axes)
      if (roles.isTiled(axis) && !schedule.widths.count(axis.name()))
        throw std::invalid_argument(fmt::format("the schedule gives no width of at least 1 for axis '{0}'; give one: {0}=64. The schedule: {1}", axis.name(), print(schedule)));
    Estimate e;
    addResources(e, schedule);
    const Items &items = itemsOf(schedule);
    const Coefficients &k = coefficientsOf(target);
    const double frees = product(Role::free), rounds = product(Role::point) * visits.shareOfPoints();
    e.items = std::int64_t(frees) * items.tiles;
    if (e.items == 0)
      return e;
    e.slots = std::min<std::int64_t>(e.items, std::int64_t(target.sms) * schedule.blocksPerSM);
    e.waves = double(e.items) / double(e.slots);
    e.visited = items.foldTiles > 0 ? items.mean.all / items.foldTiles : 0;
    e.partial = items.mean.all > 0 ? items.mean.partial / items.mean.all : 0;

    const double steps = double(e.items) * rounds * items.mean.all;
    for (const DotWork &dot : work.dots)
      e.flop += 2 * points(dot.axes, schedule) * steps;
    e.exponentials = total(work.exponentials, schedule) * steps;
    const bool grouped = visits.differ() && frees > 1;
    const Traffic traffic = trafficOf(work, roles, lengths, shape, schedule, target, {double(items.tiles), frees, rounds, items.mean.all, items.foldTiles, double(e.slots), grouped});
    e.compulsoryBytes = traffic.compulsory;
    e.dramBytes = traffic.dram;
    e.l2Bytes = traffic.l2;

    const StepCost step = stepCost(work, schedule, target, traffic.copied);
    const double clock = target.sustainedClockHz, perSM = 1 / (clock * target.sms);   // seconds of the GPU for a cycle of one multiprocessor
    e.tensorSeconds = step.tensor * steps * perSM;
    e.exponentialSeconds = step.exponentials * steps * perSM;
    e.arithmeticSeconds = (step.operations + (step.masking + k.partialCycles) * e.partial) * steps * perSM;
    e.sharedSeconds = step.shared * steps * perSM;
    e.l2Seconds = traffic.l2 / (target.l2BytesPerSecond * clock / target.clockHz);
    e.memorySeconds = traffic.dram / (target.dramBytesPerSecond * dramShare);

    auto duration = [&](const Visit &visit) { return itemCycles(step, schedule, target, rounds * visit.all, rounds * visit.partial) / clock; };
    std::vector<Run> runs;
    const double span = spanOf(items, frees, grouped, schedule, e.slots, duration, runs);
    double busy = 0;
    for (const Run &run : runs)
      busy += double(run.items) * run.duration;
    e.balance = span > 0 ? std::min(1.0, busy / (span * double(e.slots))) : 1;
    e.latencySeconds = k.launchSeconds + e.waves / e.balance * (step.fill + rounds * items.mean.all * k.stepCycles) / clock;
    constexpr double sharpness = 4;
    e.seconds = k.launchSeconds + std::pow(std::pow(span, sharpness) + std::pow(e.memorySeconds, sharpness), 1 / sharpness);

    const std::array<double, 7> terms{e.memorySeconds, e.l2Seconds, e.tensorSeconds, e.exponentialSeconds, e.arithmeticSeconds, e.sharedSeconds, e.latencySeconds};
    e.bound = Bound(std::max_element(terms.begin(), terms.end()) - terms.begin());
    e.intensity = e.dramBytes > 0 ? e.flop / e.dramBytes : 0;
    e.ridge = target.tensorFlopsF16 / target.dramBytesPerSecond;
    e.flopPerSecond = e.flop / e.seconds;
    e.rooflineFlopPerSecond = std::min(target.tensorFlopsF16, e.intensity * target.dramBytesPerSecond);
    return e;
  }

private:
  /// What the tiles of the block axis visit. Of many, some, evenly between the first and the last.
  struct Items {
    std::int64_t tiles = 0;
    double foldTiles = 0;
    std::vector<Visit> sampled;
    std::vector<std::int64_t> counts;   // tiles that each of them stands for
    Visit mean;
  };

  const Target &target;
  const LaunchShape &shape;
  const std::vector<CountedVisit> counted;
  const Roles roles;
  const std::vector<TileUse> uses;
  const Work work;
  const std::map<std::string, std::int64_t> lengths;
  const Visits visits;
  std::map<std::pair<int, int>, Items> known;

  double product(Role role) const {
    double n = 1;
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.roles[i] == role)
        n *= double(lengths.at(roles.axes[i].name()));
    return n;
  }

  void addResources(Estimate &e, const Schedule &schedule) const {
    const Footprint taken = footprint(uses, schedule, target);
    e.sharedBytes = taken.sharedBytes;
    e.registersPerThread = taken.registersPerThread;
    e.registersAvailable = registersAvailable(target, schedule);
    constexpr int bytesStoredAndLoaded = 8;
    e.spilledBytes = bytesStoredAndLoaded * std::max(0, e.registersPerThread - e.registersAvailable);
    const int producer = schedule.producer ? target.isHopper() ? 128 : 32 : 0;
    e.occupancy = double(128 * schedule.warpgroups + producer) * schedule.blocksPerSM / target.threadsPerSM;
  }

  const Items &itemsOf(const Schedule &schedule) {
    const int width = schedule.widths.at(roles.block().name()), foldWidth = schedule.widths.at(roles.fold->axis.name());
    auto [place, isNew] = known.try_emplace({width, foldWidth});
    Items &items = place->second;
    if (!isNew)
      return items;
    const std::int64_t length = lengths.at(roles.block().name()), foldLength = lengths.at(roles.fold->axis.name());
    items.tiles = (length + width - 1) / width;
    items.foldTiles = double((foldLength + foldWidth - 1) / foldWidth);
    auto add = [&](const Visit &visit, std::int64_t tiles) {
      items.sampled.push_back(visit);
      items.counts.push_back(tiles);
      items.mean.all += visit.all * double(tiles) / double(items.tiles);
      items.mean.partial += visit.partial * double(tiles) / double(items.tiles);
    };
    if (!counted.empty()) {
      if (std::int64_t(counted.size()) != items.tiles)
        throw std::invalid_argument(fmt::format("visits were counted for {} tiles of axis '{}'; the schedule makes {}", counted.size(), roles.block().name(), items.tiles));
      for (const CountedVisit &visit : counted)
        add({visit.all, visit.partial}, 1);
      return items;
    }
    constexpr std::int64_t mostSampled = 64;
    const std::int64_t samples = visits.differ() ? std::min(items.tiles, mostSampled) : std::min<std::int64_t>(items.tiles, 1);
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t begin = items.tiles * s / samples, end = items.tiles * (s + 1) / samples, middle = begin + (end - begin) / 2;
      add(visits.of(middle * width, std::min(length, (middle + 1) * width), foldWidth), end - begin);
    }
    return items;
  }

  /// Items in the order in which kernels take them: the heaviest tile first, all free points of a group for each; or point by point.
  double spanOf(const Items &items, double frees, bool grouped, const Schedule &schedule, std::int64_t slots, const std::function<double(const Visit &)> &duration, std::vector<Run> &runs) const {
    auto add = [&](std::int64_t times) {
      for (std::size_t i = items.sampled.size(); i-- > 0;)
        runs.push_back({items.counts[i] * times, duration(items.sampled[i])});
    };
    constexpr double mostPoints = 256;   // further ones are like these
    if (grouped || items.sampled.size() < 2) {
      add(std::int64_t(frees));
    } else {
      const double shown = std::min(frees, mostPoints);
      for (double point = 0; point < shown; ++point)
        add(std::max<std::int64_t>(1, std::llround(frees / shown)));
    }
    return makespan(runs, slots, schedule.drawn);
  }
};

} // namespace

std::string_view name(Bound bound) {
  constexpr std::array<std::string_view, 7> names{"memory", "L2", "tensor", "exponentials", "arithmetic", "shared memory", "latency"};
  return names[std::size_t(bound)];
}

Estimate estimate(const Program &program, const Schedule &schedule, const Target &target, const LaunchShape &shape, const std::vector<CountedVisit> &counted) {
  return Model(program, target, shape, schedule.block, counted).estimate(schedule);
}

std::vector<Estimate> estimates(const Program &program, std::span<const Schedule> schedules, const Target &target, const LaunchShape &shape) {
  std::vector<Estimate> all;
  if (schedules.empty())
    return all;
  Model model(program, target, shape, schedules.front().block);
  for (const Schedule &schedule : schedules)
    all.push_back(model.estimate(schedule));
  return all;
}

std::vector<RankedSchedule> rank(const Program &program, const Target &target, const LaunchShape &shape, std::size_t most) {
  std::vector<RankedSchedule> ranked;
  Model model(program, target, shape, {});
  for (Schedule &schedule : searchSpace(program, target, innerExtents(program, shape)))
    ranked.push_back({std::move(schedule), {}});
  for (RankedSchedule &each : ranked)
    each.estimate = model.estimate(each.schedule);
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedSchedule &a, const RankedSchedule &b) { return a.estimate.seconds < b.estimate.seconds; });
  if (most && ranked.size() > most)
    ranked.resize(most);
  return ranked;
}

const RankedSchedule &modelChoice(std::span<const RankedSchedule> ranked, const Schedule &unchanged) {
  const auto known = std::find_if(ranked.begin(), ranked.end(), [&](const RankedSchedule &each) { return each.schedule == unchanged; });
  return known != ranked.end() && ranked.front().estimate.seconds > known->estimate.seconds * (1 - leastPredictedGain) ? *known : ranked.front();
}

} // namespace tw
