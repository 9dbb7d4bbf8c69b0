// Candidates raced against each other. Whoever tunes says how one is compiled, checked and launched.
#pragma once
#include "tilewright/tune/Progress.h"
#include "tilewright/tune/Record.h"
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tw::tuning {

/// A schedule to be tried, by its place in a list.
struct Candidate {
  Schedule schedule;
  double predictedSeconds = 0;   // 0: not predicted
};

/// Thrown by a bench where nothing can run any more, because of what this candidate did.
class ProcessorLost : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// How to do it. What throws refuses the candidate, with its text for a reason; after ProcessorLost nothing else is tried, and `stopped` says whose fault it is.
struct Bench {
  /// In any thread, several at once. Returns the schedule that it came to: the first candidate may be another one that fits.
  std::function<Schedule(std::size_t candidate)> compile;
  /// Before it is timed: what is wrong with its results; empty: nothing.
  std::function<std::string(std::size_t candidate)> check;
  /// Seconds of one launch.
  std::function<double(std::size_t candidate)> measure;
};

struct TunerOptions {
  double budgetSeconds = 30;
  std::size_t mostCompiled = 0;   // of the candidates, in order: those that are refused count for nothing, the next ones take their place; 0: all
  unsigned threads = 0;   // that compile; 0: one a core
  std::size_t mostRounds = 60;
  double timingSeconds = 4;   // after which no round begins, were all candidates still there
  double settlingSeconds = 0; // of rounds before the first that counts: until a clock that depends on power has come down
  std::uint64_t seed = 1;     // of the order within a round
  std::function<void(const TuningProgress &)> onProgress;
  std::function<bool()> stop;   // what is found by then is kept
};

/// Compiles, checks and times. The first candidate is the default schedule, which is never given up, as the others are told by their ratio to it. A round
/// times every candidate that is left once, in a random order; one whose middle half lies above the best one's is left out of later rounds.
/// Returns the first candidate and every other one that was refused or timed, in order.
[[nodiscard]] std::vector<ScheduleTiming> tune(const std::vector<Candidate> &candidates, const Bench &bench, const TunerOptions &options);

} // namespace tw::tuning
