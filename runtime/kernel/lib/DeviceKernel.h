// What a kernel for a GPU consists of once it is built.
#pragma once
#include "Checked.h"
#include "tilewright/cuda/Module.h"
#include "tilewright/device/Plan.h"
#include <memory>

namespace tw {

/// The parameter block of a kernel is at most this large: CUDA promises no more for kernels of every version.
inline constexpr std::size_t mostParameterBytes = 4096;

/// Launch facts resolved, code ready to be loaded on the first GPU that it is launched on. No GPU is needed to make one.
class DeviceKernel {
public:
  /// Throws RuntimeError where the artifact contradicts itself: its code takes other parameters than its facts say.
  explicit DeviceKernel(const Artifact &artifact);

  [[nodiscard]] std::size_t workspaceBytes() const { return counterBytes; }

  /// Queues a launch on the GPU where the tensors are. There are items. Throws ArgumentError where a tensor is in no GPU's memory or they are on
  /// several, RuntimeError where that GPU cannot run it. With `isKnown` the tensors are those of a launch before, and only one is looked up.
  void launch(const Artifact &artifact, void *stream, const Checked &checked, bool isKnown, Workspace workspace) const;

  /// The same with a workspace of its own; waits until it is done.
  void launchAndWait(const Artifact &artifact, const Checked &checked) const;

private:
  [[nodiscard]] int ordinalOf(const Checked &checked, bool isKnown) const;
  void launchOn(int ordinal, const Artifact &artifact, void *stream, const Checked &checked, Workspace workspace) const;

  device::Plan plan;
  cuda::Module module;
  std::vector<std::size_t> tensors, axes, scalars;   // of the plan's: which of Checked's
  std::size_t counterBytes = 0;
};

} // namespace tw
