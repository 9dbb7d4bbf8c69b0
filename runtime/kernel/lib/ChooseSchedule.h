// Which schedule a build takes where none is given.
#pragma once
#include "tilewright/kernel/Tune.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/Target.h"
#include "tilewright/tune/Records.h"
#include <optional>
#include <string>

namespace tw {

/// What is to be chosen for.
struct ScheduleWanted {
  const Program &program;
  const std::string &programText;
  const Target &target;   // as a limit leaves it
  std::int64_t sharedLimit = 0;
  const std::map<std::string, std::int64_t> &inner;
  const std::string &assembler;
  const BuildOptions &options;
};

/// The shapes of the options, with the lengths of inner axes.
[[nodiscard]] LaunchShape launchShapeOf(const ScheduleWanted &wanted);

[[nodiscard]] tuning::RecordKey recordKeyOf(const ScheduleWanted &wanted);

/// Where tunings of the program for such options are kept.
[[nodiscard]] cache::Digest recordDigest(const Program &program, const BuildOptions &options);

/// A schedule better than the default one as far as is known, and where it comes from; nothing where nothing is. Throws std::invalid_argument
/// where shapes contradict each other, or are needed and not given.
[[nodiscard]] std::optional<ScheduleChoice> betterSchedule(const ScheduleWanted &wanted);

} // namespace tw
