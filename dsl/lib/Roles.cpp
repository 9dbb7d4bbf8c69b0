// What each axis of a program is to its kernel.
#include "tilewright/dsl/Roles.h"
#include "Fail.h"
#include "Walk.h"
#include <algorithm>
#include <optional>

namespace tw {
namespace {

using detail::fail;
using detail::Walk;

const Tile &withoutNames(const Tile &tile) {
  const Tile *found = &tile;
  while (found->node().op == Op::named)
    found = &found->node().operands.back();
  return *found;
}

/// The innermost of sums of sums: x in `sum(sum(x, over(k)), over(h))`; null if the value is no sum.
const Tile *innermostSum(const Tile &value) {
  const Tile *sum = nullptr;
  for (const Tile *at = &withoutNames(value); at->node().op == Op::reduceSum || at->node().op == Op::dot; at = &withoutNames(at->node().operands[0])) {
    sum = at;
    if (at->node().op == Op::dot)
      break;
  }
  return sum;
}

/// What stands in a fold's step of a store: all of it, unless steps add to what is stored.
const Tile &inStep(const Store &store, const Axis &fold) {
  const Tile *sum = contains(store.index, fold) ? innermostSum(store.value) : nullptr;
  return sum ? *sum : store.value;
}

/// Every operation of the program that works along axes.
struct Uses {
  std::vector<Tile> dots, reductions, values;
  Uses(const Program &program, const Axis &fold) {
    Walk walk;
    walk.node = [&](const Tile &tile) {
      Op op = tile.node().op;
      if (op == Op::dot)
        dots.push_back(tile);
      if (op == Op::reduceMax || op == Op::reduceMin || op == Op::reduceSum)
        reductions.push_back(tile);
      values.push_back(tile);
    };
    for (const Store &store : program.stores)
      walk.over(inStep(store, fold));
  }
};

/// Whether the step of `outer` is `inner`, which starts from its carried values, and nothing else.
bool carriesThrough(const Fold &outer, const Fold &inner) {
  if (outer.yields.size() != inner.starts.size())
    return false;
  for (std::size_t i = 0; i < outer.yields.size(); ++i) {
    const Node &yield = outer.yields[i].node();
    if (yield.op != Op::foldResult || yield.fold.get() != &inner || yield.slot != i || &inner.starts[i].node() != &outer.arguments[i].node())
      return false;
  }
  return true;
}

/// The program's folds, the outermost first.
std::vector<std::shared_ptr<const Fold>> nestOf(const Program &program) {
  auto folds = foldsOf(program);   // inner ones first
  Location where = program.stores.empty() ? Location{} : program.stores.front().where;
  // Each element by itself: a walk along the axis that lies closest in memory, which carries nothing.
  if (folds.empty() && !program.stores.empty() && program.stores.front().index.size() > 1 && std::all_of(program.stores.begin(), program.stores.end(), [](const Store &store) { return detail::isElementwise(store.value); }))
    return {std::make_shared<Fold>(Fold{program.stores.front().index.back(), Order::unspecified, {}, {}, {}, where})};
  if (folds.empty())
    fail(where, "program '" + program.name + "' has no fold; walk one of its axes with fold(axis, …)");
  std::reverse(folds.begin(), folds.end());
  for (std::size_t i = 1; i < folds.size(); ++i)
    if (!carriesThrough(*folds[i - 1], *folds[i]))
      fail(folds[0]->where, "program '" + program.name + "' has " + std::to_string(folds.size()) + " folds; a kernel walks one, or one inside others that only carry its values through: make a program of each",
           {{folds.back()->where, "the first fold is here"}});
  return folds;
}

/// Why `axis` cannot be the block axis, or nothing.
std::optional<Diagnostic> unfit(const Axis &axis, const Program &program, const std::vector<std::shared_ptr<const Fold>> &nest, const Uses &uses) {
  std::string who = "items cannot own tiles of axis '" + axis.name() + "': ";
  for (const auto &fold : nest)
    if (same(axis, fold->axis))
      return Diagnostic{fold->where, who + "it is folded here", {}};
  const Axis &fold = nest.back()->axis;
  std::vector<const Node *> added;
  for (const Store &store : program.stores) {
    const Tile &part = inStep(store, fold);
    const bool adds = &part.node() != &store.value.node() || part.node().op == Op::dot || part.node().op == Op::reduceSum;
    if (!contains(store.index, axis) && contains(store.index, fold) && adds && same(part.node().consumed.front(), axis))
      added.push_back(&part.node());
    else if (!contains(store.index, axis))
      return Diagnostic{store.where, who + "'" + store.tensor.name() + text(store.index) + "' is not stored along it", {}};
  }
  auto isAdded = [&](const Tile &tile) { return std::find(added.begin(), added.end(), &tile.node()) != added.end(); };
  for (const Tile &dot : uses.dots) {
    if (isAdded(dot))
      continue;
    const Node &node = dot.node();
    bool left = contains(node.operands[0].axes(), axis), right = contains(node.operands[1].axes(), axis);
    if (left == right)
      return Diagnostic{dot.where(), who + (left ? "both operands" : "neither operand") + " of this dot " + (left ? "run" : "runs") + " along it; it must be in exactly one",
                        {detail::madeHere(node.operands[0], "operand " + text(node.operands[0])), detail::madeHere(node.operands[1], "operand " + text(node.operands[1]))}};
  }
  for (const Tile &reduction : uses.reductions)
    if (same(reduction.node().consumed.front(), axis) && !isAdded(reduction))
      return Diagnostic{reduction.where(), who + "this reduction runs over it", {}};
  return {};
}

/// Where a load is indexed with the axis itself, or -1.
int dimensionOf(const Node &load, const Axis &axis) {
  for (std::size_t i = 0; i < load.operands.size(); ++i) {
    const Node *index = &load.operands[i].node();
    while (index->op == Op::named)
      index = &index->operands.back().node();
    if (index->op == Op::index && same(index->consumed.front(), axis))
      return int(i);
  }
  return -1;
}

/// Whether `other` makes the better tiles: whatever dots read along `axis` they read along it too, and its elements are nearer in memory.
bool isBehind(const Axis &axis, const Axis &other, const Uses &uses) {
  bool read = false;
  for (const Tile &dot : uses.dots)
    for (const Tile &operand : dot.node().operands) {
      const Node *source = &operand.node();
      while (source->op == Op::named || source->op == Op::cast)
        source = &source->operands.back().node();
      const int mine = source->op == Op::load ? dimensionOf(*source, axis) : -1;
      if (mine >= 0 && dimensionOf(*source, other) <= mine)
        return false;
      read = read || mine >= 0;
    }
  return read;
}

/// The axes that can be the block axis, in the order of the first store's index; none: why not.
std::vector<Axis> possibleBlocks(const Program &program, const std::vector<std::shared_ptr<const Fold>> &nest, const Uses &uses, std::string_view name) {
  std::optional<Diagnostic> firstReason;
  std::vector<Axis> possible;
  for (const Axis &axis : program.stores.front().index) {
    if (!name.empty() && axis.name() != name)
      continue;
    auto reason = unfit(axis, program, nest, uses);
    // Without a dot nothing tells rows from the rest: take the last axis, the one that lies closest in memory.
    const Axes &index = program.stores.front().index;
    const Axis &last = same(index.back(), nest.back()->axis) && index.size() > 1 ? index[index.size() - 2] : index.back();
    bool later = uses.dots.empty() && name.empty() && !same(axis, last);
    if (!reason && !later)
      possible.push_back(axis);
    if (!firstReason && reason)
      firstReason = reason;
  }
  for (std::size_t i = 0; i < possible.size();)
    if (std::any_of(possible.begin(), possible.end(), [&, &axis = possible[i]](const Axis &other) { return !same(axis, other) && isBehind(axis, other, uses); }))
      possible.erase(possible.begin() + std::ptrdiff_t(i));
    else
      ++i;
  if (!possible.empty())
    return possible;
  if (firstReason && !name.empty())
    throw ProgramError(*firstReason);
  Location where = program.stores.front().where;
  std::string what = name.empty() ? "no axis of '" + program.name + "' can be the block axis, of which each item owns a tile"
                                  : "'" + program.stores.front().tensor.name() + text(program.stores.front().index) + "' is not stored along axis '" + std::string(name) + "', which the schedule makes the block axis";
  std::vector<Note> notes;
  if (firstReason)
    notes.push_back({firstReason->where, firstReason->message});
  fail(where, what + "; it must be in every store and in exactly one operand of every dot", notes);
}

Roles withBlock(const Program &program, const std::vector<std::shared_ptr<const Fold>> &nest, const Uses &uses, const Axis &block) {
  Roles result{nest.back(), {nest.begin(), std::prev(nest.end())}, sorted(axesOf(program)), {}};
  const Axis fold = result.fold->axis;
  Axes inner, points;
  for (const auto &around : result.around)
    points.push_back(around->axis);
  auto consider = [&](const Axis &axis) {
    if (!same(axis, fold) && !same(axis, block) && !contains(points, axis) && !contains(inner, axis))
      inner.push_back(axis);
  };
  for (const Tile &dot : uses.dots) {
    const Tile &first = dot.node().operands[0], &second = dot.node().operands[1];
    const Tile &mine = contains(first.axes(), block) ? first : second, &other = contains(first.axes(), block) ? second : first;
    consider(dot.node().consumed.front());
    for (const Axis &axis : other.axes())
      if (!contains(mine.axes(), axis))
        consider(axis);
  }
  for (const Tile &reduction : uses.reductions)
    consider(reduction.node().consumed.front());
  for (const Axis &axis : result.axes)
    result.roles.push_back(same(axis, block) ? Role::block : same(axis, fold) ? Role::fold : contains(points, axis) ? Role::point : contains(inner, axis) ? Role::inner : Role::free);
  for (const Tile &value : uses.values) {
    Axes tiled;
    for (const Axis &axis : value.axes())
      if (result.isTiled(axis))
        tiled.push_back(axis);
    if (tiled.size() > 2)
      fail(value.where(), "value " + text(value) + " runs along three axes of a tile, " + text(tiled) + "; a tile has two: reduce or contract one first");
  }
  return result;
}

} // namespace

Role Roles::of(const Axis &axis) const {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (same(axes[i], axis))
      return roles[i];
  return Role::free;
}

const Axis &Roles::block() const {
  return axes[std::size_t(std::find(roles.begin(), roles.end(), Role::block) - roles.begin())];
}

bool Roles::isTiled(const Axis &axis) const {
  const Role role = of(axis);
  return role != Role::free && role != Role::point;
}

const Tile *addedBySteps(const Roles &roles, const Store &store) {
  const Tile *sum = contains(store.index, roles.fold->axis) && !contains(store.index, roles.block()) ? innermostSum(store.value) : nullptr;
  return sum && same(sum->node().consumed.front(), roles.block()) ? sum : nullptr;
}

namespace {

/// Steps add in no fixed order and at any time: in memory as they are, and to elements of which each point of every other axis has its own, or is summed.
void requireSums(const Roles &roles, const Store &store) {
  const std::string target = "'" + store.tensor.name() + text(store.index) + "'";
  if (store.tensor.type() != Type::f32 && store.tensor.type() != Type::f64)
    fail(store.where, "the steps of a fold add to " + target + " of type " + name(store.tensor.type()) + "; sums in memory are f32 or f64: store it as one of them, and convert it in a program of its own");
  if (store.tensor.type() != store.value.type())
    fail(store.where, "the steps of a fold add " + text(store.value) + " to " + target + " of type " + name(store.tensor.type()) + "; sum it in that type");
  Axes summed;
  for (const Tile *at = &withoutNames(store.value); at->node().op == Op::reduceSum || at->node().op == Op::dot; at = &withoutNames(at->node().operands[0])) {
    summed.push_back(at->node().consumed.front());
    if (at->node().op == Op::dot)
      break;
  }
  for (const Axis &axis : roles.axes)
    if ((roles.of(axis) == Role::free || roles.of(axis) == Role::point) && !contains(store.index, axis) && !contains(summed, axis))
      fail(store.where, "the steps of a fold add to " + target + ", which is not stored along axis '" + axis.name() + "': each of its points would add the same once more; sum over it or store along it",
           {{axis.where(), "the axis is declared here"}});
}

} // namespace

Roles rolesOf(const Program &program, std::string_view blockName) {
  const auto nest = nestOf(program);
  for (const Store &store : program.stores)
    if (store.index.empty())
      fail(store.where, "'" + store.tensor.name() + "' is stored along no axis, and items of a kernel share out the points of one; give it a dimension, of length 1");
  const Uses uses(program, nest.back()->axis);
  std::optional<Roles> found;
  std::optional<ProgramError> firstError;
  for (const Axis &block : possibleBlocks(program, nest, uses, blockName))
    try {
      found = withBlock(program, nest, uses, block);
      break;
    } catch (const ProgramError &error) {
      if (!firstError)
        firstError = error;
    }
  if (!found)
    throw ProgramError(*firstError);
  Roles result = std::move(*found);
  for (const Store &store : program.stores) {
    if (addedBySteps(result, store)) {
      requireSums(result, store);
      continue;
    }
    for (const Axis &axis : result.axes)
      if (result.of(axis) == Role::free && !contains(store.index, axis))
        fail(store.where, "'" + store.tensor.name() + text(store.index) + "' is not stored along axis '" + axis.name() + "', of which each item has one value; items would overwrite each other: store along it, or reduce over it",
             {{axis.where(), "the axis is declared here"}});
    for (const auto &fold : nest)
      if (contains(store.index, fold->axis) && !fold->arguments.empty())
        fail(store.where, "'" + store.tensor.name() + text(store.index) + "' is stored along the folded axis '" + fold->axis.name() + "'; a fold's results do not run along it",
             {{fold->where, "it is folded here"}});
  }
  return result;
}

} // namespace tw
