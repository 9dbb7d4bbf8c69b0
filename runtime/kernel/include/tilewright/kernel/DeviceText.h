// A kernel for a GPU as far as its text: what the simulator runs. Needs neither a GPU nor NVRTC.
#pragma once
#include "tilewright/kernel/Kernel.h"

namespace tw {

struct Artifact;

/// Checks and compiles as build() does, but assembles nothing: the artifact has neither code nor resources. Nothing is kept.
[[nodiscard]] Artifact compileText(const Program &program, const BuildOptions &options);

/// Checks arguments as Kernel::launch does, of a kernel built for these inner lengths. Throws ArgumentError.
void checkArguments(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const Arguments &arguments);

} // namespace tw
