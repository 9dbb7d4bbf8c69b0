// Forward and backward kernels of one program.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Kernel.h"

namespace tw {

/// The kernels of a gradient, in order. What one writes for another lies in the caller's workspace; everything else is given by
/// name: the program's tensors and scalars, for each output O its derivative dO, for each input Q its gradient dQ.
/// With BuildOptions::deterministic no sum is made by atomic additions, so that every run gives the same bits.
class GradientKernels {
public:
  GradientKernels(Gradient programs, Kernel forward, std::vector<Kernel> backward);
  [[nodiscard]] const Gradient &programs() const;
  /// Kernels in the order in which they run: the first is the forward one.
  [[nodiscard]] std::vector<Kernel> kernels() const;

  /// Bytes of workspace for these arguments: what lies between kernels, linear in each length, and the most that one of them needs for
  /// itself. Derivatives and gradients need not be among the arguments yet.
  [[nodiscard]] std::size_t workspaceBytes(const Arguments &arguments) const;
  /// Runs the program, as Kernel::launch does. The workspace must stay as it is until backward() has run with it.
  void forward(Stream stream, const Arguments &arguments, Workspace workspace) const;
  /// Computes the gradients, after forward() with the same tensors, on the same stream: kernel after kernel, queued on a GPU.
  void backward(Stream stream, const Arguments &arguments, Workspace workspace) const;

  struct State;

private:
  friend const State &stateOf(const GradientKernels &kernels) { return *kernels.state; }
  std::shared_ptr<const State> state;
};

/// Differentiates the program and builds every kernel. `options.extents` names the inner axes of the program itself; a schedule there
/// is the forward kernel's, the others have their default ones.
[[nodiscard]] GradientKernels buildGradient(const Program &program, const BuildOptions &options = {}, const GradientOptions &gradient = {});
/// The same of programs that are there already.
[[nodiscard]] GradientKernels buildGradient(Gradient programs, const BuildOptions &options = {});

} // namespace tw
