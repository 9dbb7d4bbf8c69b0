// From the tile module to the device module of a GPU.
#pragma once
#include "Compilation.h"
#include "tilewright/schedule/Target.h"

namespace tw {

std::vector<Phase> devicePhases(const Schedule &schedule, const Target &target, bool strided);

} // namespace tw
