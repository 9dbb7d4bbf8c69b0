// The kernel of launches whose tensors the usual one cannot copy in pieces.
#pragma once
#include "tilewright/kernel/Kernel.h"
#include <string>

namespace tw {

struct Artifact;

/// It has a schedule of its own: it copies by other means.
[[nodiscard]] BuildOptions stridedOptions(BuildOptions options);
/// What to do where the program has no such kernel, `why` the usual one does not do; empty where it has one.
[[nodiscard]] std::string cureWithoutStrided(const Program &program);
/// Says that it is built, and why.
void sayStrided(const Artifact &usual, const std::string &why);

} // namespace tw
