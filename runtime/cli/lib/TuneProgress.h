// What a tuning is doing, on stderr: one line that changes on a terminal, else a line a stage.
#pragma once
#include "tilewright/tune/Progress.h"
#include <mutex>
#include <string>
#include <vector>

namespace tw::cli {

/// `412.3 us`, `1.204 ms`, `2.31 s`
[[nodiscard]] std::string timeText(double seconds);

/// One line: `compiling 5 of 12 [####......] 0:09 left, best 412.3 us (0.943 of the default), 1 refused`
[[nodiscard]] std::string lineOf(const TuningProgress &progress);

/// Tunings that run side by side, each under a name.
class TuneProgress {
public:
  TuneProgress();
  explicit TuneProgress(bool isTerminal) : isTerminal(isTerminal) {}
  ~TuneProgress();
  /// Any thread may call it.
  void show(const std::string &name, const TuningProgress &progress);

private:
  struct Line {
    std::string name;
    TuningStage stage = TuningStage::done;
    std::string text;
  };
  std::mutex mutex;
  bool isTerminal;
  std::size_t drawn = 0;   // lines on the terminal
  std::vector<Line> lines;
};

} // namespace tw::cli
