// What a launch is given, checked against what the kernel is.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include "tilewright/kernel/Kernel.h"
#include <array>
#include <map>
#include <string>
#include <vector>

namespace tw {

/// A tensor of a launch, with its strides said.
struct CheckedTensor {
  const Parameter *parameter = nullptr;
  std::byte *data = nullptr;
  std::vector<std::int64_t> shape, strides;   // in elements
  [[nodiscard]] bool isEmpty() const;
};

/// A scalar of a launch as the entry takes it: an element of the parameter's type.
struct CheckedScalar {
  const Parameter *parameter = nullptr;
  double value = 0;
  alignas(8) std::array<std::byte, 8> element = {};
};

/// Everything that a launch needs; of the artifact's parameters in order.
struct Checked {
  std::vector<CheckedTensor> tensors;
  std::vector<CheckedScalar> scalars;
  std::vector<std::int64_t> lengths;   // of the artifact's axes
  bool hasItems = true;                // false: some axis along which items differ is empty
  std::string unfit;                   // why the kernel's copies and stores do not take a tensor as it lies; empty: they take all
};

/// Checks everything that can be told before anything runs, and throws ArgumentError. `inner` are the lengths for which
/// the kernel was built. `alike`, where it is given, is what was accepted for this kernel with the same shapes and scalars: what
/// depends on nothing else is taken from it.
[[nodiscard]] Checked check(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const Arguments &arguments, const Checked *alike = nullptr);

// ---- the parts, in the order in which they are checked
/// Names, types, ranks, addresses.
[[nodiscard]] std::vector<CheckedTensor> checkTensors(const Artifact &artifact, const std::map<std::string, TensorView> &given);
/// Names and values.
[[nodiscard]] std::vector<CheckedScalar> checkScalars(const Artifact &artifact, const std::map<std::string, double> &given);
/// The lengths of the axes; what the dimensions of tensors say must agree.
[[nodiscard]] std::vector<std::int64_t> checkLengths(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const std::vector<CheckedTensor> &tensors);
/// The program's requirements, and that no tensor is read outside.
void checkConditions(const Artifact &artifact, const Checked &checked);
/// Why a GPU's kernel that copies and stores in pieces cannot do so with one of the tensors, and the cure; empty: it can, or it takes any strides.
[[nodiscard]] std::string unfitFor(const Artifact &artifact, const std::vector<CheckedTensor> &tensors);
/// That no element is written twice, or written and read.
void checkMemory(const std::vector<CheckedTensor> &tensors);

/// `[2, 8, 1000, 128]`
[[nodiscard]] std::string shapeText(const std::vector<std::int64_t> &shape);

} // namespace tw
