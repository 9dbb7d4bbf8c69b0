// A program held against its meaning: compiled for a GPU, run in the simulator, compared with evaluate().
#pragma once
#include "support/Compare.h"
#include "tilewright/dsl/Dsl.h"
#include "tilewright/schedule/Target.h"

namespace tw::tests {

struct Held {
  Program program;
  std::map<std::string, std::int64_t> inner;                    // lengths of inner axes
  Evaluation inputs;                                            // rounded to the tensors' types
  std::map<std::string, std::vector<std::int64_t>> stored;      // shapes
  std::map<std::string, Tolerance> tolerances;                  // of stored tensors
  Nans nans = Nans::refused;
};

/// What the default schedule becomes by `fields` (`k=32 stages=1`).
[[nodiscard]] Schedule changed(const Schedule &schedule, std::string_view fields);

/// What evaluate() says of it.
[[nodiscard]] std::map<std::string, Array> meaningOf(const Held &held);

/// What differs from it, by the worst element; empty where nothing does.
[[nodiscard]] std::string differences(const Held &held, const std::map<std::string, Array> &outputs, const std::map<std::string, Array> &meaning);

/// What is wrong with its kernel under late, eager and `seeds` random settings: the simulator's reports and differences; empty where all is right.
/// Throws as compileDevice does where the program is refused.
[[nodiscard]] std::string faultOf(const Held &held, const Schedule &schedule, const Target &target, int seeds = 0);

} // namespace tw::tests
