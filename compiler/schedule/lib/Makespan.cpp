// List scheduling: a heap of the times at which slots are free.
#include "Makespan.h"
#include <algorithm>
#include <functional>

namespace tw {
namespace {

/// Of the runs, about `most` items, every run shortened alike; what that must be multiplied by.
double shorten(std::vector<Run> &runs, std::int64_t items, std::int64_t most) {
  if (items <= most)
    return 1;
  double before = 0, after = 0;
  std::vector<Run> kept;
  const std::int64_t step = std::max<std::int64_t>(1, std::int64_t(runs.size()) / most);   // more runs than items that may stay
  const std::int64_t every = (items + most - 1) / most / step + 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    before += double(runs[i].items) * runs[i].duration;
    if (std::int64_t(i) % step)
      continue;
    Run run = runs[i];
    run.items = std::max<std::int64_t>(1, run.items / every);
    after += double(run.items) * run.duration;
    kept.push_back(run);
  }
  runs = std::move(kept);
  return after > 0 ? before / after : 1;
}

} // namespace

double makespan(const std::vector<Run> &all, std::int64_t slots, bool drawn) {
  constexpr std::int64_t most = 32768;
  std::vector<Run> runs = all;
  std::int64_t items = 0;
  for (const Run &run : runs)
    items += run.items;
  if (items == 0 || slots < 1)
    return 0;
  const bool alike = std::all_of(runs.begin(), runs.end(), [&](const Run &run) { return run.duration == runs.front().duration; });
  if (alike)
    return double((items + slots - 1) / slots) * runs.front().duration;
  const double scale = shorten(runs, items, most);
  std::vector<double> free(std::size_t(slots), 0.0);
  std::size_t next = 0;
  for (const Run &run : runs)
    for (std::int64_t i = 0; i < run.items; ++i) {
      if (drawn) {
        std::pop_heap(free.begin(), free.end(), std::greater<>());
        free.back() += run.duration;
        std::push_heap(free.begin(), free.end(), std::greater<>());
      } else {
        free[next] += run.duration;
        next = next + 1 == free.size() ? 0 : next + 1;
      }
    }
  return scale * *std::max_element(free.begin(), free.end());
}

} // namespace tw
