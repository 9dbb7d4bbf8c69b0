// The checks in their order, and what they find put together.
#include "Checked.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {

bool CheckedTensor::isEmpty() const { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

std::string shapeText(const std::vector<std::int64_t> &shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Checked check(const Artifact &artifact, const std::map<std::string, std::int64_t> &inner, const Arguments &arguments, const Checked *alike) {
  Checked checked;
  checked.tensors = checkTensors(artifact, arguments.tensors);
  checked.scalars = checkScalars(artifact, arguments.scalars);
  if (alike) {
    checked.lengths = alike->lengths;
    checked.hasItems = alike->hasItems;
  } else {
    checked.lengths = checkLengths(artifact, inner, checked.tensors);
    for (std::size_t i = 0; i < artifact.axes.size(); ++i) {
      const AxisFacts::Role role = artifact.axes[i].role;
      if ((role == AxisFacts::Role::free || role == AxisFacts::Role::block) && checked.lengths[i] == 0)
        checked.hasItems = false;
    }
    checkConditions(artifact, checked);
  }
  checked.unfit = unfitFor(artifact, checked.tensors);
  checkMemory(checked.tensors);
  return checked;
}

} // namespace tw
