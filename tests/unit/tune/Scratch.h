// What the tests of tuning share: a folder of their own, and records that are known.
#pragma once
#include "tilewright/tune/Records.h"
#include <atomic>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace tw::tests {

/// A new folder, removed at the end.
struct Scratch {
  std::filesystem::path folder;
  Scratch() {
    static std::atomic<int> number = 0;
    const std::filesystem::path root = ::access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    folder = root / ("tilewright-tune-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(folder);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  [[nodiscard]] cache::Location location() const { return {folder / "tuning.sqlite"}; }
};

inline cache::Digest keyOf(int i) { return tuning::digestOf({.program = "rows", .target = "h200", .shapeClass = "q=" + std::to_string(i)}); }

inline Schedule scheduleOf(int width) { return Schedule{"q", {{"k", width}, {"q", 128}}}; }

/// A run of worker `worker`, the `number`th of it: two schedules, five rounds.
inline TuningRun runOf(int worker, int number) {
  TuningRun run{"worker " + std::to_string(worker), "13.0", "nvrtc 13.0", "0.1.0", "Q=1x" + std::to_string(number), {}};
  for (int width : {64, 128})
    run.tried.push_back({scheduleOf(width), 1e-3 * width, {}, {}});
  for (int round = 0; round < 5; ++round)
    for (int i : {0, 1})
      run.tried[std::size_t(i)].seconds.push_back(1e-3 * (worker + 1) * (i ? 0.5 : 1));
  return run;
}

inline TuningRecord headingOf(int i) { return {"rows", "h200", "q=" + std::to_string(i), {}}; }

} // namespace tw::tests
