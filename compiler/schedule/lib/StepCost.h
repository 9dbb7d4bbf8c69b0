// Cycles that one step of one block takes of each part of a multiprocessor.
#pragma once
#include "Work.h"
#include "tilewright/schedule/Target.h"

namespace tw {

/// What the model cannot derive: fitted to measurements (docs/cost-model.md says to which, and how well).
struct Coefficients {
  double sharpness;             // of the sum of terms that run side by side: 1 adds them up, infinity takes the largest
  double stepCycles;            // waiting and signalling, a step of one warpgroup
  double refillCycles;          // more where a slot of the ring is filled anew only one step before it is read
  double itemCycles;            // before an item's first dot and behind its last one, where the next item's tiles are there already
  double fillCycles;            // more where they are not
  double partialCycles;         // of a step that a mask cuts, beside its arithmetic
  double operationShare;        // issue slots an operation takes, on average
  double launchSeconds;         // from one launch to the next
};
[[nodiscard]] const Coefficients &coefficientsOf(const Target &target);

/// Cycles of one multiprocessor, were nothing else to wait for.
struct StepCost {
  double tensor = 0, exponentials = 0, operations = 0, shared = 0, l2 = 0;
  double masking = 0;           // more operations, where a mask cuts the tile
  double chain = 0;             // of one warpgroup, whose dots and elementwise work wait for each other
  double fill = 0;              // what an item's first and last step do not overlap
};
/// `copied`: bytes that a step brings into shared memory.
[[nodiscard]] StepCost stepCost(const Work &work, const Schedule &schedule, const Target &target, double copied);

/// Cycles of one item of `steps` steps, `partial` of them under a mask, from its first copy to its last store, beside the other blocks of its
/// multiprocessor: these work while it waits.
[[nodiscard]] double itemCycles(const StepCost &cost, const Schedule &schedule, const Target &target, double steps, double partial);

} // namespace tw
