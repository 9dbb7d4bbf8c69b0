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

/// Every operation of the program that works along axes.
struct Uses {
  std::vector<Tile> dots, reductions, values;
  explicit Uses(const Program &program) {
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
      walk.over(store.value);
  }
};

std::shared_ptr<const Fold> onlyFold(const Program &program) {
  auto folds = foldsOf(program);
  Location where = program.stores.empty() ? Location{} : program.stores.front().where;
  if (folds.empty())
    fail(where, "program '" + program.name + "' has no fold; walk one of its axes with fold(axis, …)");
  if (folds.size() > 1)
    fail(folds[1]->where, "program '" + program.name + "' has " + std::to_string(folds.size()) + " folds; a kernel walks one: make a program of each",
         {{folds[0]->where, "the first fold is here"}});
  return folds.front();
}

/// Why `axis` cannot be the block axis, or nothing.
std::optional<Diagnostic> unfit(const Axis &axis, const Program &program, const Fold &fold, const Uses &uses) {
  std::string who = "items cannot own tiles of axis '" + axis.name() + "': ";
  if (same(axis, fold.axis))
    return Diagnostic{fold.where, who + "it is folded here", {}};
  for (const Store &store : program.stores)
    if (!contains(store.index, axis))
      return Diagnostic{store.where, who + "'" + store.tensor.name() + text(store.index) + "' is not stored along it", {}};
  for (const Tile &dot : uses.dots) {
    const Node &node = dot.node();
    bool left = contains(node.operands[0].axes(), axis), right = contains(node.operands[1].axes(), axis);
    if (left == right)
      return Diagnostic{dot.where(), who + (left ? "both operands" : "neither operand") + " of this dot " + (left ? "run" : "runs") + " along it; it must be in exactly one",
                        {detail::madeHere(node.operands[0], "operand " + text(node.operands[0])), detail::madeHere(node.operands[1], "operand " + text(node.operands[1]))}};
  }
  for (const Tile &reduction : uses.reductions)
    if (same(reduction.node().consumed.front(), axis))
      return Diagnostic{reduction.where(), who + "this reduction runs over it", {}};
  return {};
}

Axis chooseBlock(const Program &program, const Fold &fold, const Uses &uses, std::string_view name) {
  std::optional<Diagnostic> firstReason;
  for (const Axis &axis : program.stores.front().index) {
    if (!name.empty() && axis.name() != name)
      continue;
    auto reason = unfit(axis, program, fold, uses);
    // Without a dot nothing tells rows from the rest: take the last axis, the one that lies closest in memory.
    bool later = uses.dots.empty() && name.empty() && !same(axis, program.stores.front().index.back());
    if (!reason && !later)
      return axis;
    if (!firstReason && reason)
      firstReason = reason;
  }
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

Roles rolesOf(const Program &program, std::string_view blockName) {
  Roles result{onlyFold(program), sorted(axesOf(program)), {}};
  Uses uses(program);
  Axis fold = result.fold->axis, block = chooseBlock(program, *result.fold, uses, blockName);
  Axes inner;
  auto consider = [&](const Axis &axis) {
    if (!same(axis, fold) && !same(axis, block) && !contains(inner, axis))
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
    result.roles.push_back(same(axis, block) ? Role::block : same(axis, fold) ? Role::fold : contains(inner, axis) ? Role::inner : Role::free);

  for (const Tile &value : uses.values) {
    Axes tiled;
    for (const Axis &axis : value.axes())
      if (result.of(axis) != Role::free)
        tiled.push_back(axis);
    if (tiled.size() > 2)
      fail(value.where(), "value " + text(value) + " runs along three axes of a tile, " + text(tiled) + "; a tile has two: reduce or contract one first");
  }
  for (const Store &store : program.stores) {
    for (const Axis &axis : result.axes)
      if (result.of(axis) == Role::free && !contains(store.index, axis))
        fail(store.where, "'" + store.tensor.name() + text(store.index) + "' is not stored along axis '" + axis.name() + "', of which each item has one value; items would overwrite each other: store along it, or reduce over it",
             {{axis.where(), "the axis is declared here"}});
    if (contains(store.index, fold))
      fail(store.where, "'" + store.tensor.name() + text(store.index) + "' is stored along the folded axis '" + fold.name() + "'; a fold's results do not run along it",
           {{result.fold->where, "it is folded here"}});
  }
  return result;
}

} // namespace tw
