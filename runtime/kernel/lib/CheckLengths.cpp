// What tensors say of the same axis must agree, and fit what was built.
#include "Checked.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

template <class... T> [[noreturn]] void refuse(fmt::format_string<T...> format, T &&...values) {
  throw ArgumentError(fmt::format(format, std::forward<T>(values)...));
}

const CheckedTensor &tensorNamed(const std::vector<CheckedTensor> &tensors, const std::string &name) {
  return *std::find_if(tensors.begin(), tensors.end(), [&](const CheckedTensor &t) { return t.parameter->name == name; });
}

} // namespace

std::vector<std::int64_t> checkLengths(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const std::vector<CheckedTensor> &tensors) {
  std::vector<std::int64_t> lengths;
  for (const AxisFacts &axis : artifact.axes) {
    auto lengthAt = [&](const AxisBinding &binding) { return tensorNamed(tensors, binding.tensor).shape[static_cast<std::size_t>(binding.dimension)]; };
    const AxisBinding &first = axis.bindings.front();
    const std::int64_t length = lengthAt(first);
    for (const AxisBinding &other : axis.bindings)
      if (lengthAt(other) != length)
        refuse("axis '{}' is {} long along dimension {} of '{}' and {} along dimension {} of '{}'; they must agree", axis.name, length, first.dimension, first.tensor,
               lengthAt(other), other.dimension, other.tensor);
    auto built = inner.find(axis.name);
    if (built != inner.end() && built->second != length)
      refuse("axis '{}' is {} long along dimension {} of '{}', but kernel '{}' was built for {}; build it with extents {{{{\"{}\", {}}}}}", axis.name, length, first.dimension,
             first.tensor, artifact.program, built->second, axis.name, length);
    if (length > artifact.limit)
      refuse("axis '{}' is {} long along dimension {} of '{}'; an axis of kernel '{}' may be at most {} long", axis.name, length, first.dimension, first.tensor, artifact.program, artifact.limit);
    lengths.push_back(length);
  }
  return lengths;
}

} // namespace tw
