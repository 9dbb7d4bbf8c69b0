#include "Requirements.h"
#include "tilewright/kernel/Tune.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/LaunchShape.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

/// `extent(h) = 6, K.dimension(1) = 4`: the leaves of a condition, each once.
void listLeaves(const Expression &expression, const ExpressionScope &scope, std::vector<std::string> &list) {
  for (const Expression &operand : expression.operands)
    listLeaves(operand, scope, list);
  std::optional<Interval> value;
  if (!expression.operands.empty() || expression.op == "constant" || !(value = scope.leaf(expression)))
    return;
  std::string text = expression.op == "scalar"   ? expression.name
                     : expression.op == "extent" ? fmt::format("extent({})", expression.name)
                                                 : fmt::format("{}.dimension({})", expression.name, expression.dimension);
  text += fmt::format(" = {}", value->low);
  if (std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(text);
}

} // namespace

std::optional<std::string> unmetRequirement(const std::string &program, const std::vector<RequirementFacts> &requirements, const ExpressionScope &scope, Unknown unknown) {
  for (const RequirementFacts &requirement : requirements) {
    const auto truth = range(requirement.condition, scope);
    if (truth ? truth->low > 0 : unknown == Unknown::isMet)
      continue;
    std::vector<std::string> leaves;
    listLeaves(requirement.condition, scope, leaves);
    return fmt::format("program '{}': {} (here {})", program, requirement.message, leaves.empty() ? "never" : fmt::format("{}", fmt::join(leaves, ", ")));
  }
  return std::nullopt;
}

void checkShapes(const Program &program, const BuildOptions &options) {
  const auto lengths = axisLengths(program, {options.shapes, {}, options.extents});
  const ExpressionScope scope{[&](const Expression &leaf) -> std::optional<Interval> {
    std::optional<std::int64_t> value;
    if (const auto axis = lengths.find(leaf.name); leaf.op == "extent" && axis != lengths.end())
      value = axis->second;
    if (const auto tensor = options.shapes.find(leaf.name); leaf.op == "dimension" && tensor != options.shapes.end() && std::size_t(leaf.dimension) < tensor->second.size())
      value = tensor->second[std::size_t(leaf.dimension)];
    return value ? std::optional(Interval{double(*value), double(*value)}) : std::nullopt;
  }};
  if (const auto unmet = unmetRequirement(program.name, requirementsOf(program), scope, Unknown::isMet))
    throw ArgumentError(*unmet);
}

} // namespace tw
