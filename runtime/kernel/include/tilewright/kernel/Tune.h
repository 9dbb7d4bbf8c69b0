// Finding the fastest schedule of a program for some shapes, and what is known of it.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/kernel/Kernel.h"
#include "tilewright/tune/Progress.h"
#include "tilewright/tune/Record.h"
#include <functional>
#include <optional>
#include <string>

namespace tw {

/// What a program is launched with while it is tuned.
struct TuningInputs {
  std::map<std::string, std::vector<std::int64_t>> shapes;   // of tensors
  /// Tensors whose numbers matter to the time (tables of which masks are made), and scalars. Other tensors are made: of float type of normal numbers, others of 0.
  Evaluation values;
};

struct TuneOptions {
  std::size_t candidates = 12;   // schedules that are compiled and timed at most, the default one among them; those that are refused do not count
  double budgetSeconds = 30;     // after 0.7 of it no compile begins, after all of it no round of timing
  int gpu = 0;                   // on which it is measured; of no matter to the CPU target
  Evaluation values;             // as in TuningInputs, for BuildOptions::shapes
  /// A small problem, whose results are held to evaluate(). None: one is made of the shapes.
  std::optional<TuningInputs> check;
  /// Schedules to try besides, whatever the model says of them.
  std::vector<Schedule> also;
  std::function<void(const TuningProgress &)> onProgress;
  std::function<bool()> stop;   // asked often; what is found by then is kept
};

/// Times schedules of the program for `options.shapes` and keeps what comes of it, unless `options.useCache` is false. Returns all that is known
/// by then; the last run is this one. Throws as build() does for the default schedule, and RuntimeError where there is no GPU that the target is.
[[nodiscard]] TuningRecord tune(const Program &program, const BuildOptions &options, const TuneOptions &how = {});

/// Throws ArgumentError, in a launch's words, where tensors of `options.shapes` are not what the program requires; what they do not tell is taken to be right.
void checkShapes(const Program &program, const BuildOptions &options);

/// What tunings of this program, target, shared limit, compiler and assembler found for the class of `options.shapes`.
[[nodiscard]] std::optional<TuningRecord> findRecord(const Program &program, const BuildOptions &options);

/// Where a schedule comes from.
enum class ScheduleOrigin { given, rules, tuned, shipped, model };
/// `given`, `the default one`, `tuned here`, `from a shipped table`, `by the cost model`
[[nodiscard]] std::string text(ScheduleOrigin origin);

/// What build() would take, without building. Never measures.
struct ScheduleChoice {
  Schedule schedule;
  ScheduleOrigin origin = ScheduleOrigin::rules;
};
[[nodiscard]] ScheduleChoice chosenSchedule(const Program &program, const BuildOptions &options);

} // namespace tw
