// What a kernel for a GPU consists of once it is built.
#pragma once
#include "Checked.h"
#include "tilewright/cuda/Module.h"
#include "tilewright/cuda/Recording.h"
#include "tilewright/device/Plan.h"
#include <memory>
#include <optional>

namespace tw {

/// The parameter block of a kernel is at most this large: CUDA promises no more for kernels of every version.
inline constexpr std::size_t mostParameterBytes = 4096;

/// What every launch with the same arguments has in common.
struct PreparedLaunch {
  int ordinal = 0, blocks = 0;
  std::size_t workspaceBytes = 0;
  std::vector<device::ParameterLine> parameters;   // but for the address of the workspace
  std::vector<cuda::Words> sums;                   // what the kernel adds to
  const void *workspace = nullptr;                 // the last one that was found on this GPU

  // Of launches that are made again and again.
  int repeats = 0;                                 // with the same workspace, equally zeroed
  const void *counters = nullptr;
  bool zeroes = false;
  std::optional<cuda::Recording> recording;
};

/// Launch facts resolved, code ready to be loaded on the first GPU that it is launched on. No GPU is needed to make one.
class DeviceKernel {
public:
  /// Throws RuntimeError where the artifact contradicts itself: its code takes other parameters than its facts say.
  explicit DeviceKernel(const Artifact &artifact);

  /// What a launch with these lengths needs on the largest of this machine's GPUs.
  [[nodiscard]] std::size_t workspaceBytes(const Checked &checked) const;
  /// What every launch needs.
  [[nodiscard]] std::size_t leastWorkspaceBytes() const { return counterBytes; }

  /// Queues a launch on the GPU where the tensors are. There are items. Throws ArgumentError where a tensor is in no GPU's memory, they are on
  /// several, or the workspace is not there, RuntimeError where that GPU cannot run it. `prepared` belongs to `checked`, which was launched before where it holds something; then
  /// the tensors are looked up no more but for one, where a process sees several GPUs.
  void launch(const Artifact &artifact, void *stream, const Checked &checked, std::optional<PreparedLaunch> &prepared, Workspace workspace) const;

  /// All that a launch without items does: queues that what the kernel adds to becomes 0. The GPU where it did, or nothing.
  std::optional<int> zeroSums(const Checked &checked, void *stream) const;

  /// A launch with a workspace of its own; waits until it is done.
  void launchAndWait(const Artifact &artifact, const Checked &checked) const;

private:
  [[nodiscard]] int ordinalOf(const Checked &checked, bool isKnown) const;
  [[nodiscard]] PreparedLaunch prepare(int ordinal, const Artifact &artifact, const Checked &checked) const;
  /// Throws ArgumentError where the workspace is not on this GPU. One that was found there last is not looked up again.
  void checkHome(PreparedLaunch &prepared, const Artifact &artifact, Workspace workspace) const;
  void queue(PreparedLaunch &prepared, const Artifact &artifact, void *stream, Workspace workspace) const;

  device::Plan plan;
  cuda::Module module;
  std::vector<std::size_t> tensors, axes, scalars;   // of the plan's: which of Checked's
  std::size_t counterBytes = 0;
};

} // namespace tw
