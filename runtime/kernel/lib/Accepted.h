// Launches that were accepted lately: the same arguments are not checked twice.
#pragma once
#include "Checked.h"
#include "State.h"

namespace tw {

/// What `check` finds of these arguments; lives until this thread's next call.
struct Acceptance {
  const Checked &checked;
  bool &isLaunched;   // whether a launch with them went through; to be set by one that does
};

/// Checks the arguments, or finds that the calling thread had equal ones accepted for this kernel. Throws ArgumentError as check() does.
[[nodiscard]] Acceptance accepted(const Kernel::State &state, const Arguments &arguments);

} // namespace tw
