// A walk over the steps of a fold that weighs each operation.
#include "Work.h"
#include "Meant.h"
#include <algorithm>
#include <set>

namespace tw {
namespace {

/// What an operation takes of the special-function units and of the f32 ones, a result.
struct Weight {
  double exponentials = 0, operations = 0;
};

Weight weightOf(const Node &node) {
  const bool byConstant = node.op == Op::div && node.operands[1].axes().empty();   // a product with what is the same for all
  if (!isFloat(node.type) || byConstant)
    return {0, 0.25};   // coordinates and factors: mostly taken out of loops, or fused
  switch (node.op) {
  case Op::exp: case Op::exp2: return {1, 0};          // the factor is fused with what comes before
  case Op::expm1: return {1, 6};
  case Op::log: case Op::log2: return {1, 2};
  case Op::log1p: return {1, 8};
  case Op::tanhApproximate: return {1, 2};
  case Op::tanh: return {2, 5};                        // an exponential and a reciprocal, where only exponentials see it
  case Op::sigmoid: return {2, 3};
  case Op::sqrt: case Op::rsqrt: return {1, 3};
  case Op::sin: case Op::cos: return {1, 6};
  case Op::erf: return {1, 16};
  case Op::pow: return {2, 6};
  case Op::div: return {1, 4};
  case Op::floorDiv: case Op::mod: return {1, 10};
  case Op::random: return {0, 60};                     // ten rounds of Philox
  case Op::max: case Op::min: case Op::reduceMax: case Op::reduceMin: return {0, 2};   // at half the rate of additions
  case Op::cast: return {0, 0.5};                      // two at a time
  case Op::constant: case Op::index: case Op::extent: case Op::dimension: case Op::scalar: case Op::load: case Op::contains: case Op::dot:
  case Op::foldArgument: case Op::foldResult: case Op::named: case Op::stabiliser: return {};
  default: return {0, 1};
  }
}

class Counter {
public:
  Counter(const Program &program, const Roles &roles) : program(program), roles(roles) {}

  Work run() {
    for (const Tile &yield : roles.fold->yields)
      step(yield);
    for (const Store &store : program.stores) {
      around(store.value);
      work.accesses.push_back({store.tensor.name(), tiledOf(store.index), bytes(store.tensor.type()), false, true});
    }
    return std::move(work);
  }

private:
  const Program &program;
  const Roles &roles;
  Work work;
  std::set<const Node *> seen;
  std::set<std::pair<std::string, std::vector<unsigned>>> read;

  Axes tiledOf(const Axes &axes) const {
    Axes tiled;
    for (const Axis &axis : axes)
      if (roles.isTiled(axis))
        tiled.push_back(axis);
    return tiled;
  }

  static void add(std::vector<Extent> &list, const Axes &axes, double count) {
    if (count <= 0 || axes.empty())
      return;
    auto found = std::find_if(list.begin(), list.end(), [&](const Extent &extent) { return same(extent.axes, axes); });
    if (found == list.end())
      list.push_back({axes, count});
    else
      found->count += count;
  }

  void addLoad(const Node &node) {
    const Axes tiled = tiledOf(node.axes);
    std::vector<unsigned> orders;
    for (const Axis &axis : tiled)
      orders.push_back(axis.order());
    if (read.insert({node.tensor->name, orders}).second)
      work.accesses.push_back({node.tensor->name, tiled, bytes(node.type), contains(node.axes, roles.fold->axis), false});
  }

  void addDot(const Node &node) {
    const Tile &first = node.operands[0], &second = node.operands[1];
    const bool firstHasRows = contains(first.axes(), roles.block());
    const Node &rows = meant(firstHasRows ? first : second).node(), &columns = meant(firstHasRows ? second : first).node();
    work.dots.push_back({unite(tiledOf(node.axes), {node.consumed.front()}), tiledOf(rows.axes), tiledOf(columns.axes), rows.op == Op::load ? bytes(rows.type) : 0, columns.op == Op::load ? bytes(columns.type) : 2});
    if (rows.op != Op::load)
      add(work.operations, tiledOf(rows.axes), 0.5);   // packed for the tensor cores, two at a time
  }

  /// A step's operations, each once.
  void step(const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    for (const Tile &operand : node.operands)
      step(operand);
    Axes axes = tiledOf(node.axes);
    if (!node.consumed.empty() && node.op >= Op::reduceMax && node.op < Op::dot)
      axes = unite(axes, tiledOf(node.consumed));
    if (node.op == Op::load)
      return addLoad(node);
    if (node.op == Op::dot)
      return addDot(node);
    if (node.type == Type::boolean)
      return add(work.masking, axes, 1);
    Weight weight = weightOf(node);
    if (node.op == Op::select)
      return add(work.masking, axes, 1);
    // A factor that is the same for all elements moves into the exponent's, an addition of a dot into its accumulator.
    const bool isScaled = node.op == Op::mul && std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return tiledOf(operand.axes()).empty(); });
    const bool accumulates = node.op == Op::add && std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return meant(operand).node().op == Op::dot; });
    if (isScaled || accumulates)
      return;
    const bool isAccumulator = contains(axes, roles.block()) && !contains(axes, roles.fold->axis) && axes.size() > 1;
    add(isAccumulator ? work.restabilising : work.operations, axes, weight.operations);
    add(work.exponentials, axes, weight.exponentials);
  }

  /// What stands around the fold: loads that an item makes once.
  void around(const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    if (node.op == Op::load)
      addLoad(node);
    for (const Tile &operand : node.operands)
      around(operand);
    if (node.fold)
      for (const Tile &start : node.fold->starts)
        around(start);
  }
};

} // namespace

Work workOf(const Program &program, const Roles &roles) { return Counter(program, roles).run(); }

double points(const Axes &axes, const Schedule &schedule) {
  double n = 1;
  for (const Axis &axis : axes)
    n *= schedule.widths.at(axis.name());
  return n;
}

double total(const std::vector<Extent> &extents, const Schedule &schedule) {
  double sum = 0;
  for (const Extent &extent : extents)
    sum += extent.count * points(extent.axes, schedule);
  return sum;
}

} // namespace tw
