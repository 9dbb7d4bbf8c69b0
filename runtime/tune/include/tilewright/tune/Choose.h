// From timings to a choice.
#pragma once
#include "tilewright/tune/Record.h"
#include <cstddef>
#include <optional>
#include <vector>

namespace tw::tuning {

/// What stands in the middle of the sorted values; of an even number, the mean of the two. `at` from 0 to 1: other quantiles, between
/// neighbours by their distance. There is at least one value.
[[nodiscard]] double quantile(std::vector<double> values, double at);
[[nodiscard]] double median(std::vector<double> values);

/// Seconds of `timing` over those of `base`, round by round as far as both go.
[[nodiscard]] std::vector<double> ratios(const ScheduleTiming &timing, const ScheduleTiming &base);

/// A schedule beside the default one.
struct Standing {
  Schedule schedule;
  double predictedSeconds = 0;
  double seconds = 0;         // the median; of the latest run that timed it
  double ratio = 1;           // to the default schedule's seconds: the median over the rounds of all runs
  double low = 1, high = 1;   // the middle half of these ratios
  std::size_t rounds = 0;     // 0: refused
  std::string refused;
};

/// Every schedule of all runs once, the fastest first, those that were refused last.
[[nodiscard]] std::vector<Standing> standings(const TuningRecord &record);

/// Rounds below which a time is not believed.
inline constexpr std::size_t leastRounds = 5;
/// What a schedule must gain to replace the default one: less is within what two tunings differ by.
inline constexpr double leastGain = 0.01;

/// The schedule to build; none where nothing was timed often enough.
[[nodiscard]] std::optional<Schedule> choice(const TuningRecord &record);
/// What it takes: the median of the latest run that timed it.
[[nodiscard]] std::optional<double> chosenSeconds(const TuningRecord &record);

} // namespace tw::tuning
