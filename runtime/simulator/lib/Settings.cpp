// The settings under which every kernel should be tried.
#include "tilewright/simulator/Simulator.h"

namespace tw {

std::vector<SimulatorOptions> simulatorSettings(int seeds, std::uint64_t firstSeed) {
  SimulatorOptions late, eager;
  eager.loads = eager.stores = eager.products = Asynchrony::eager;
  eager.sharedBase = 1024;
  std::vector<SimulatorOptions> settings{late, eager};
  for (int i = 0; i < seeds; ++i) {
    SimulatorOptions random;
    random.loads = random.stores = random.products = Asynchrony::random;
    random.seed = firstSeed + std::uint64_t(i);
    random.order = i % 2 ? ThreadOrder::byRandomWarpPriority : ThreadOrder::random;
    random.preemption = 6;
    random.earlyNo = 4;
    settings.push_back(random);
  }
  return settings;
}

}   // namespace tw
