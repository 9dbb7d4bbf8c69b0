// Each tensor alone: is it there, is it of the right type and rank, can it lie where it is said to lie.
#include "Checked.h"
#include "tilewright/kernel/Nearest.h"
#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace tw {
namespace {

template <class... T> [[noreturn]] void refuse(fmt::format_string<T...> format, T &&...values) {
  throw ArgumentError(fmt::format(format, std::forward<T>(values)...));
}

/// Strides of a row-major tensor, of any value for an empty one; refused where they pass 63 bits.
std::vector<std::int64_t> rowMajor(const std::string &name, const std::vector<std::int64_t> &shape) {
  std::vector<std::int64_t> strides(shape.size());
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return strides;   // there is no element to find
  std::int64_t next = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = next;
    if (__builtin_mul_overflow(next, shape[d], &next))
      refuse("tensor '{}' of shape {} has more than 2^63 elements; offsets are 64-bit", name, shapeText(shape));
  }
  return strides;
}

/// Every element's offset in bytes must be a number of 64 bits, and lie in the address space.
void checkReach(const Parameter &parameter, const CheckedTensor &tensor, std::int64_t elementBytes) {
  std::int64_t low = 0, high = elementBytes;
  bool overflow = false;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::int64_t reach = 0;
    overflow |= __builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &reach);
    overflow |= __builtin_mul_overflow(reach, elementBytes, &reach);
    overflow |= __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high);
  }
  auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  const std::uintptr_t top = std::numeric_limits<std::uintptr_t>::max();
  if (!overflow)
    overflow = static_cast<std::uintptr_t>(-low) > address || static_cast<std::uintptr_t>(high) > top - address;
  if (overflow)
    refuse("tensor '{}' of shape {} with strides {} reaches beyond 64-bit addresses; give it the strides that it has in memory, in elements",
           parameter.name, shapeText(tensor.shape), shapeText(tensor.strides));
}

CheckedTensor checkTensor(const Parameter &parameter, const TensorView &view) {
  const std::string &tensorName = parameter.name;
  if (name(view.type) != parameter.type)
    refuse("tensor '{}' is {}, expected {}; convert it, or build the program for {}", tensorName, name(view.type), parameter.type, name(view.type));
  const auto rank = static_cast<std::size_t>(parameter.rank);
  if (view.shape.size() != rank)
    refuse("tensor '{}' has {} dimensions, {}, expected {}", tensorName, view.shape.size(), shapeText(view.shape), rank);
  if (!view.strides.empty() && view.strides.size() != rank)
    refuse("tensor '{}' has {} strides, {}, for {} dimensions; give one for each dimension, in elements, or none for row-major", tensorName,
           view.strides.size(), shapeText(view.strides), rank);
  for (std::size_t d = 0; d < rank; ++d) {
    if (view.shape[d] < 0)
      refuse("tensor '{}' is {} long along dimension {}; lengths count from 0", tensorName, view.shape[d], d);
    if (view.shape[d] > std::numeric_limits<std::int32_t>::max())
      refuse("tensor '{}' is {} long along dimension {}; a dimension may be at most 2147483647 long", tensorName, view.shape[d], d);
  }
  const int elementBytes = bytes(view.type);
  CheckedTensor tensor{&parameter, static_cast<std::byte *>(view.data), view.shape,
                       view.strides.empty() && rank ? rowMajor(tensorName, view.shape) : view.strides};
  if (tensor.isEmpty())
    return tensor;
  if (!view.data)
    refuse("tensor '{}' of shape {} has no memory: its address is null", tensorName, shapeText(view.shape));
  if (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<unsigned>(elementBytes))
    refuse("tensor '{}' lies at address {}, which is no multiple of {}, the size of a {}; move it to one that is", tensorName, fmt::ptr(view.data), elementBytes,
           parameter.type);
  checkReach(parameter, tensor, elementBytes);
  return tensor;
}

} // namespace

std::vector<CheckedTensor> checkTensors(const Artifact &artifact, const std::map<std::string, TensorView> &given) {
  for (const auto &each : given) {
    const std::string &tensorName = each.first;
    if (std::any_of(artifact.parameters.begin(), artifact.parameters.end(), [&](const Parameter &p) { return p.kind == Parameter::Kind::tensor && p.name == tensorName; }))
      continue;
    const auto names = namesOf(artifact, Parameter::Kind::tensor);
    refuse("program '{}' has no tensor '{}'{}; it has {}", artifact.program, tensorName, suggestion(tensorName, names), fmt::join(names, ", "));
  }
  std::vector<CheckedTensor> tensors;
  tensors.reserve(artifact.parameters.size());
  for (const Parameter &parameter : artifact.parameters) {
    if (parameter.kind != Parameter::Kind::tensor)
      continue;
    auto found = given.find(parameter.name);
    if (found == given.end())
      refuse("tensor '{}' is missing: program '{}' {} it, {} with {} dimensions; give it in Arguments::tensors", parameter.name, artifact.program,
             parameter.stored ? "stores" : "loads", parameter.type, parameter.rank);
    tensors.push_back(checkTensor(parameter, found->second));
  }
  return tensors;
}

} // namespace tw
