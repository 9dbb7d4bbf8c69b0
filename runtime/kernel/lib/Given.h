// What a launch is given, as it lies in the caller's memory: maps of C++ and arrays of C alike.
#pragma once
#include "tilewright/kernel/Kernel.h"
#include <span>
#include <string_view>

namespace tw {

struct GivenTensor {
  std::string_view name;
  void *data = nullptr;
  Type type = Type::f32;
  std::span<const std::int64_t> shape, strides;   // as in TensorView
};

struct GivenScalar {
  std::string_view name;
  double value = 0;
};

/// Nothing of it is checked: names may come twice.
struct Given {
  std::span<const GivenTensor> tensors;
  std::span<const GivenScalar> scalars;
};

/// As Kernel::workspaceBytes and Kernel::launch.
[[nodiscard]] std::size_t workspaceBytes(const Kernel::State &state, const Given &given);
void launch(const Kernel::State &state, Stream stream, const Given &given, Workspace workspace);
void launchAndWait(const Kernel::State &state, const Given &given);

} // namespace tw
