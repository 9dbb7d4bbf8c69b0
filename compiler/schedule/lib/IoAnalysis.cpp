// A search over tile widths of the traffic term alone.
#include "tilewright/schedule/IoAnalysis.h"
#include "Footprint.h"
#include "Traffic.h"
#include "Visits.h"
#include <limits>

namespace tw {
namespace {

/// Bytes of all tiles that an item holds.
double heldBytes(const std::vector<TileUse> &uses, const Schedule &schedule) {
  double bytes = 0;
  for (const TileUse &use : uses)
    if (use.kind != TileUse::Kind::column)
      bytes += points(use.axes, schedule) * use.elementBytes;
  return bytes;
}

} // namespace

IoPoint leastTraffic(const Program &program, const LaunchShape &shape, std::int64_t sramBytes) {
  const Roles roles = rolesOf(program);
  const auto uses = tileUses(program, roles);
  const Work work = workOf(program, roles);
  const auto lengths = axisLengths(program, shape);
  const Visits visits(program, roles, lengths, shape);
  Schedule schedule;
  Target plain;   // no cache, one item at a time
  Traversal traversal;
  for (std::size_t i = 0; i < roles.axes.size(); ++i) {
    const std::int64_t length = lengths.at(roles.axes[i].name());
    if (roles.roles[i] == Role::inner)
      schedule.widths[roles.axes[i].name()] = int(length);
    if (roles.roles[i] == Role::free)
      traversal.frees *= double(length);
    if (roles.roles[i] == Role::point)
      traversal.rounds *= double(length);
  }
  traversal.rounds *= visits.shareOfPoints();
  const std::string block = roles.block().name(), fold = roles.fold->axis.name();
  const std::int64_t length = lengths.at(block), foldLength = lengths.at(fold);
  IoPoint best{sramBytes, 0, 0, std::numeric_limits<double>::infinity(), 0};
  for (int foldWidth = 1; foldWidth <= 256; foldWidth *= 2) {
    schedule.widths[fold] = foldWidth;
    auto fits = [&](std::int64_t width) {
      schedule.widths[block] = int(width);
      return heldBytes(uses, schedule) <= double(sramBytes);
    };
    if (!fits(1))
      break;
    std::int64_t low = 1, high = std::max<std::int64_t>(length, 1) + 1;   // the widest block that fits
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    schedule.widths[block] = int(low);
    const std::int64_t tiles = (length + low - 1) / low;
    traversal.blockTiles = double(tiles);
    traversal.foldTiles = double((foldLength + foldWidth - 1) / foldWidth);
    constexpr std::int64_t mostSampled = 64;
    const std::int64_t samples = std::min(tiles, visits.differ() ? mostSampled : 1);
    traversal.visits = 0;
    for (std::int64_t s = 0; s < samples; ++s) {
      const std::int64_t tile = (2 * s + 1) * tiles / (2 * samples);
      traversal.visits += visits.of(tile * low, std::min(length, (tile + 1) * low), foldWidth).all / double(samples);
    }
    const Traffic traffic = trafficOf(work, roles, lengths, shape, schedule, plain, traversal);
    if (traffic.l2 < best.bytes)
      best = {sramBytes, low, foldWidth, traffic.l2, traffic.compulsory};
  }
  return best;
}

} // namespace tw
