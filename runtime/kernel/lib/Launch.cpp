// From arguments to a launch, checked before anything runs.
#include "Accepted.h"
#include "LaunchHost.h"
#include "Listed.h"
#include "Second.h"
#include "State.h"
#include "tilewright/cuda/Buffer.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <new>

namespace tw {
namespace {

constexpr std::size_t workspaceAlignment = 64;

/// Of either kernel, so that nobody who asks has to know which one a launch takes.
std::size_t bytesNeeded(const Kernel::State &state, const Checked &checked) {
  const std::size_t needed = state.device ? state.device->workspaceBytes(checked) : hostBytesNeeded(state, checked);
  return state.second ? std::max(needed, bytesNeeded(*state.second->kernel, checked)) : needed;
}

void checkWorkspace(const Kernel::State &state, const Checked &checked, Workspace workspace) {
  // A GPU's lists are asked for as the launch is prepared.
  const std::size_t needed = state.device ? state.device->leastWorkspaceBytes() : hostBytesNeeded(state, checked);
  if (needed == 0)
    return;
  if (workspace.bytes < needed)
    throw ArgumentError(fmt::format("the workspace has {} bytes, kernel '{}' needs {}; ask workspaceBytes() with the same arguments", workspace.bytes, state.artifact.program, needed));
  if (!workspace.data)
    throw ArgumentError(fmt::format("the workspace has no memory: its address is null; kernel '{}' needs {} bytes", state.artifact.program, needed));
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % workspaceAlignment)
    throw ArgumentError(fmt::format("the workspace lies at address {}, which is no multiple of {}", fmt::ptr(workspace.data), workspaceAlignment));
}

void checkReads(const Kernel::State &state, const Checked &checked, void *stream) {
  if (state.readChecks && checked.hasItems)
    (*state.readChecks)(state.artifact, checked, state.device != nullptr, stream);
}

struct Release {
  void operator()(void *memory) const { std::free(memory); }
};

} // namespace

std::size_t workspaceBytes(const Kernel::State &state, const Given &given) {
  const Checked &checked = accepted(state, given).checked;
  return checked.unfit.empty() || !checked.hasItems ? bytesNeeded(state, checked) : workspaceBytes(state.strided(checked.unfit), given);
}

void launch(const Kernel::State &state, Stream stream, const Given &given, Workspace workspace) {
  if (stream.handle && !state.device)
    throw ArgumentError(fmt::format("kernel '{}' runs on the CPU, which has no streams; launch it on hostStream", state.artifact.program));
  const auto &[kernel, checked, prepared] = accepted(state, given);
  checkReads(state, checked, stream.handle);
  if (!checked.unfit.empty() && checked.hasItems)
    return launch(state.strided(checked.unfit), stream, given, workspace);
  checkWorkspace(kernel, checked, workspace);
  if (!checked.hasItems) {
    if (kernel.device)
      kernel.device->zeroSums(checked, stream.handle);
    else
      zeroSumsOnHost(checked);
    return;
  }
  if (kernel.device)
    kernel.device->launch(kernel.artifact, stream.handle, checked, prepared, workspace);
  else
    runOnHost(kernel, checked, workspace);
}

void launchAndWait(const Kernel::State &state, const Given &given) {
  const auto &[kernel, checked, prepared] = accepted(state, given);
  checkReads(state, checked, nullptr);
  if (!checked.unfit.empty() && checked.hasItems)
    return launchAndWait(state.strided(checked.unfit), given);
  if (!checked.hasItems) {
    if (!kernel.device)
      zeroSumsOnHost(checked);
    else if (const std::optional<int> ordinal = kernel.device->zeroSums(checked, nullptr))
      cuda::synchronise(*ordinal, nullptr);
    return;
  }
  if (kernel.device)
    return kernel.device->launchAndWait(kernel.artifact, checked);
  const std::size_t needed = (bytesNeeded(state, checked) + workspaceAlignment - 1) / workspaceAlignment * workspaceAlignment;
  std::unique_ptr<void, Release> memory(std::aligned_alloc(workspaceAlignment, needed));
  if (!memory)
    throw std::bad_alloc();
  runOnHost(state, checked, {memory.get(), needed});
}

std::size_t Kernel::workspaceBytes(const Arguments &arguments) const { return tw::workspaceBytes(*state, Listed(arguments)); }
void Kernel::launch(Stream stream, const Arguments &arguments, Workspace workspace) const { tw::launch(*state, stream, Listed(arguments), workspace); }
void Kernel::launch(const Arguments &arguments) const { tw::launchAndWait(*state, Listed(arguments)); }
Schedule Kernel::scheduleFor(const Arguments &arguments) const {
  const auto &[kernel, checked, prepared] = accepted(*state, Listed(arguments));
  return parseSchedule((checked.unfit.empty() || !checked.hasItems ? kernel : state->strided(checked.unfit)).artifact.schedule);
}

} // namespace tw
