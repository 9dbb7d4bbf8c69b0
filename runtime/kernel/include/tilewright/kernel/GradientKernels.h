// Forward and backward kernels of one program.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Kernel.h"

namespace tw {

/// The kernels of a gradient, in order. What one writes for another lies in the caller's workspace; everything else is given by
/// name: the program's tensors and scalars, for each output O its derivative dO, for each input Q its gradient dQ.
/// No sum is made by atomic additions, so that every run gives the same bits.
class GradientKernels {
public:
  GradientKernels(Gradient programs, Kernel forward, std::vector<Kernel> backward);
  [[nodiscard]] const Gradient &programs() const { return made; }
  /// Kernels in the order in which they run: the first is the forward one.
  [[nodiscard]] std::vector<Kernel> kernels() const;

  /// Bytes of workspace for these arguments: what lies between kernels, linear in each length, and the most that one of them needs for
  /// itself. Derivatives and gradients need not be among the arguments yet.
  [[nodiscard]] std::size_t workspaceBytes(const Arguments &arguments) const;
  /// Runs the program. The workspace must stay as it is until backward() has been launched with it.
  void forward(Stream stream, const Arguments &arguments, Workspace workspace) const;
  /// Computes the gradients, after forward() with the same tensors, on the same stream.
  void backward(Stream stream, const Arguments &arguments, Workspace workspace) const;

private:
  struct Place {
    std::size_t offset = 0;
    std::vector<std::int64_t> shape;
  };
  [[nodiscard]] std::map<std::string, Place> places(const Arguments &arguments, std::size_t &end) const;
  void run(const Kernel &kernel, const Program &program, Stream stream, const Arguments &arguments, Workspace workspace) const;

  Gradient made;
  Kernel first;
  std::vector<Kernel> rest;
};

/// Differentiates the program and builds every kernel. `options.extents` names the inner axes of the program itself; a schedule there
/// is the forward kernel's, the others have their default ones.
[[nodiscard]] GradientKernels buildGradient(const Program &program, const BuildOptions &options = {}, const GradientOptions &gradient = {});

} // namespace tw
