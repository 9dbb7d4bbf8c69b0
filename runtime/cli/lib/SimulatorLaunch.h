// What launches in the simulator share.
#pragma once
#include "tilewright/device/Named.h"
#include "tilewright/kernel/Kernel.h"
#include "tilewright/simulator/Simulator.h"
#include <string>

namespace tw {
struct Artifact;
}

namespace tw::cli {

[[nodiscard]] device::NamedProblem namedProblem(const Artifact &artifact, const Arguments &arguments);
/// late, eager, random 1
[[nodiscard]] std::string settingName(std::size_t setting, const SimulatorOptions &options);

} // namespace tw::cli
