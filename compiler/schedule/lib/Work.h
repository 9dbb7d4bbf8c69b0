// What one item of a program computes and reads, counted in tiles.
#pragma once
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"
#include <string>
#include <vector>

namespace tw {

/// Axes that are tiled and over which something runs, with a count for each point of them.
struct Extent {
  Axes axes;
  double count = 1;
};

/// A dot of every step.
struct DotWork {
  Axes axes;                 // of its result, and the contracted one
  Axes rows, columns;        // of the operand with the block axis, and of the other one, whose tiles all rows read
  int rowBytes = 0;          // of an element of the first where it lies in shared memory, else 0
  int columnBytes = 2;
};

/// A tensor that items read or write.
struct Access {
  std::string tensor;
  Axes tiled;                // tiled axes of the access
  int elementBytes = 0;
  bool ofFold = false;       // every step reads another tile
  bool isStore = false;
};

/// Counts by tiles: multiply by the widths of a schedule.
struct Work {
  std::vector<DotWork> dots;
  std::vector<Extent> exponentials;   // results of the special-function units in a step
  std::vector<Extent> operations;     // f32 operations in a step, a fused pair as one
  std::vector<Extent> restabilising;  // those that a held stabiliser saves
  std::vector<Extent> masking;        // those that only tiles need which a mask cuts
  std::vector<Access> accesses;
};
[[nodiscard]] Work workOf(const Program &program, const Roles &roles);

/// The points of one tile along these axes, times the count.
[[nodiscard]] double points(const Axes &axes, const Schedule &schedule);
[[nodiscard]] double total(const std::vector<Extent> &extents, const Schedule &schedule);

} // namespace tw
