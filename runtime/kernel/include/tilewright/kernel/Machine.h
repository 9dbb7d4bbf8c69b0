// Which target this machine's GPU is.
#pragma once
#include <string>

namespace tw {

/// The name of the target that GPU `ordinal` is: of those whose code it runs, the one with the nearest number of multiprocessors, then the
/// nearest memory. Throws RuntimeError where there is no such GPU, or none of the table is of its kind.
[[nodiscard]] std::string gpuTarget(int ordinal = 0);

} // namespace tw
