// Launches that were accepted lately: the same arguments are not checked twice.
#pragma once
#include "Checked.h"
#include "State.h"

namespace tw {

/// What `check` finds of these arguments, and whether the calling thread knew it from a launch before.
struct Acceptance {
  const Checked &checked;   // lives until this thread's next call
  bool isKnown;
};

/// Checks the arguments, or finds that the calling thread had equal ones accepted for this kernel. Throws ArgumentError as check() does.
[[nodiscard]] Acceptance accepted(const Kernel::State &state, const Arguments &arguments);

} // namespace tw
