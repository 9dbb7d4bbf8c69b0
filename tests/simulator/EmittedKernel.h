// Runs an emitted kernel in the simulator on arrays, as a launch on a GPU would be.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/simulator/Simulator.h"

namespace tw::tests {

struct EmittedOutcome {
  SimulationResult simulation;
  std::map<std::string, Array> outputs;   // stored tensors by name
  int items = 0, blocks = 0;
  bool countersAreZero = true;   // afterwards, as the next launch needs them
};

/// Where a tensor's elements lie: strides in elements, 0 and more, and the element of the memory where the first one is. Without strides row-major.
struct Layout {
  std::vector<std::int64_t> strides;
  std::int64_t first = 0;
};

class EmittedKernel {
public:
  /// Compiles the artifact's source, or another text in its place.
  explicit EmittedKernel(const Artifact &artifact, const std::string &text = {});

  /// `inputs` as for evaluate(), rounded to the tensors' types; `shapes` of the stored tensors. The launch has as many blocks as a GPU of
  /// `sms` multiprocessors would get, one resident at a time unless the options say otherwise.
  [[nodiscard]] EmittedOutcome run(const Evaluation &inputs, const std::map<std::string, std::vector<std::int64_t>> &shapes,
                                   const SimulatorOptions &options, int sms = 2, const std::map<std::string, Layout> &layouts = {}) const;

private:
  Artifact artifact;
  SimulatedKernel kernel;
};

}   // namespace tw::tests
