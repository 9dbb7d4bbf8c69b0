// Bytes that a launch moves between multiprocessors, the level-2 cache and memory.
#pragma once
#include "Work.h"
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/schedule/Target.h"

namespace tw {

/// What traffic depends on besides the program.
struct Traversal {
  double blockTiles = 1;       // of the block axis
  double frees = 1;            // points of the free axes
  double rounds = 1;           // points of the axes around the fold
  double visits = 1;           // tiles of the fold that an item visits, on average
  double foldTiles = 1;        // tiles of the fold that there are
  double slots = 1;            // items that run at once
  bool grouped = false;        // items come in groups of free points whose fold operands share the cache
};

struct Traffic {
  double compulsory = 0;       // each element once that is read at all
  double l2 = 0;               // asked of the level-2 cache
  double dram = 0;             // read from and written to memory
  double copied = 0;           // into shared memory, by one step of one item
};

/// Stored and block tiles are moved once. Fold tiles are asked for by every item, and come from memory again where later ones do not find them in the
/// cache:
///   dram = compulsory + miss · (passes − 1) · compulsory of fold operands,
///   passes = blockTiles / items of one free point that run side by side, miss = by how much the operands in use outgrow what the cache keeps.
[[nodiscard]] Traffic trafficOf(const Work &work, const Roles &roles, const std::map<std::string, std::int64_t> &lengths, const LaunchShape &shape, const Schedule &schedule, const Target &target,
                                const Traversal &traversal);

} // namespace tw
