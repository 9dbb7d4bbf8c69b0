// Launches that were accepted lately: the same arguments are not checked twice.
#pragma once
#include "Checked.h"
#include "DeviceKernel.h"
#include "Given.h"
#include "State.h"
#include <optional>

namespace tw {

/// What `check` finds of these arguments; lives until this thread's next call.
struct Acceptance {
  const Kernel::State &kernel;               // of the program's kernels the one that is launched
  const Checked &checked;
  std::optional<PreparedLaunch> &prepared;   // for a GPU, by the launch that comes first
};

/// Checks the arguments, or finds that the calling thread had equal ones accepted for this kernel. Throws ArgumentError as check() does.
[[nodiscard]] Acceptance accepted(const Kernel::State &state, const Given &given);

} // namespace tw
