// What a launch in the simulator takes, before it is begun.
#pragma once
#include "Options.h"
#include <span>

namespace tw {
struct Artifact;
enum class SimulatorCode;
}

namespace tw::cli {

/// Of one launch, were no tile skipped for its mask.
struct SimulatorCost {
  double products = 0;   // wgmma by warp
  double seconds = 0;    // on one processor, roughly
};
[[nodiscard]] SimulatorCost simulatorCost(const Artifact &artifact, const Shape &shape);

/// What is there sooner, compiled and run so many times.
[[nodiscard]] SimulatorCode codeFor(const SimulatorCost &cost, int settings);

/// Switches of threads after which a launch counts as one that never ends: far more than one needs that goes on.
[[nodiscard]] std::uint64_t mostSwitches(const SimulatorCost &cost);

/// Throws std::invalid_argument where `settings` launches of each kernel would take longer than `patience` seconds, and names a shape that would not.
void checkPatience(std::span<const Artifact> kernels, const Shape &shape, int settings, double patience);

} // namespace tw::cli
