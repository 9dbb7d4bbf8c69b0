// The lines of TILEWRIGHT_LOG that say how a build ended.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/dsl/Schedule.h"

namespace tw {

/// Seconds.
struct CompileTimes {
  double text = 0;       // to CUDA text; on the CPU target all of it
  double assembly = 0;   // from there to machine code
};

void logCompiled(const Artifact &artifact, const CompileTimes &times);
/// The assembler's code was refused, and `next` is tried.
void logRefused(const std::string &why, const Schedule &next);
/// That of a second kernel was refused, and the first one goes alone.
void logAlone(const std::string &why);
void logLoaded(const Artifact &artifact, double seconds);

} // namespace tw
