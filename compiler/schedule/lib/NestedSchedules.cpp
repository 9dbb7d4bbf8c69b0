#include "NestedSchedules.h"
#include <algorithm>
#include <functional>
#include <set>

namespace tw {

bool canNest(const Program &program, const Roles &roles, const Axis &axis) {
  for (const Store &store : program.stores)
    if (contains(store.index, axis))
      return false;
  for (const Tile &argument : roles.fold->arguments)
    if (contains(argument.axes(), axis))
      return false;
  bool only = true;
  std::set<const Node *> seen;
  std::function<void(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    if ((node.op == Op::reduceMax || node.op == Op::reduceMin || node.op == Op::reduceSum) && contains(node.consumed, axis))
      only = false;
    for (const Tile &operand : node.operands)
      visit(operand);
  };
  for (const Tile &yield : roles.fold->yields)
    visit(yield);
  for (const Store &store : program.stores)
    visit(store.value);
  return only;
}

int chunkWidth(const Target &target) { return target.isHost() ? 256 : 64; }   // on a GPU 128 bytes: a row of what one copy swizzles

std::vector<Schedule> nestedCandidates(const Roles &roles, const Target &target, const Schedule &start) {
  struct Shape {
    int warpgroups, block, fold;
  };
  std::vector<Shape> shapes;
  if (target.isHost())
    for (int block : {64, 32, 16, 8})
      for (int fold : {64, 32, 16, 8})
        shapes.push_back({1, block, fold});
  else if (target.isHopper())
    shapes = {{2, 128, 256}, {2, 128, 128}, {2, 128, 64}, {1, 64, 128}, {1, 64, 64}, {1, 64, 32}, {1, 64, 16}};
  else
    shapes = {{2, 256, 128}, {2, 256, 64}, {2, 128, 128}, {1, 128, 64}, {1, 64, 64}, {1, 64, 32}, {1, 64, 16}};
  std::vector<Schedule> list;
  for (const Shape &shape : shapes)
    for (int slots : target.isHost() ? std::vector{1} : std::vector{6, 5, 4, 3, 2})
      for (int stages : target.isHost() || slots > 4 ? std::vector{1} : std::vector{2, 1}) {
        Schedule &schedule = list.emplace_back(start);
        schedule.warpgroups = shape.warpgroups;
        schedule.stages = stages;
        schedule.widths[schedule.block] = shape.block;
        schedule.widths[roles.fold->axis.name()] = shape.fold;
        for (auto &[axis, chunks] : schedule.nested)
          chunks.stages = slots;
      }
  return list;
}

}   // namespace tw
