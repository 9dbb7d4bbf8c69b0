// Requirements and reads, by interval arithmetic over the lengths and scalars of the launch.
#include "Checked.h"
#include "Requirements.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

/// What the leaves of expressions stand for at one launch.
class Values {
public:
  Values(const Artifact &artifact, const Checked &checked) : artifact(artifact), checked(checked) {}

  std::optional<Interval> operator()(const Expression &leaf) const {
    if (leaf.op == "scalar") {
      for (const CheckedScalar &scalar : checked.scalars)
        if (scalar.parameter->name == leaf.name)
          return point(scalar.value);
      return {};
    }
    if (leaf.op == "dimension") {
      const CheckedTensor *tensor = find(leaf.name);
      return tensor ? std::optional(point(double(tensor->shape[std::size_t(leaf.dimension)]))) : std::nullopt;
    }
    for (std::size_t i = 0; i < artifact.axes.size(); ++i)
      if (artifact.axes[i].name == leaf.name) {
        double length = double(checked.lengths[i]);
        return leaf.op == "extent" ? point(length) : Interval{0, length - 1};
      }
    return {};
  }

  const CheckedTensor *find(const std::string &tensor) const {
    for (const CheckedTensor &each : checked.tensors)
      if (each.parameter->name == tensor)
        return &each;
    return nullptr;
  }

private:
  static Interval point(double value) { return {value, value}; }
  const Artifact &artifact;
  const Checked &checked;
};

/// Whether an axis that the index runs along is empty, so that nothing is read there.
bool readsNothing(const Expression &expression, const Values &values) {
  if (expression.op == "index") {
    auto range = values(expression);
    return range && range->high < range->low;
  }
  return std::any_of(expression.operands.begin(), expression.operands.end(), [&](const Expression &operand) { return readsNothing(operand, values); });
}

std::string number(double value) { return fmt::format("{:.0f}", value); }

} // namespace

void checkConditions(const Artifact &artifact, const Checked &checked) {
  const Values values(artifact, checked);
  const ExpressionScope scope{[&](const Expression &leaf) { return values(leaf); }};
  if (const auto unmet = unmetRequirement(artifact.program, artifact.requirements, scope, Unknown::isUnmet))
    throw ArgumentError(*unmet);
  if (!checked.hasItems)
    return;
  for (const IndexFacts &index : artifact.indices) {
    const CheckedTensor *tensor = values.find(index.tensor);
    if (!tensor || readsNothing(index.index, values))
      continue;
    auto reach = range(index.index, scope);
    if (!reach)
      continue;   // it depends on what tensors hold: the kernel itself reads zeros outside
    const std::int64_t length = tensor->shape[std::size_t(index.dimension)];
    if (reach->low >= 0 && reach->high < double(length))
      continue;
    std::string cure = reach->low < 0 ? "keep the index from 0 on" : fmt::format("give it at least {} or shorten what it is indexed by", number(reach->high + 1));
    throw ArgumentError(fmt::format("tensor '{}' is {} long along dimension {} and is read there at {}{}, which goes from {} to {}; {}", index.tensor,
                                    length, index.dimension, index.text, index.where.empty() ? "" : fmt::format(" ({})", index.where),
                                    number(reach->low), number(reach->high), cure));
  }
}

} // namespace tw
