#include "tilewright/tune/Choose.h"
#include <algorithm>
#include <cmath>

namespace tw::tuning {

double quantile(std::vector<double> values, double at) {
  std::sort(values.begin(), values.end());
  const double place = at * double(values.size() - 1);
  const auto below = std::size_t(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - double(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::vector<double> ratios(const ScheduleTiming &timing, const ScheduleTiming &base) {
  std::vector<double> all;
  for (std::size_t round = 0; round < std::min(timing.seconds.size(), base.seconds.size()); ++round)
    all.push_back(timing.seconds[round] / base.seconds[round]);
  return all;
}

std::vector<Standing> standings(const TuningRecord &record) {
  std::vector<Standing> all;
  std::vector<std::vector<double>> pooled;
  for (const TuningRun &run : record.runs)
    for (const ScheduleTiming &timing : run.tried) {
      auto known = std::find_if(all.begin(), all.end(), [&](const Standing &standing) { return standing.schedule == timing.schedule; });
      if (known == all.end()) {
        all.push_back({timing.schedule});
        pooled.emplace_back();
        known = std::prev(all.end());
      }
      if (timing.predictedSeconds > 0)
        known->predictedSeconds = timing.predictedSeconds;
      if (!timing.refused.empty())
        known->refused = timing.refused;
      if (!timing.seconds.empty())
        known->seconds = median(timing.seconds);
      const std::vector<double> here = ratios(timing, run.tried.front());
      auto &there = pooled[std::size_t(known - all.begin())];
      there.insert(there.end(), here.begin(), here.end());
    }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].rounds = all[i].refused.empty() ? pooled[i].size() : 0;   // wrong once is wrong
    if (!all[i].rounds)
      continue;
    all[i].ratio = median(pooled[i]);
    all[i].low = quantile(pooled[i], 0.25);
    all[i].high = quantile(pooled[i], 0.75);
  }
  std::stable_sort(all.begin(), all.end(), [](const Standing &a, const Standing &b) {
    if ((a.rounds == 0) != (b.rounds == 0))
      return b.rounds == 0;
    return a.rounds != 0 && a.ratio < b.ratio;
  });
  return all;
}

std::optional<Schedule> choice(const TuningRecord &record) {
  const std::vector<Standing> all = standings(record);
  const Schedule *unchanged = nullptr;
  for (auto run = record.runs.rbegin(); run != record.runs.rend() && !unchanged; ++run)
    if (!run->tried.empty() && run->tried.front().seconds.size() >= leastRounds)
      unchanged = &run->tried.front().schedule;
  if (!unchanged)
    return std::nullopt;
  for (const Standing &standing : all)
    if (standing.rounds >= leastRounds)
      return standing.ratio < 1 - leastGain ? standing.schedule : *unchanged;
  return *unchanged;
}

std::optional<double> chosenSeconds(const TuningRecord &record) {
  if (const auto chosen = choice(record))
    for (const Standing &standing : standings(record))
      if (standing.schedule == *chosen)
        return standing.seconds;
  return std::nullopt;
}

} // namespace tw::tuning
