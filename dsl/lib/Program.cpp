// Stores and requirements: the outer skin of a program.
#include "tilewright/dsl/Program.h"
#include "Dependence.h"
#include "Fail.h"
#include "Promotion.h"
#include <algorithm>
#include <set>

namespace tw {
namespace {

using detail::fail;
using detail::madeHere;

/// Refuses a value that stands on a carried value outside of its fold.
void refuseLeaks(const Tile &value, Location where) {
  detail::FreeArguments free;
  if (free.of(value).empty())
    return;
  const Node &leak = **free.of(value).begin();
  fail(where, "carried value #" + std::to_string(leak.slot) + " of a fold is used outside of the fold's step; use the fold's result instead",
       {{leak.where, "the fold is here"}, madeHere(value)});
}

enum class Kind { condition, integer, floating };
Kind kind(Type type) { return type == Type::boolean ? Kind::condition : isInteger(type) ? Kind::integer : Kind::floating; }

/// Whether a store converts from `from` to `to` by itself: between floats, and to a wider integer.
bool storesAs(Type from, Type to) { return kind(from) == kind(to) && (isFloat(to) || from <= to); }

/// Whether a value can be known before launch: arithmetic on extents, dimensions and scalars.
bool knownBeforeLaunch(const Tile &tile, std::set<const Node *> &seen) {
  const Node &node = tile.node();
  if (!seen.insert(&node).second)
    return true;
  if (node.op == Op::load || node.op == Op::contains || node.op == Op::foldResult || (node.op >= Op::reduceMax && node.op <= Op::dot))
    return false;
  return std::all_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return knownBeforeLaunch(operand, seen); });
}

} // namespace

Store store(Tensor tensor, Axes index, Operand value, Location where) {
  const std::string target = "'" + tensor.name() + "'";
  const Note declared{tensor.info->where, "the tensor is declared here"};
  if (index.size() != tensor.rank())
    fail(where, target + " has " + std::to_string(tensor.rank()) + " dimensions, stored with " + std::to_string(index.size()) + " axes; give one axis a dimension", {declared});
  for (std::size_t i = 0; i < index.size(); ++i)
    for (std::size_t j = i + 1; j < index.size(); ++j)
      if (same(index[i], index[j]))
        fail(where, "the store to " + target + " names the axis '" + index[i].name() + "' twice; each dimension needs an axis of its own", {declared});
  for (const Axis &axis : value.tile.axes())
    if (!contains(index, axis))
      fail(where, "stored value " + text(value.tile) + " runs along '" + axis.name() + "', which is no axis of the store to '" + tensor.name() + text(index) + "'; reduce it first: sum(x, over(" + axis.name() + "))",
           {madeHere(value.tile), {axis.where(), "the axis is declared here"}});
  Tile stored = value.tile;
  if (stored.node().weak && isFloat(tensor.type()) && isInteger(stored.type()))
    stored = detail::converted(stored, tensor.type(), where);
  if (!storesAs(stored.type(), tensor.type()))
    fail(where, "stored value " + text(stored) + " does not fit " + target + " of type " + name(tensor.type()) + "; convert it: cast(x, " + detail::spelled(tensor.type()) + ")",
         {madeHere(stored), declared});
  refuseLeaks(stored, where);
  return {std::move(tensor), std::move(index), std::move(stored), where};
}

Requirement require(Operand condition, std::string message, Location where) {
  const Tile &tile = condition.tile;
  if (tile.type() != Type::boolean)
    fail(where, "require() needs a condition, got " + text(tile) + "; compare it: x > 0", {madeHere(tile)});
  if (!tile.axes().empty())
    fail(where, "require() needs one condition for the whole program, got " + text(tile) + "; compare extents, dimensions and scalars only", {madeHere(tile)});
  std::set<const Node *> seen;
  if (!knownBeforeLaunch(tile, seen))
    fail(where, "require() reads a tensor; it is checked before launch and can compare extents, dimensions and scalars only", {madeHere(tile)});
  refuseLeaks(tile, where);
  return {tile, std::move(message), where};
}

} // namespace tw
