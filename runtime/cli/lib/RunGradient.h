// The backward pass of `run`: where it runs, and what it finds out.
#pragma once
#include "Run.h"
#include "tilewright/dsl/Gradient.h"

namespace tw::cli {

using Arrays = std::map<std::string, Array>;

/// What one run found out. Times are seconds.
struct BackwardReport {
  Arrays gradients;                        // by input
  std::vector<std::string> kernels;        // in order, with their schedules; empty: there are none
  double forwardSeconds = 0, backwardSeconds = 0, buildSeconds = 0;
  std::size_t workspaceBytes = 0;
  int threads = 0;                         // of the CPU
  std::string gpu;                         // its name
  int runsTimedTogether = 0;               // on a GPU
  std::int64_t differing = 0;              // elements that a GPU computed otherwise in a later run
  std::vector<SimulatedSetting> settings;  // of the simulator: all kernels

  /// Nothing is wrong, whatever the numbers.
  [[nodiscard]] bool isClean() const;
};

/// The problem, the derivatives of the loss among its inputs, and what is to be computed.
struct BackwardProblem {
  const Problem &problem;
  Gradient made;
  Evaluation inputs;

  /// In programs for kernels of `build`.
  BackwardProblem(const Problem &problem, const BuildOptions &build);
  /// The shape of a tensor of the problem, of a derivative or a gradient.
  [[nodiscard]] std::vector<std::int64_t> shapeOf(const std::string &tensor) const;
};

/// Everything but what lies between kernels in memory, in its types, as kernels take it. What they store is NaN.
class GradientMemory {
public:
  explicit GradientMemory(const BackwardProblem &problem);
  [[nodiscard]] Arguments &arguments() { return given; }
  [[nodiscard]] std::size_t bytesOf(const std::string &tensor) const { return memory.at(tensor).size(); }
  /// What was stored, by input.
  [[nodiscard]] Arrays gradients() const;

private:
  void add(const std::string &name, Type type, const std::vector<std::int64_t> &shape, const Array *values = nullptr);
  const BackwardProblem &problem;
  std::map<std::string, std::vector<std::byte>> memory;
  Arguments given;
};

/// Gradients, by input, that every run makes in the same order: without those that stand on what steps add to memory as they come.
[[nodiscard]] Arrays inOrder(const Gradient &made, Arrays gradients);

/// For the place where it runs.
[[nodiscard]] BuildOptions backwardOptions(const Problem &problem, const RunOptions &options);
[[nodiscard]] BackwardReport backwardOnCpu(const BackwardProblem &problem, const RunOptions &options);
/// On GPU 0. Throws RuntimeError where there is none.
[[nodiscard]] BackwardReport backwardOnGpu(const BackwardProblem &problem, const RunOptions &options);
[[nodiscard]] BackwardReport backwardInSimulator(const BackwardProblem &problem, const RunOptions &options);
[[nodiscard]] BackwardReport backwardByEvaluate(const BackwardProblem &problem);

/// Each gradient against float64: how docs/cli.md says.
[[nodiscard]] std::vector<Comparison> checkGradients(const BackwardProblem &problem, const BackwardReport &report);

} // namespace tw::cli
