// What came of a tuning, for a person, as JSON, and as lines of a shipped table.
#pragma once
#include "Output.h"
#include "TuneOptions.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/LaunchShape.h"
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

struct TuneResult {
  const TuneTask *task = nullptr;
  std::string processor;                // "GPU 0, NVIDIA H200"; empty: by the model alone
  std::string whyNotMeasured;           // where it was by the model alone
  double seconds = 0;                   // that it took
  std::optional<TuningRecord> record;   // all that is known; none: by the model alone
  std::vector<RankedSchedule> ranked;   // by the model, some of the fastest
  std::optional<Schedule> choice;       // none: the default schedule could not be timed
  Schedule unchanged;                   // the default schedule
  bool isInterrupted = false;
};

/// What the model is asked.
[[nodiscard]] LaunchShape launchShapeOf(const TuneTask &task);

/// `B 4, H 32, Hkv 8, Sq 4096, Skv 4096, D 128, Dv 128`
[[nodiscard]] std::string toText(const Shape &shape);
[[nodiscard]] std::string toText(const TuneResult &result);
[[nodiscard]] Json toJson(const TuneResult &result);
/// Empty where the default schedule stays.
[[nodiscard]] std::string tableLine(const TuneResult &result);

} // namespace tw::cli
