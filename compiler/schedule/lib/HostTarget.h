/// The facts of the CPU that this process runs on.
#pragma once

#include "tilewright/schedule/Target.h"

namespace tw {

/// Reads cores, caches, vector width, clock and memory from the system. A cache that the system does not tell is
/// assumed small: 32 KiB of L1, 256 KiB of L2, a last level as large as the L2.
[[nodiscard]] Target readHostTarget();

} // namespace tw
