#include "Walk.h"

namespace tw::detail {

void Walk::over(const Program &program) {
  for (const Requirement &requirement : program.requirements)
    over(requirement.condition);
  for (const Store &store : program.stores)
    over(store.value);
}

void Walk::over(const Tile &tile) {
  const Node &n = tile.node();
  if (!seenNodes.insert(&n).second)
    return;
  for (const Tile &operand : n.operands)
    over(operand);
  if (n.fold && seenFolds.insert(n.fold.get()).second) {
    for (const Tile &start : n.fold->starts)
      over(start);
    for (const Tile &yield : n.fold->yields)
      over(yield);
    fold(n.fold);
  }
  node(tile);
}

bool isElementwise(const Tile &value) {
  bool is = true;
  Walk walk;
  walk.node = [&](const Tile &tile) {
    const Op op = tile.node().op;
    is = is && !(op >= Op::reduceMax && op <= Op::dot) && op != Op::foldResult;
  };
  walk.over(value);
  return is;
}

} // namespace tw::detail
