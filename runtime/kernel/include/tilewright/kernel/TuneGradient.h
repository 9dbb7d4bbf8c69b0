// Finding the fastest schedules of the kernels of a gradient.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Tune.h"
#include <optional>
#include <vector>

namespace tw {

/// A form of a gradient: in its programs, and what is known of the kernel of each.
struct TunedGradient {
  Gradient programs;
  bool addsToMemory = false;           // steps add to a tensor, in no fixed order: see BuildOptions::deterministic
  std::vector<TuningRecord> records;   // the forward kernel's first, in the order in which they run; after one that could not be timed there are none
  std::optional<double> seconds;       // of the backward kernels with their fastest schedules, added up; none where one was not timed
};

/// tune() for every kernel of `buildGradient(program, options, wanted)`, each on what the ones before it store. `options.shapes` and `how.values` are of the program itself;
/// `how.budgetSeconds` is for each kernel. Where a build may take one of two forms both are tuned. Returned first is the one that builds take from now on:
/// the usual one, unless the other gains more than 3%.
[[nodiscard]] std::vector<TunedGradient> tuneGradient(const Program &program, const BuildOptions &options, const TuneOptions &how = {}, const GradientOptions &wanted = {});

/// The same of one form.
[[nodiscard]] TunedGradient tuneGradient(Gradient programs, const BuildOptions &options, const TuneOptions &how = {});

} // namespace tw
