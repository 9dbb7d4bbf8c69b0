// In which pieces a program is interpreted, so that a score matrix never exists whole.
#include "Interpret.h"
#include "Walk.h"
#include <algorithm>
#include <optional>

namespace tw::detail {

std::vector<Walked> walkedAxes(const Program &program, const Lengths &lengths) {
  Axes met;
  std::vector<const Node *> dots;
  Walk walk;
  walk.node = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (node.op >= Op::reduceMax && node.op <= Op::dot)
      met = unite(met, node.consumed);
    if (node.op == Op::dot)
      dots.push_back(&node);
  };
  walk.fold = [&](const std::shared_ptr<const Fold> &fold) { met = unite(met, {fold->axis}); };
  walk.over(program);

  std::vector<Walked> walked;
  std::int64_t budget = dots.empty() ? 4096 : 64;
  const Axes &first = program.stores[0].index;
  std::optional<std::size_t> side;   // the operand of the first dot that the tiled axes are in
  auto inOperand = [](const Node *dot, std::size_t i, const Axis &axis) { return contains(dot->operands[i].axes(), axis); };
  for (const Axis &axis : first) {
    const bool apart = !contains(met, axis) &&
                       std::all_of(program.stores.begin(), program.stores.end(), [&](const Store &s) { return contains(s.index, axis); }) &&
                       std::all_of(dots.begin(), dots.end(), [&](const Node *dot) { return contains(dot->axes, axis); });
    if (!apart)
      continue;
    const bool everywhere = !dots.empty() && std::all_of(dots.begin(), dots.end(), [&](const Node *dot) { return inOperand(dot, 0, axis) && inOperand(dot, 1, axis); });
    if (!everywhere && !dots.empty()) {
      std::size_t mine = inOperand(dots[0], 0, axis) ? 0 : 1;
      if (side.value_or(mine) != mine)
        continue;
      side = mine;
    }
    walked.push_back({axis, everywhere ? 1 : 0});
  }
  for (std::size_t i = walked.size(); i-- > 0;)
    if (walked[i].width == 0) {
      const std::int64_t length = lengths.at(walked[i].axis.order());
      walked[i].width = std::max<std::int64_t>(1, std::min(budget, length));
      budget = std::max<std::int64_t>(1, budget / walked[i].width);
    }
  return walked;
}

} // namespace tw::detail
