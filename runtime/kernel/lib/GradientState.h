// What the kernels of a gradient consist of once they are built.
#pragma once
#include "Given.h"
#include "tilewright/kernel/GradientKernels.h"

namespace tw {

struct GradientKernels::State {
  /// A tensor of a step: the caller's, or what lies between kernels.
  struct Source {
    std::string name;
    std::optional<std::size_t> between;   // its place among the intermediates
  };
  struct Step {
    Kernel kernel;
    std::vector<Source> tensors;
    std::vector<std::string> scalars;
  };
  Gradient programs;
  Step forward;
  std::vector<Step> backward;
  std::vector<std::string> tensors, scalars;   // what a caller may give, sorted
};

/// As the functions of GradientKernels. Repeated launches allocate nothing.
[[nodiscard]] std::size_t workspaceBytes(const GradientKernels::State &state, const Given &given);
void forward(const GradientKernels::State &state, Stream stream, const Given &given, Workspace workspace);
void backward(const GradientKernels::State &state, Stream stream, const Given &given, Workspace workspace);

} // namespace tw
