// Which elements of a fold the masks of a program keep, by evaluate().
#include "MaskElements.h"
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>

namespace tw::cli {
namespace {

/// A value of coordinates, lengths, scalars and tables: nothing that a fold computes.
class Indices {
public:
  bool has(const Tile &tile) {
    const Node &node = tile.node();
    if (auto found = known.find(&node); found != known.end())
      return found->second;
    bool all = node.op != Op::dot && node.op != Op::foldArgument && node.op != Op::foldResult;
    for (const Tile &operand : node.operands)
      all = all && has(operand);
    return known[&node] = all;
  }

private:
  std::map<const Node *, bool> known;
};

bool isConstant(const Tile &tile) {
  const Node &node = tile.node();
  return node.op == Op::constant || ((node.op == Op::cast || node.op == Op::named) && isConstant(node.operands.back()));
}

} // namespace

std::optional<Tile> keptBy(const Roles &roles) {
  Indices indices;
  std::set<const Node *> seen;
  std::optional<Tile> kept;
  bool known = true;
  std::function<void(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    for (const Tile &operand : node.operands)
      visit(operand);
    if (node.op != Op::select || !contains(node.axes, roles.fold->axis))
      return;
    const Tile &condition = node.operands[0], &then = node.operands[1], &otherwise = node.operands[2];
    const bool keepsTrue = isConstant(otherwise) && !indices.has(then), keepsFalse = isConstant(then) && !indices.has(otherwise);
    if (!keepsTrue && !keepsFalse)
      return;
    known = known && indices.has(condition);
    const Tile keep = keepsTrue ? condition : !condition;
    kept = kept ? *kept & keep : keep;
  };
  for (const Tile &yield : roles.fold->yields)
    visit(yield);
  if (!known)
    return std::nullopt;
  return kept ? kept : std::optional(tw::index(roles.fold->axis) >= 0);
}

bool masksAt(const Roles &roles, const Location &where) {
  std::set<const Node *> seen;
  const std::function<bool(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return false;
    if (node.op == Op::select && contains(node.axes, roles.fold->axis) && node.where.line == where.line && std::string_view(node.where.file) == where.file)
      return true;
    return std::any_of(node.operands.begin(), node.operands.end(), visit);
  };
  return std::any_of(roles.fold->yields.begin(), roles.fold->yields.end(), visit);
}

std::vector<bool> keptElements(const Tile &condition, const Roles &roles, const Evaluation &inputs, const std::map<std::string, std::int64_t> &item) {
  Axes axes;
  std::int64_t size = 1, offset = 0;
  Evaluation given{{}, inputs.scalars, {}, 0};
  for (const Axis &axis : condition.axes())
    if (roles.of(axis) == Role::free) {
      axes.push_back(axis);
      offset = offset * inputs.extents.at(axis.name()) + item.at(axis.name());
    }
  axes.push_back(roles.block());
  axes.push_back(roles.fold->axis);
  for (const Axis &axis : {roles.block(), roles.fold->axis})
    size *= inputs.extents.at(axis.name());
  Tensor out("kept", Type::f32, unsigned(axes.size()));
  const Program program{"kept", {store(out, axes, where(condition, full(1, axes), 0))}};
  for (const auto &tensor : tensorsOf(program))
    if (tensor->name != "kept")
      given.tensors[tensor->name] = inputs.tensors.at(tensor->name);
  for (const Axis &axis : axesOf(program))
    given.extents[axis.name()] = inputs.extents.at(axis.name());
  const Array array = evaluate(program, given).at("kept");
  std::vector<bool> kept(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < kept.size(); ++i)
    kept[i] = array.data[static_cast<std::size_t>(offset * size) + i] != 0;
  return kept;
}

} // namespace tw::cli
