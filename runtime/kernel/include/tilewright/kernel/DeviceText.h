// A kernel for a GPU as far as its text, which the simulator runs and for which no NVRTC is needed, or its machine code. Needs no GPU.
#pragma once
#include "tilewright/kernel/Kernel.h"

namespace tw {

struct Artifact;

/// Checks and compiles as build() does, but assembles nothing: the artifact has neither code nor resources. Nothing is kept.
[[nodiscard]] Artifact compileText(const Program &program, const BuildOptions &options);

/// The same as far as machine code, by NVRTC; needs no GPU. `ptx` gets what stands between.
[[nodiscard]] Artifact compileCode(const Program &program, const BuildOptions &options, std::string *ptx = nullptr);

/// Checks arguments as Kernel::launch does, and gives what it would run: `text`, which compileText() made of the program with the same options, or where that cannot
/// copy a tensor in pieces, one that takes any strides, which is said. Throws ArgumentError.
[[nodiscard]] Artifact launchedText(Artifact text, const Program &program, const BuildOptions &options, const Arguments &arguments);

} // namespace tw
