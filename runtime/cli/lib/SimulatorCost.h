// What a launch in the simulator takes, before it is begun.
#pragma once
#include "Options.h"

namespace tw {
struct Artifact;
}

namespace tw::cli {

/// Of one launch, were no tile skipped for its mask.
struct SimulatorCost {
  double products = 0;   // wgmma by warp
  double seconds = 0;    // on one processor, roughly
};
[[nodiscard]] SimulatorCost simulatorCost(const Artifact &artifact, const Shape &shape);

/// Throws std::invalid_argument where `settings` launches would take longer than `patience` seconds, and names a shape that would not.
void checkPatience(const SimulatorCost &cost, const Artifact &artifact, const Shape &shape, int settings, double patience);

} // namespace tw::cli
