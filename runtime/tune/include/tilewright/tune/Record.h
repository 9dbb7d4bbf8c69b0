// What is known of the schedules of one program, on one target, for one class of lengths: plain data.
#pragma once
#include "tilewright/dsl/Schedule.h"
#include <string>
#include <vector>

namespace tw {

/// A schedule that was tried.
struct ScheduleTiming {
  Schedule schedule;
  double predictedSeconds = 0;   // by the cost model; 0: not predicted
  std::vector<double> seconds;   // of one launch, one a round, from the first round on; empty: not timed
  std::string refused;           // why it was not timed: the compiler's reason, or what was wrong with its results
  bool stopped = false;          // refused since the processor could run nothing after it: it is not tried again
};

/// One tuning: schedules that were timed in turn, so that what disturbed one round disturbed them all.
struct TuningRun {
  std::string processor;               // "NVIDIA H200"
  std::string driver;                  // "13.0": the CUDA version of the driver; empty on the CPU
  std::string assembler;               // NVRTC's version and options; the CPU's features on the CPU
  std::string version;                 // of Tilewright
  std::string shapes;                  // of the tensors: "K=4x8x4096x128 Q=4x32x4096x128"
  std::vector<ScheduleTiming> tried;   // the default schedule is the first
};

/// All that is known.
struct TuningRecord {
  std::string program, target, shapeClass;   // in words
  std::vector<TuningRun> runs;               // the earliest first
};

} // namespace tw
