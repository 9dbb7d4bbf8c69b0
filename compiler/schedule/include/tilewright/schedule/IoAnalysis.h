// The least that a program must move, as a function of the fast memory that there is.
#pragma once
#include "tilewright/schedule/LaunchShape.h"
#include <cstdint>

namespace tw {

/// Tiles of a memory of `sramBytes` in which everything that an item holds must lie, and what they make it move.
struct IoPoint {
  std::int64_t sramBytes = 0;
  std::int64_t blockWidth = 0, foldWidth = 0;   // 0: not even tiles of one element fit
  double bytes = 0;                             // read from and written to the slow memory; infinite where nothing fits
  double compulsory = 0;                        // each element once
};

/// The widths that move least, of all that fit, with no cache behind the memory: every item reads the fold's operands anew. For two dots over
/// N × N pairs and inner axes of length d that is Θ(N²d²/M) beside the compulsory Θ(Nd), M the memory's size: blocks are M/d wide, and N·d/M of
/// them each read N·d.
[[nodiscard]] IoPoint leastTraffic(const Program &program, const LaunchShape &shape, std::int64_t sramBytes);

} // namespace tw
