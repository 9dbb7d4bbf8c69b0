// The second kernel of a program, and which of the two a launch takes.
#pragma once
#include "Checked.h"
#include "State.h"
#include "tilewright/dsl/Program.h"
#include "tilewright/schedule/Target.h"
#include <map>
#include <mutex>
#include <vector>

namespace tw {

/// Beside a kernel of the same program for the same target: it takes the same parameters.
struct Kernel::State::Second {
  Second(Program program, Target target, const Artifact &first, std::shared_ptr<const State> kernel);

  const Program program;
  const Target target;
  const Schedule firstSchedule, schedule;
  const std::shared_ptr<const State> kernel;

  /// Whether this one is launched. Predicting takes some 0.1 ms, and is remembered for sizes that came lately.
  [[nodiscard]] bool suits(const Artifact &artifact, const Checked &checked) const;

private:
  mutable std::mutex mutex;
  mutable std::map<std::vector<std::int64_t>, bool> known;   // by lengths and scalars
};

/// The kernel that is launched: `state` or its second.
[[nodiscard]] const Kernel::State &chosen(const Kernel::State &state, const Checked &checked);

}   // namespace tw
