// What came of a tuning, for a person, as JSON, and as lines of a shipped table.
#pragma once
#include "Output.h"
#include "TuneOptions.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/LaunchShape.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// Of one kernel.
struct TuneResult {
  const TuneTask *task = nullptr;
  Program program;                      // the kernel's
  std::shared_ptr<const Gradient> gradient;   // that it is of; null: it is the variant's own
  std::string processor;                // "GPU 0, NVIDIA H200"; empty: by the model alone
  std::string whyNotMeasured;           // where it was by the model alone
  double seconds = 0;                   // that it took
  std::optional<TuningRecord> record;   // all that is known; none: by the model alone
  std::vector<RankedSchedule> ranked;   // by the model, some of the fastest
  std::optional<Schedule> choice;       // none: the default schedule could not be timed
  Schedule unchanged;                   // the default schedule
  bool isInterrupted = false;
};

/// Of one shape: the variant's kernel, or every kernel of its gradients.
struct TunedShape {
  /// Kernels that together make the gradients.
  struct Form {
    std::vector<std::string> kernels;
    std::optional<double> seconds;   // with their fastest schedules; none where one could not be timed
  };
  const TuneTask *task = nullptr;
  std::vector<TuneResult> kernels;
  std::vector<Form> forms;   // of a gradient: the one that a build takes first
};

/// What the model is asked.
[[nodiscard]] LaunchShape launchShapeOf(const TuneResult &result);
/// Shapes of all tensors of the result's kernel, were the variant's tensors of this shape.
[[nodiscard]] LaunchShape launchShapeOf(const TuneResult &result, const Shape &shape);

/// `B 4, H 32, Hkv 8, Sq 4096, Skv 4096, D 128, Dv 128`
[[nodiscard]] std::string toText(const Shape &shape);
[[nodiscard]] std::string toText(const TunedShape &tuned);
[[nodiscard]] Json toJson(const TunedShape &tuned);
/// Empty where the default schedule stays.
[[nodiscard]] std::string tableLine(const TuneResult &result);

} // namespace tw::cli
