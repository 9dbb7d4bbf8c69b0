// The lines of TILEWRIGHT_LOG that say how a build ended.
#pragma once
#include "tilewright/artifact/Artifact.h"

namespace tw {

/// Seconds.
struct CompileTimes {
  double text = 0;       // to CUDA text; on the CPU target all of it
  double assembly = 0;   // from there to machine code
};

void logCompiled(const Artifact &artifact, const CompileTimes &times);
void logLoaded(const Artifact &artifact, double seconds);

} // namespace tw
