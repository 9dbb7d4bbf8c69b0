// The facts by which a kernel is checked and launched, read off its program.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"

namespace tw {

/// Fills program, schedule, axes with their bindings, indices to check, requirements.
void addFacts(Artifact &artifact, const Program &program, const Roles &roles, const Schedule &schedule);

} // namespace tw
