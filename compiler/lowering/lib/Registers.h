// How the threads of a block on Hopper share the registers that they start with.
#pragma once
#include <algorithm>
#include <cstdint>

namespace tw {

/// What a thread of each role has, once the producer's warpgroup has handed registers to those of consumers.
struct Registers {
  static constexpr std::int64_t file = 65536, granule = 8, threadsOfWarpgroup = 128, most = 240;

  std::int64_t producer = 0, consumer = 0;

  /// What a thread starts with: equal shares of a multiprocessor, a producer's warpgroup included.
  static constexpr std::int64_t atLaunch(std::int64_t warpgroups, std::int64_t blocksPerSM) {
    return file / blocksPerSM / (threadsOfWarpgroup * (warpgroups + 1)) / granule * granule;
  }

  /// Three warpgroups that consume would gain nothing by the last registers of a producer.
  static constexpr Registers shared(std::int64_t warpgroups, std::int64_t blocksPerSM) {
    const std::int64_t producer = warpgroups >= 3 ? 32 : 24;
    return {producer, std::min(most, (atLaunch(warpgroups, blocksPerSM) * (warpgroups + 1) - producer) / warpgroups / granule * granule)};
  }
};

static_assert(Registers::shared(2, 1).consumer == 240 && Registers::shared(3, 1).consumer == 160);

}   // namespace tw
