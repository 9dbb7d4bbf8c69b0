// From the CUDA text of a kernel to an artifact that can be kept and launched.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/pipeline/Compile.h"
#include <functional>
#include <string>

namespace tw {

/// Bytes of registers that a kernel may spill, stores and loads together. A few outside of the inner loop cost nothing; what is
/// beyond this does.
inline constexpr int spillBytesAllowed = 512;

/// What a target's texts are assembled with.
[[nodiscard]] cuda::AssemblyOptions assemblyOptions(const std::string &arch);

/// NVRTC's version and options as text: part of the key.
[[nodiscard]] std::string assemblerText(const std::string &arch);

/// Assembles `text`, which has kernel artifact.entry, and fills in the artifact's code and resources. `onStage` (may be empty) gets the
/// stages cuda, ptx, cubin and resources. Needs no GPU. Throws RuntimeError where NVRTC is missing or refuses, CompileError where the
/// kernel spills too much or its wgmma instructions are serialised.
void assembleDevice(Artifact &artifact, const std::string &text, const std::function<void(const Stage &)> &onStage);

} // namespace tw
