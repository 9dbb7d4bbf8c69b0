// How far a tuning is, for those who watch it.
#pragma once
#include "tilewright/dsl/Schedule.h"
#include <cstddef>
#include <string>

namespace tw {

enum class TuningStage { compiling, checking, timing, done };

struct TuningProgress {
  TuningStage stage = TuningStage::compiling;
  std::size_t done = 0, of = 0;   // candidates compiled or checked; rounds
  std::size_t refused = 0;
  double seconds = 0;             // since it began
  double secondsLeft = 0;         // estimated; of the budget at most
  const Schedule *best = nullptr; // lives as long as the call
  double bestSeconds = 0;         // of one launch; 0: nothing is timed yet
  double bestRatio = 1;           // to the default schedule
  std::string program;            // whose schedules are tried
};

} // namespace tw
