// The grid of all fields of a schedule, without what does not fit and what another one is always at least as good as.
#include "tilewright/schedule/SearchSpace.h"
#include "Fitting.h"
#include "Footprint.h"
#include "ListedMasks.h"
#include "tilewright/schedule/SecondSchedule.h"
#include <algorithm>
#include <limits>

namespace tw {
namespace {

class Space {
public:
  Space(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents)
      : program(program), target(target), roles(rolesOf(program)), uses(tileUses(program, roles)), itemsDiffer(masksDiffer(program, roles)), lists(!target.isHost() && mayListTiles(roles)),
        exchanges(!target.isHost() && std::any_of(uses.begin(), uses.end(), [](const TileUse &use) { return use.kind == TileUse::Kind::exchange; })),
        hasRing(std::any_of(uses.begin(), uses.end(), [](const TileUse &use) { return use.kind == TileUse::Kind::foldOperand || use.kind == TileUse::Kind::vector; })) {
    start.block = roles.block().name();
    setInner(start, program, roles, target, innerExtents);
    start.stabilised = !target.isHost();
    start.overlap = start.turns = false;
  }

  std::vector<Schedule> all() {
    const Schedule usual = defaultSchedule(program, target, lengthsOfInner());
    if (!usual.nested.empty())   // of these the list of what fits is the search space
      return fittingSchedules(program, target, lengthsOfInner(), std::numeric_limits<std::size_t>::max());
    overlaps = usual.overlap;
    if (target.isHost())
      addHost();
    else if (target.isHopper())
      addWithCopyEngine();
    else
      addWithoutCopyEngine();
    // What a build takes by default is a choice too, though the bound on products in flight, an estimate, may speak against it.
    if (std::find(found.begin(), found.end(), usual) == found.end())
      found.push_back(usual);
    if (auto second = secondSchedule(program, target, lengthsOfInner(), usual); second && std::find(found.begin(), found.end(), *second) == found.end())
      found.push_back(std::move(*second));
    return std::move(found);
  }

private:
  static constexpr int rowsOfWarpgroup = 64, widestFold = 256, foldStep = 16;
  static constexpr int mostRows = 256;       // of a copy
  static constexpr int mostInFlight = 224;   // registers of a warpgroup alone with which the assembler still leaves products in flight, measured

  const Program &program;
  const Target &target;
  const Roles roles;
  const std::vector<TileUse> uses;
  const bool itemsDiffer, lists, exchanges, hasRing;
  Schedule start;
  bool overlaps = true;    // on a GPU with a copy engine
  std::vector<Schedule> found;

  std::map<std::string, std::int64_t> lengthsOfInner() const {
    std::map<std::string, std::int64_t> lengths;
    for (const auto &[axis, width] : start.widths)
      lengths[axis] = width;
    return lengths;
  }

  Schedule with(int warpgroups, int rows, int fold, int stages) const {
    Schedule schedule = start;
    schedule.warpgroups = warpgroups;
    schedule.widths[schedule.block] = rows;
    schedule.widths[roles.fold->axis.name()] = fold;
    schedule.stages = stages;
    return schedule;
  }

  bool fits(const Schedule &schedule) const {
    const int threads = 128 * schedule.warpgroups + (schedule.producer ? target.isHopper() ? 128 : 32 : 0);
    if (threads > target.threadsPerBlock || threads * schedule.blocksPerSM > target.threadsPerSM)
      return false;
    if (schedule.widths.at(schedule.block) > mostRows || (target.isHopper() && !sharesOut(uses, schedule)))
      return false;
    const Footprint taken = footprint(uses, schedule, target);
    const int registers = target.isHopper() && schedule.warpgroups == 1 ? std::min(registersAvailable(target, schedule), mostInFlight) : registersAvailable(target, schedule);
    return taken.sharedBytes <= target.sharedBytesOfBlock(schedule.blocksPerSM) && taken.registersPerThread <= registers;
  }

