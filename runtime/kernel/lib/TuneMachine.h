// Where schedules that are tried are launched and timed.
#pragma once
#include "TuneProblem.h"
#include <memory>

namespace tw {

class TuneMachine {
public:
  virtual ~TuneMachine() = default;
  virtual void launchAndWait(const Kernel &kernel, const TuneProblem &problem) = 0;
  /// Of one launch.
  [[nodiscard]] virtual double seconds(const Kernel &kernel, const TuneProblem &problem) = 0;
};

[[nodiscard]] std::unique_ptr<TuneMachine> hostToTuneOn();
/// `problem` is what is timed there, made of `inputs` and `shared`.
[[nodiscard]] std::unique_ptr<TuneMachine> gpuToTuneOn(int ordinal, const Program &program, const TuningInputs &inputs, const SharedTensors &shared, const TuneProblem &problem);

} // namespace tw
