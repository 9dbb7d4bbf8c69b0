#include "Dependence.h"
#include <algorithm>

namespace tw::detail {

Dependence::Dependence(const Fold &fold) : fold(fold) {
  for (const Tile &argument : fold.arguments)
    arguments.insert(&argument.node());
}

bool Dependence::depends(const Tile &tile, bool alongAxis) {
  const Node *node = &tile.node();
  auto &memo = known[alongAxis];
  if (auto it = memo.find(node); it != memo.end())
    return it->second;
  bool answer = compute(*node, alongAxis);
  return memo[node] = answer;
}

bool Dependence::compute(const Node &node, bool alongAxis) {
  if (arguments.count(&node))
    return true;
  if (node.op == Op::extent)
    return false;
  if (alongAxis && (contains(node.axes, fold.axis) || contains(node.consumed, fold.axis)))
    return true;
  auto any = [&](const std::vector<Tile> &tiles, bool along) {
    return std::any_of(tiles.begin(), tiles.end(), [&](const Tile &t) { return depends(t, along); });
  };
  if (any(node.operands, alongAxis))
    return true;
  if (!node.fold || node.fold.get() == &fold)
    return false;
  return any(node.fold->starts, alongAxis) || any(node.fold->yields, alongAxis && !same(node.fold->axis, fold.axis));
}

const std::set<const Node *> &FreeArguments::of(const Tile &tile) {
  const Node &node = tile.node();
  if (auto it = known.find(&node); it != known.end())
    return it->second;
  std::set<const Node *> open;
  auto add = [&](const std::vector<Tile> &tiles) {
    for (const Tile &t : tiles) {
      const auto &more = of(t);
      open.insert(more.begin(), more.end());
    }
  };
  if (node.op == Op::foldArgument)
    open.insert(&node);
  add(node.operands);
  if (node.fold) {
    add(node.fold->yields);
    for (const Tile &argument : node.fold->arguments)
      open.erase(&argument.node());
    add(node.fold->starts);
  }
  return known[&node] = std::move(open);
}

} // namespace tw::detail
