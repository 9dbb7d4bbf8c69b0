// What every choice of a schedule asks: inner widths, registers there are, and the refusal where nothing fits.
#include "Fitting.h"
#include "NestedSchedules.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tw {
namespace {

constexpr std::int64_t widestInner = 256;          // one dot instruction's width
constexpr std::int64_t widestNested = 1 << 20;     // of an axis that is walked in chunks
constexpr std::int64_t widestSplit = 1024;         // of one along which results are computed in passes

} // namespace

void setInner(Schedule &schedule, const Program &program, const Roles &roles, const Target &target, const std::map<std::string, std::int64_t> &extents) {
  for (std::size_t i = 0; i < roles.axes.size(); ++i) {
    if (roles.roles[i] != Role::inner)
      continue;
    const std::string &name = roles.axes[i].name();
    auto given = extents.find(name);
    if (given == extents.end())
      throw std::invalid_argument(fmt::format("program '{}' needs the length of axis '{}', which lies whole inside a tile: give it in BuildOptions::extents", program.name, name));
    const bool isWide = given->second > widestInner, nests = isWide && canNest(program, roles, roles.axes[i]), splits = isWide && !nests && canSplit(program, roles.axes[i]);
    const std::int64_t widestWhole = target.isHost() ? widestSplit : widestInner;
    if (const std::int64_t widest = nests ? widestNested : splits ? widestSplit : widestWhole; given->second < 1 || given->second > widest)
      throw std::invalid_argument(fmt::format("axis '{}' of program '{}' is {} long; an axis that {} may be 1 to {} long{}", name, program.name, given->second,
                                              nests ? "is walked in chunks" : splits ? "is computed in passes" : "lies whole inside a tile", widest,
                                              isWide && !nests && !splits && !target.isHost() ? fmt::format(", as a product on {} is: sums run along it and a dot contracts it, so that neither passes nor chunks walk it; make it shorter, "
                                                                                                            "or build for the CPU (target 'host'), which takes {}", target.title, widestSplit) : ""));
    if (nests || (splits && !target.isHost())) {      // a CPU's tile may be as wide
      const int width = nests ? chunkWidth(target) : partWidth(given->second, widestInner);
      schedule.nested[name] = {width, nests ? 0 : 1};
      schedule.widths[name] = int((given->second + width - 1) / width * width);
      continue;
    }
    int length = int(given->second);
    schedule.widths[name] = target.isHost() ? length : (length + 7) / 8 * 8;
  }
}

bool anyNode(const Program &program, const Roles &roles, const std::function<bool(const Node &)> &has) {
  std::set<const Node *> seen;
  std::function<bool(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    return seen.insert(&node).second && (has(node) || std::any_of(node.operands.begin(), node.operands.end(), visit));
  };
  return std::any_of(roles.fold->yields.begin(), roles.fold->yields.end(), visit) ||
         std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return visit(store.value); });
}

bool masksDiffer(const Program &program, const Roles &roles) {
  return anyNode(program, roles, [&](const Node &node) { return node.type == Type::boolean && contains(node.axes, roles.block()) && contains(node.axes, roles.fold->axis); });
}

bool sharesOut(const std::vector<TileUse> &uses, const Schedule &schedule) {
  constexpr int rowsOfWarpgroup = 64, fewestColumns = 32;
  return std::all_of(uses.begin(), uses.end(), [&](const TileUse &use) {
    if (use.kind != TileUse::Kind::outbox)
      return true;
    const int rows = schedule.widths.at(use.axes.front().name()), columns = schedule.widths.at(use.axes.back().name()), own = columns / schedule.warpgroups;
    if (schedule.warpgroups < 2)      // to carry the sums by two is faster
      return false;
    return rows == rowsOfWarpgroup * schedule.warpgroups || (rows == rowsOfWarpgroup && own * schedule.warpgroups == columns && (own % 64 == 0 || (own == fewestColumns && columns == 64)));
  });
}

int registersAvailable(const Target &target, const Schedule &schedule) {
  constexpr int granule = 8;
  const int threads = 128 * schedule.warpgroups, all = threads + (schedule.producer ? 128 : 0);
  int shared = target.registersPerSM / schedule.blocksPerSM / all;
  if (target.isHopper())   // the producer hands on what it does not need
    shared = (shared / granule * granule * all - 128 * (schedule.warpgroups >= 3 ? 32 : 40)) / threads;
  return std::min(target.registersPerThreadMax, shared) / granule * granule;
}

std::invalid_argument fitsNothing(const Program &program, const Target &target, const Schedule &schedule, const Footprint &smallest) {
  bool memory = smallest.sharedBytes > target.sharedBytesPerBlock;
  const int whole = findTarget(target.name).sharedBytesPerBlock;   // without a limit that was asked for
  return std::invalid_argument(fmt::format(
      "program '{}' fits no schedule on {}: the smallest tiles need {} {}, there are {}{}; make an inner axis shorter{}", program.name, target.title,
      memory ? smallest.sharedBytes : smallest.registersPerThread, memory ? "bytes of shared memory a block" : "registers a thread",
      memory ? target.sharedBytesPerBlock : registersAvailable(target, schedule),
      memory && target.sharedBytesPerBlock < whole ? fmt::format(", which is the limit asked for: the GPU has {}", whole) : "",
      memory && target.sharedBytesPerBlock < whole && smallest.sharedBytes <= whole ? fmt::format(", or the limit at least {}", smallest.sharedBytes) : ""));
}

} // namespace tw
