// What a schedule will cost, predicted from a target's figures without running anything.
#pragma once
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/SearchSpace.h"
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tw {

/// What of a processor a launch waits for.
enum class Bound { memory, l2, tensor, exponentials, arithmetic, shared, latency };
/// `memory`, `L2`, `tensor`, `exponentials`, `arithmetic`, `shared memory`, `latency`
[[nodiscard]] std::string_view name(Bound bound);

/// A prediction. Each `…Seconds` but the first is what the launch would take if nothing else took time.
struct Estimate {
  double seconds = 0;
  Bound bound = Bound::memory;            // the largest term

  double memorySeconds = 0, l2Seconds = 0, tensorSeconds = 0, exponentialSeconds = 0, arithmeticSeconds = 0, sharedSeconds = 0;
  double latencySeconds = 0;              // starting, first tiles, barriers: what nothing hides

  double dramBytes = 0;                   // read from and written to memory
  double compulsoryBytes = 0;             // each element of each tensor once
  double l2Bytes = 0;                     // asked of the level-2 cache
  double flop = 0;                        // of dots, in the tiles that are visited
  double exponentials = 0;                // in the tiles that are visited

  std::int64_t items = 0;                 // tiles of the block axis, of all free axes
  std::int64_t slots = 0;                 // blocks that run at once
  double waves = 0;                       // items / slots
  double balance = 1;                     // of the slots' time, the share in which they have work
  double visited = 1;                     // of the tiles of the fold, those that a mask does not skip
  double partial = 0;                     // of these, those in which a mask or an end is computed

  std::int64_t sharedBytes = 0;           // of a block
  int registersPerThread = 0, registersAvailable = 0;
  int spilledBytes = 0;                   // a thread, predicted
  double occupancy = 0;                   // resident threads / threads that a multiprocessor can hold

  double intensity = 0;                   // flop / dramBytes
  double ridge = 0;                       // the intensity from which on the target's tensor cores bound, not its memory
  double flopPerSecond = 0;               // flop / seconds
  double rooflineFlopPerSecond = 0;       // what tensor cores and memory alone would allow at this intensity
};

/// Tiles of the fold that one tile of the block axis visits, counted by somebody who knows what tables hold.
struct CountedVisit {
  double all = 0;
  double partial = 0;   // of them, those in which a mask or an end is computed
};

/// The cost of one launch. What elements of a tensor decide is taken to be kept, but where `counted` tells, for each tile of the block axis in order and alike
/// at every point of the free axes. Throws as axisLengths() does, and std::invalid_argument for a schedule that lacks a width or another number of tiles.
[[nodiscard]] Estimate estimate(const Program &program, const Schedule &schedule, const Target &target, const LaunchShape &shape,
                                const std::vector<CountedVisit> &counted = {});

/// The same of several schedules that have one block axis.
[[nodiscard]] std::vector<Estimate> estimates(const Program &program, std::span<const Schedule> schedules, const Target &target, const LaunchShape &shape);

struct RankedSchedule {
  Schedule schedule;
  Estimate estimate;
};
/// The search space, the fastest prediction first; equal ones stay in the order of the search space. At most `most` of them, 0: all.
/// Throws as searchSpace() and estimate() do.
[[nodiscard]] std::vector<RankedSchedule> rank(const Program &program, const Target &target, const LaunchShape &shape, std::size_t most = 0);

/// What a schedule must be predicted to gain on the default one to be told from it: about what predictions err by. Rules taken from measurements chose that one.
inline constexpr double leastPredictedGain = 0.1;
/// Of a ranking, what to take where nothing is measured: the first one, or the default one where the first is not predicted to gain so much on it.
[[nodiscard]] const RankedSchedule &modelChoice(std::span<const RankedSchedule> ranked, const Schedule &unchanged);

} // namespace tw
