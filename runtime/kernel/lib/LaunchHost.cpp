// From checked arguments to a run over all items, on threads of this CPU.
#include "LaunchHost.h"
#include "tilewright/cpu/MemoryDescriptor.h"
#include <algorithm>
#include <cstring>

namespace tw {

/// Working memory of an item that runs, with the lists whose lengths the launch says.
static std::int64_t scratchBytes(const Kernel::State &state, const Checked &checked) {
  std::int64_t bytes = state.artifact.scratchBytes;
  for (const ListFacts &list : state.artifact.lists)
    for (std::size_t axis = 0; axis < state.artifact.axes.size(); ++axis)
      if (state.artifact.axes[axis].name == list.axis)
        bytes += static_cast<std::int64_t>(sizeof(std::int32_t)) * ((checked.lengths[axis] + list.width - 1) / list.width);
  return bytes;
}

std::size_t hostBytesNeeded(const Kernel::State &state, const Checked &checked) {
  const std::size_t arguments = std::max(state.artifact.parameters.size(), state.scratchArgument + 1);
  return hostWorkspaceBytes(arguments, state.items.size(), scratchBytes(state, checked), 0);
}

/// Sets all elements of a tensor that steps add to to 0.
static void zero(const CheckedTensor &tensor) {
  const std::size_t elementBytes = tensor.parameter->type == "f64" ? sizeof(double) : sizeof(float);
  std::vector<std::int64_t> at(tensor.shape.size(), 0);
  if (tensor.isEmpty())
    return;
  while (true) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < at.size(); ++d)
      offset += at[d] * tensor.strides[d];
    std::memset(tensor.data + offset * static_cast<std::int64_t>(elementBytes), 0, elementBytes);
    std::size_t d = at.size();
    while (d-- > 0 && ++at[d] == tensor.shape[d])
      at[d] = 0;
    if (d == static_cast<std::size_t>(-1))
      return;
  }
}

void zeroSumsOnHost(const Checked &checked) {
  for (const CheckedTensor &tensor : checked.tensors)
    if (tensor.parameter->summed)
      zero(tensor);
}

void runOnHost(const Kernel::State &state, const Checked &checked, Workspace workspace) {
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
      if (tensor.parameter->summed)
        zero(tensor);
      arguments[i] = tensors.emplace_back(tensor.data, tensor.shape, tensor.strides).argument();
      break;
    }
    case Parameter::Kind::extent:
      for (std::size_t axis = 0; axis < state.artifact.axes.size(); ++axis)
        if (state.artifact.axes[axis].name == parameters[i].name)
          arguments[i] = &extents.emplace_back(static_cast<std::int32_t>(checked.lengths[axis]));
      break;
    case Parameter::Kind::scalar:
      arguments[i] = const_cast<std::byte *>(checked.scalars[scalar++].element.data());
      break;
    case Parameter::Kind::item:
    case Parameter::Kind::scratch:
      break;   // a thread's own
    }
  std::vector<HostAxis> items = state.items;
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].extent = checked.lengths[state.itemAxes[i]];
  launchHost(*state.code, {.arguments = arguments, .axes = items, .scratchArgument = state.scratchArgument, .scratchBytes = scratchBytes(state, checked),
                           .workspace = static_cast<std::byte *>(workspace.data), .workspaceBytes = workspace.bytes});
}

} // namespace tw
