// A compiled kernel in the simulator, launched on tensors by name as a GPU would be.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/device/Named.h"
#include "tilewright/simulator/Simulator.h"

namespace tw {

struct SimulatedOutcome {
  SimulationResult simulation;
  int items = 0, blocks = 0;
  bool countersAreZero = true;   // afterwards, as the next launch needs them
};

/// Launches `artifact` as a GPU of `sms` multiprocessors would. `kernel` was compiled from its source, or from another text with that entry.
/// `problem` is what device::prepare takes, but that
/// - tensors lie in memory of this process, with strides from 0 on where not packed: copies of them run between guard pages, and stored ones are copied back;
/// - lengths of axes that tensors have need not be given, and counters are not.
/// Throws std::invalid_argument as device::prepare does, or where a tensor map cannot be made.
[[nodiscard]] SimulatedOutcome simulateArtifact(const SimulatedKernel &kernel, const Artifact &artifact, device::NamedProblem problem,
                                                const SimulatorOptions &options = {}, int sms = 2);

}   // namespace tw
