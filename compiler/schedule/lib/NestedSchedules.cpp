#include "NestedSchedules.h"
#include <algorithm>
#include <functional>
#include <set>

namespace tw {

namespace {

/// Every node that the program computes.
void forEachNode(const Program &program, const std::function<void(const Node &)> &visit) {
  std::set<const Node *> seen;
  std::function<void(const Tile &)> walk = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    visit(node);
    for (const Tile &operand : node.operands)
      walk(operand);
    if (node.op == Op::foldResult)
      for (const Tile &yield : node.fold->yields)
        walk(yield);
  };
  for (const Store &store : program.stores)
    walk(store.value);
}

bool reduces(const Node &node) { return node.op == Op::reduceMax || node.op == Op::reduceMin || node.op == Op::reduceSum; }

} // namespace

bool canNest(const Program &program, const Roles &roles, const Axis &axis) {
  bool only = true, contracted = false;
  for (const Store &store : program.stores)
    only &= !contains(store.index, axis);
  for (const Tile &argument : roles.fold->arguments)
    only &= !contains(argument.axes(), axis);
  forEachNode(program, [&](const Node &node) {
    contracted |= node.op == Op::dot && contains(node.consumed, axis);
    only &= !reduces(node) || !contains(node.consumed, axis);
  });
  return only && contracted;
}

bool canSplit(const Program &program, const Axis &axis) {
  bool consumed = false;
  forEachNode(program, [&](const Node &node) { consumed |= (node.op == Op::dot || reduces(node)) && contains(node.consumed, axis); });
  return !consumed;
}

int partWidth(std::int64_t length, std::int64_t widest) {
  const std::int64_t passes = (length + widest - 1) / widest, unit = 8;
  return int(((length + passes - 1) / passes + unit - 1) / unit * unit);
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
          if (chunks.stages == 0)
            chunks.stages = slots;
      }
  return list;
}

}   // namespace tw
