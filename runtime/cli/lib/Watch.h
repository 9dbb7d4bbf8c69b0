// Elapsed time.
#pragma once
#include <chrono>

namespace tw::cli {

/// Runs from its making on.
class Watch {
public:
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace tw::cli
