// Fields of a schedule that do not go together on a GPU.
#include "ScheduleFields.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace tw {

/// A block has as many rows as its warpgroups own.
void requireWarpgroups(const Roles &roles, const Schedule &schedule, const Target &target) {
  constexpr int fewest = 64, most = 128;      // rows of a warpgroup
  for (std::size_t i = 0; i < roles.axes.size(); ++i) {
    const std::string axis = roles.axes[i].name();
    const auto width = schedule.widths.find(axis);
    if (roles.roles[i] != Role::block || width == schedule.widths.end() || width->second == fewest * schedule.warpgroups || (!target.isHopper() && width->second == most * schedule.warpgroups))
      continue;
    const std::string otherwise = width->second % fewest ? "" : fmt::format(" or warpgroups={}", width->second / fewest);
    throw CompileError(fmt::format("the schedule has {0}={1} and warpgroups={2}; a warpgroup owns {3} rows of a block{6}: take {0}={4}{5}. The schedule: {7}", axis, width->second, schedule.warpgroups,
                                   fewest, fewest * schedule.warpgroups, otherwise, target.isHopper() ? "" : fmt::format(", or {}", most), print(schedule)));
  }
}

/// Fields that say who copies, and what shares a multiprocessor.
static void requireCopies(const Schedule &schedule, const Target &target) {
  auto refuse = [&](const std::string &fields, const std::string &why, const std::string &cure) {
    throw CompileError(fmt::format("the schedule has {}: on {} {}; take {}. The schedule: {}", fields, target.title, why, cure, print(schedule)));
  };
  if (target.isHopper() && !schedule.producer)
    refuse("producer=no", "one thread copies by an engine of its own", "producer=yes");
  if (const int threads = 128 * (schedule.warpgroups + 1), most = std::max(1, target.threadsPerSM / threads); target.isHopper() && schedule.blocksPerSM > most)
    refuse(fmt::format("blocksPerSM={} and warpgroups={}", schedule.blocksPerSM, schedule.warpgroups), fmt::format("a multiprocessor runs {} threads, and a block has {}", target.threadsPerSM, threads),
           fmt::format("blocksPerSM={} or less", most));
  if (!schedule.nested.empty() && schedule.overlap)
    refuse("nested and overlap=yes", "chunks of a step come one after the other, and nothing else between them", "overlap=no");
  if (!schedule.nested.empty() && !schedule.producer)
    refuse("nested and producer=no", "chunks are copied further ahead than one step", "producer=yes");
  if (!schedule.producer && schedule.overlap)
    refuse("producer=no and overlap=yes", "a warp that copies for itself also waits for its own products", "overlap=no or producer=yes");
  if (schedule.ahead && schedule.stages < 2)
    refuse("ahead=yes and stages=1", "a step's tiles are held while the next one's are multiplied", "stages=2 or ahead=no");
  if (schedule.ahead && schedule.overlap)
    refuse("ahead=yes and overlap=yes", "dots of a step are issued ahead or behind", "overlap=no or ahead=no");
  if (schedule.delayed && schedule.exchangeBuffers < 2)
    refuse("delayed=yes and exchangeBuffers=1", "a step publishes before it reads what the step before has published", "exchangeBuffers=2 or delayed=no");
  if (!schedule.producer && schedule.stages < 2)
    refuse("producer=no and stages=1", "a step's tiles are read while the next one's come", "stages=2 or producer=yes");
}

/// Before its first vote an item takes no more steps than between two. The kernel counts elements of the fold's axis up to the next one, beside lengths near 2^30.
static void requireVotes(const Schedule &schedule) {
  constexpr int most = 65536;
  if (schedule.votes > most)
    throw CompileError(fmt::format("the schedule has votes={}: items vote after {} steps at the latest; take votes={} or less. The schedule: {}", schedule.votes, most, most, print(schedule)));
  if (schedule.firstVote > schedule.votes)
    throw CompileError(fmt::format("the schedule has firstVote={} and votes={}: the first vote comes after {} steps at most; take firstVote={} or less. The schedule: {}", schedule.firstVote, schedule.votes,
                                   schedule.votes, schedule.votes, print(schedule)));
}

void requireFields(const Schedule &schedule, const Target &target) {
  requireCopies(schedule, target);
  requireVotes(schedule);
}

void checkSchedule(const Program &program, const Schedule &schedule, const Target &target, const std::map<std::string, std::int64_t> &inner) {
  requireFields(schedule, target);
  requireWarpgroups(rolesOf(program, schedule.block), schedule, target);
  for (const auto &[axis, length] : inner) {
    const auto width = schedule.widths.find(axis);
    if (width != schedule.widths.end() && (schedule.nested.contains(axis) ? width->second < length : width->second != length))
      throw std::invalid_argument(fmt::format("the schedule has {0}={1}, and axis '{0}' of program '{2}' is {3} long: on a GPU it lies whole inside a tile; take {0}={3}. The schedule: {4}", axis, width->second,
                                              program.name, length, print(schedule)));
  }
}

} // namespace tw
