// When the last of many items ends that a processor's slots share.
#pragma once
#include <cstdint>
#include <vector>

namespace tw {

/// Items that come one behind the other and take equally long.
struct Run {
  std::int64_t items = 0;
  double duration = 0;
};

/// `drawn`: each slot takes the next item when it is free; else slot s takes items s, s + slots, …. Above some 30 thousand items the rounds in the
/// middle are taken to be alike.
[[nodiscard]] double makespan(const std::vector<Run> &runs, std::int64_t slots, bool drawn);

} // namespace tw
