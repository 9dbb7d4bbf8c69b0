// From checked arguments to a run over all items.
#include "Checked.h"
#include "State.h"
#include "tilewright/cpu/MemoryDescriptor.h"
#include <cstdlib>
#include <fmt/format.h>
#include <new>

namespace tw {
namespace {

constexpr std::size_t workspaceAlignment = 64;

std::size_t bytesNeeded(const Kernel::State &state) {
  const std::size_t arguments = std::max(state.artifact.parameters.size(), state.scratchArgument + 1);
  return hostWorkspaceBytes(arguments, state.items.size(), state.artifact.scratchBytes, 0);
}

void checkWorkspace(const Kernel::State &state, Workspace workspace) {
  const std::size_t needed = bytesNeeded(state);
  if (workspace.bytes < needed)
    throw ArgumentError(fmt::format("the workspace has {} bytes, kernel '{}' needs {}; ask workspaceBytes() with the same arguments", workspace.bytes, state.artifact.program, needed));
  if (!workspace.data)
    throw ArgumentError(fmt::format("the workspace has no memory: its address is null; kernel '{}' needs {} bytes", state.artifact.program, needed));
  if (reinterpret_cast<std::uintptr_t>(workspace.data) % workspaceAlignment)
    throw ArgumentError(fmt::format("the workspace lies at address {}, which is no multiple of {}", fmt::ptr(workspace.data), workspaceAlignment));
}

void run(const Kernel::State &state, Checked &checked, Workspace workspace) {
  const auto &parameters = state.artifact.parameters;
  std::vector<MemoryDescriptor> tensors;
  tensors.reserve(checked.tensors.size());
  std::vector<std::int32_t> extents;
  extents.reserve(parameters.size());
  std::vector<void *> arguments(std::max(parameters.size(), state.scratchArgument + 1), nullptr);
  std::size_t scalar = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    switch (parameters[i].kind) {
    case Parameter::Kind::tensor: {
      const CheckedTensor &tensor = checked.tensors[tensors.size()];
      arguments[i] = tensors.emplace_back(tensor.data, tensor.shape, tensor.strides).argument();
      break;
    }
    case Parameter::Kind::extent:
      for (std::size_t axis = 0; axis < state.artifact.axes.size(); ++axis)
        if (state.artifact.axes[axis].name == parameters[i].name)
          arguments[i] = &extents.emplace_back(static_cast<std::int32_t>(checked.lengths[axis]));
      break;
    case Parameter::Kind::scalar:
      arguments[i] = checked.scalars[scalar++].element.data();
      break;
    case Parameter::Kind::item:
    case Parameter::Kind::scratch:
      break;   // a thread's own
    }
  std::vector<HostAxis> items = state.items;
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].extent = checked.lengths[state.itemAxes[i]];
  launchHost(*state.code, {.arguments = arguments, .axes = items, .scratchArgument = state.scratchArgument, .scratchBytes = state.artifact.scratchBytes,
                           .workspace = static_cast<std::byte *>(workspace.data), .workspaceBytes = workspace.bytes});
}

struct Release {
  void operator()(void *memory) const { std::free(memory); }
};

} // namespace

std::size_t Kernel::workspaceBytes(const Arguments &arguments) const {
  (void)check(state->artifact, state->inner, arguments);
  return bytesNeeded(*state);
}

void Kernel::launch(Stream stream, const Arguments &arguments, Workspace workspace) const {
  if (stream.handle)
    throw ArgumentError(fmt::format("kernel '{}' runs on the CPU, which has no streams; launch it on hostStream", state->artifact.program));
  Checked checked = check(state->artifact, state->inner, arguments);
  checkWorkspace(*state, workspace);
  if (checked.hasItems)
    run(*state, checked, workspace);
}

void Kernel::launch(const Arguments &arguments) const {
  Checked checked = check(state->artifact, state->inner, arguments);
  if (!checked.hasItems)
    return;
  const std::size_t needed = (bytesNeeded(*state) + workspaceAlignment - 1) / workspaceAlignment * workspaceAlignment;
  std::unique_ptr<void, Release> memory(std::aligned_alloc(workspaceAlignment, needed));
  if (!memory)
    throw std::bad_alloc();
  run(*state, checked, {memory.get(), needed});
}

} // namespace tw
