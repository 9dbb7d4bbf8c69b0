// A kernel written by hand in the device dialect, emitted.
#pragma once
#include "tilewright/artifact/Artifact.h"

namespace tw::tests {

/// The one kernel of an .mlir file: its entry, source and launch facts. Throws std::runtime_error with MLIR's words.
[[nodiscard]] Artifact emitFile(const std::string &file);

}   // namespace tw::tests