  void addHost() {
    for (int block : {64, 32, 16, 8})
      for (int fold : {64, 32, 16, 8}) {
        Schedule schedule = with(1, block, fold, 1);
        if (footprint(uses, schedule, target).sharedBytes <= target.sharedBytesPerBlock || (block == 8 && fold == 8 && found.empty()))
          found.push_back(schedule);
      }
  }

  /// Who issues dots when, and in which order items come: of that only overlap takes registers.
  void addOrders(Schedule schedule, bool mayOverlap) {
    for (bool overlap : {true, false})
      for (bool turns : {false, true})
        for (bool drawn : {true, false}) {
          // A warpgroup alone has nobody to take turns with; without masks items are alike, and drawing costs consumers that copy for themselves registers.
          // With a copy engine overlapping was better throughout, or is not, by what a step multiplies: as the default schedule has it. Turns are for what
          // overlaps.
          if ((overlap && !mayOverlap) || (overlap != overlaps && target.isHopper()) || (turns && !overlap) || (turns && schedule.warpgroups < 2) || (turns && !schedule.producer) || (drawn && !schedule.producer && !itemsDiffer))
            continue;
          schedule.overlap = overlap;
          schedule.turns = turns;
          schedule.drawn = drawn;
          if (!overlap || fits(schedule))   // a step's products beside the next one's
            addExchanges(schedule);
        }
  }

  /// How far apart warpgroups may be that make for each other what steps add to tensors.
  void addExchanges(Schedule schedule) {
    for (const auto &[delayed, ahead] : {std::pair(false, false), {true, false}, {false, true}, {true, true}})
      for (int slots : {1, 2})
        for (int outboxes : {1, 2}) {
          if ((delayed && slots < 2) || (ahead && schedule.stages < 2) || ((delayed || ahead || slots > 1 || outboxes > 1) && !exchanges))
            continue;
          schedule.delayed = delayed;
          schedule.ahead = ahead;
          schedule.exchangeBuffers = slots;
          schedule.outboxBuffers = outboxes;
          if (!exchanges || (slots == 1 && outboxes == 1) || fits(schedule))
            found.push_back(schedule);
        }
  }

  void addWithCopyEngine() {
    for (int blocksPerSM : {1, 2, 3})
      for (int warpgroups : {3, 2, 1})
        for (int fold = widestFold; fold >= foldStep; fold -= foldStep)
          for (int stages : {4, 3, 2, 1}) {
            if (!hasRing && stages > 2)   // nothing to buffer
              continue;
            Schedule schedule = with(warpgroups, rowsOfWarpgroup * warpgroups, fold, stages);
            schedule.overlap = overlaps;
            schedule.blocksPerSM = blocksPerSM;
            // A second block buffer costs nothing where it fits: the blocks' shared memory is theirs. But for what is exchanged there may be better use for it.
            for (int buffers : {2, 1}) {
              schedule.blockBuffers = buffers;
              if (!fits(schedule))
                continue;
              addOrders(schedule, true);
              if (!exchanges)
                break;
            }
          }
  }

  void addWithoutCopyEngine() {
    for (bool producer : {false, true})
      for (int blocksPerSM : {1, 2, 3, 4})
        for (int warpgroups : {4, 3, 2, 1})
          for (int rows : {2 * rowsOfWarpgroup, rowsOfWarpgroup})
            for (int fold = widestFold / 2; fold >= foldStep; fold -= foldStep)
              for (int stages : {3, 2, 1}) {
                if (!hasRing && stages > 2)   // nothing to buffer
                  continue;
                if (!producer && lists)   // who lists the tiles that a mask keeps is the producer
                  continue;
                if (!producer && stages < 2)   // a step's tiles are read while the next one's come
                  continue;
                Schedule schedule = with(warpgroups, rows * warpgroups, fold, stages);
                schedule.producer = producer;
                schedule.blocksPerSM = blocksPerSM;
                if (fits(schedule))
                  addOrders(schedule, producer);
              }
  }
};

} // namespace

std::vector<Schedule> searchSpace(const Program &program, const Target &target, const std::map<std::string, std::int64_t> &innerExtents) {
  return Space(program, target, innerExtents).all();
}

} // namespace tw
