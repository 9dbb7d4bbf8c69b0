// Bytes by tensor: what is asked for, what is there, and what of it a cache of this size keeps.
#include "Traffic.h"
#include <algorithm>
#include <cmath>

namespace tw {
namespace {

/// Of the cache's size, what it keeps of tiles that are used again: the rest goes to what streams through, and to second copies where a cache has two
/// halves. Fitted to bytes that ncu counted on an H200 (docs/cost-model.md).
constexpr double keptShare = 0.43;
/// Walking round and round more than the cache keeps finds nothing of it, from this much more on.
constexpr double cyclicRamp = 0.4;
/// Of the cache's size, what launches give to the fold operands of a group (device::Plan).
constexpr double groupShare = 0.64;

double elementsOf(const Access &access, const std::map<std::string, std::int64_t> &lengths, const LaunchShape &shape, double frees) {
  double n = 1;
  if (auto given = shape.tensors.find(access.tensor); given != shape.tensors.end()) {
    for (std::int64_t length : given->second)
      n *= double(length);
    return n;
  }
  for (const Axis &axis : access.tiled)
    n *= double(lengths.at(axis.name()));
  return n * (access.isStore ? frees : 1);
}

} // namespace

Traffic trafficOf(const Work &work, const Roles &roles, const std::map<std::string, std::int64_t> &lengths, const LaunchShape &shape, const Schedule &schedule, const Target &target, const Traversal &t) {
  Traffic traffic;
  const double items = t.blockTiles * t.frees, seen = t.foldTiles > 0 ? std::min(1.0, t.visits / t.foldTiles * 2) : 0;   // a triangle of tiles sees every one
  double foldCompulsory = 0, foldAsked = 0;
  for (const Access &access : work.accesses) {
    const double there = elementsOf(access, lengths, shape, t.frees) * access.elementBytes;
    double asked = access.elementBytes * items;
    for (const Axis &axis : access.tiled)
      asked *= std::min<double>(schedule.widths.at(axis.name()), double(lengths.at(axis.name())));
    // An operand that is walked in chunks does not stay: every step reads it anew.
    const bool inChunks = std::any_of(access.tiled.begin(), access.tiled.end(), [&](const Axis &axis) { return schedule.nested.count(axis.name()) > 0; });
    if (!access.ofFold && (access.isStore || !inChunks)) {
      // Of a tensor without the block axis all items of a free point read the same.
      traffic.l2 += access.isStore ? there : std::max(asked, 0.0);
      traffic.compulsory += access.isStore ? there : std::min(there, asked);
      continue;
    }
    double step = access.elementBytes;
    for (const Axis &axis : access.tiled)
      step *= schedule.widths.at(axis.name());
    traffic.copied += step;
    const bool alsoOfBlock = contains(access.tiled, roles.block());
    asked *= t.visits * t.rounds;
    traffic.l2 += asked;
    const double read = std::min(asked, there * (alsoOfBlock ? std::min(1.0, seen) : 1.0));
    traffic.compulsory += read;
    if (!alsoOfBlock) {
      foldCompulsory += read;
      foldAsked += asked;
    }
  }
  traffic.dram = traffic.compulsory;
  if (foldCompulsory <= 0 || t.frees <= 0 || t.visits <= 0)
    return traffic;
  // Fold operands that are in use at once: those of the free points whose items run. Items that start together walk the fold side by side, and read its
  // tiles once for all of them; later ones find what the cache kept.
  const double bytesOfPoint = foldCompulsory / t.frees, kept = keptShare * double(target.l2Bytes);
  const double group = t.grouped ? std::clamp(std::floor(groupShare * double(target.l2Bytes) / std::max(bytesOfPoint, 1.0)), 1.0, t.frees) : std::min(t.frees, 1 + t.slots / t.blockTiles);
  const double sideBySide = std::clamp(t.slots / group, 1.0, t.blockTiles);
  const double passes = t.blockTiles / sideBySide * std::min(1.0, foldAsked / (foldCompulsory * t.blockTiles));
  const double load = group * bytesOfPoint / std::max(kept, 1.0);
  // Items of a group are at different places, and find the share that is kept; items that walk together have dropped what they come back to.
  const double miss = load <= 1 ? 0 : t.grouped ? 1 - 1 / load : std::min(1.0, (load - 1) / cyclicRamp);
  traffic.dram += miss * std::max(0.0, passes - 1) * foldCompulsory;
  return traffic;
}

} // namespace tw
