// A launch on the CPU.
#pragma once
#include "Checked.h"
#include "State.h"

namespace tw {

[[nodiscard]] std::size_t hostBytesNeeded(const Kernel::State &state, const Checked &checked);

/// Runs all items, and returns when they are done. There are items, and the workspace is large enough.
void runOnHost(const Kernel::State &state, const Checked &checked, Workspace workspace);

/// All that a launch without items does: sets what the kernel adds to to 0.
void zeroSumsOnHost(const Checked &checked);

} // namespace tw
