// Results of one schedule beside those of others: whether it computes the same program.
#pragma once
#include "TuneProblem.h"
#include "tilewright/kernel/Kernel.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// What is wrong with `result`, beside what it should be; empty: nothing. Elements may be off by `allowed`, infinities must be equal, and
/// a NaN must stand in both.
[[nodiscard]] std::string difference(const std::string &tensor, const std::vector<double> &result, const std::vector<double> &expected,
                                     double allowed);

/// Holds the results of one schedule after the other to evaluate() on a small problem, and to the first schedule's on the problem that is timed.
/// A schedule may be off by four times what the first one is off by, or by some roundings of the largest result; the first one by a share
/// of the largest result that no rounding explains.
class TuneCheck {
public:
  using Launch = std::function<void(const Kernel &, const TuneProblem &)>;   // and waits
  TuneCheck(const Program &program, TuneProblem &timed, Launch launch, SharedTensors shared = {})
      : program(program), timed(timed), launch(std::move(launch)), shared(std::move(shared)) {
    this->shared.stored.clear();   // of the timed problem
  }

  /// The first of these problems that evaluate() takes is the small one. None may be.
  void useSmall(std::vector<TuningInputs> problems, std::optional<int> ordinal);

  /// The small problem, with what is right of stored tensors, in their types; nothing where there is none.
  [[nodiscard]] std::optional<TuningInputs> smallProblem() const;

  /// What is wrong with the kernel; empty: nothing. The first call sets what later ones are held to.
  [[nodiscard]] std::string check(const Kernel &kernel);

private:
  using Values = std::map<std::string, std::vector<double>>;
  [[nodiscard]] Values run(const Kernel &kernel, TuneProblem &problem) const;

  const Program &program;
  TuneProblem &timed;
  Launch launch;
  SharedTensors shared;
  std::unique_ptr<TuneProblem> small;
  Values expected;                         // of the small problem
  std::map<std::string, double> allowed;   // by tensor, once the first schedule was checked
  Values first;                            // its results of the timed problem
};

} // namespace tw
