// The same question that form-masks asks of a kernel, asked of a program.
#include "ListedMasks.h"
#include "Meant.h"
#include <algorithm>
#include <map>
#include <set>

namespace tw {
namespace {

class Masks {
public:
  explicit Masks(const Roles &roles) : roles(roles) {}

  bool visit(const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return false;
    if (node.op == Op::select && isFloat(node.type) && lists(node))
      return true;
    return std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return visit(operand); });
  }

private:
  const Roles &roles;
  std::set<const Node *> seen;
  std::map<const Node *, bool> ofIndices, ranged;

  /// A choice between values that the kernel computes and a number.
  bool lists(const Node &select) {
    const Tile &kept = meant(select.operands[1]), &other = meant(select.operands[2]);
    if (isNumber(other))
      return !isOfIndices(kept) && hasCondition(select.operands[0], true);
    return isNumber(kept) && !isOfIndices(other) && hasCondition(select.operands[0], false);
  }

  static bool isNumber(const Tile &tile) {
    const Node &node = meant(tile).node();
    return node.op == Op::constant || ((node.op == Op::neg || node.op == Op::cast) && isNumber(node.operands[0]));
  }

  /// Is a part of the conjunction no half plane?
  bool hasCondition(const Tile &tile, bool holds) {
    const Node &node = meant(tile).node();
    auto both = [&](bool each) { return hasCondition(node.operands[0], each) || hasCondition(node.operands[1], each); };
    switch (node.op) {
    case Op::constant: return false;
    case Op::logicalNot: return hasCondition(node.operands[0], !holds);
    case Op::logicalAnd:
      if (holds)
        return both(true);
      break;
    case Op::logicalOr:
      if (!holds)
        return both(false);
      break;
    case Op::eq:
    case Op::ne:
      if ((node.op == Op::eq) == holds && isAffine(node.operands[0]) && isAffine(node.operands[1]))
        return false;
      break;
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
      if (isAffine(node.operands[0]) && isAffine(node.operands[1]))
        return false;
      break;
    default: break;
    }
    return isOfIndices(tile) && isRanged(tile);
  }

  /// Do ranges say anything of the value? Of a random number they do not; of a conjunction or disjunction they do as long as they say something of a side.
  bool isRanged(const Tile &tile) {
    const Node &node = meant(tile).node();
    if (auto known = ranged.find(&node); known != ranged.end())
      return known->second;
    auto at = [&](std::size_t i) { return isRanged(node.operands[i]); };
    bool is = node.op != Op::random;
    if (node.op == Op::logicalAnd || node.op == Op::logicalOr)
      is = at(0) || at(1);
    else if (node.op == Op::select)
      is = at(1) && at(2);
    else
      for (std::size_t i = 0; i < node.operands.size(); ++i)
        is = is && at(i);
    return ranged[&node] = is;
  }

  bool isAffine(const Tile &tile) {
    const Node &node = meant(tile).node();
    if (node.type != Type::i32)
      return false;
    if (node.op == Op::index || std::none_of(node.axes.begin(), node.axes.end(), [&](const Axis &axis) { return roles.isTiled(axis); }))
      return true;
    auto each = [&] { return std::all_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return isAffine(operand); }); };
    switch (node.op) {
    case Op::add:
    case Op::sub:
    case Op::neg: return each();
    case Op::mul: return each() && (isNumber(node.operands[0]) || isNumber(node.operands[1]));
    default: return false;
    }
  }

  /// Made of coordinates, scalars, loads and random numbers.
  bool isOfIndices(const Tile &tile) {
    const Node &node = tile.node();
    if (auto known = ofIndices.find(&node); known != ofIndices.end())
      return known->second;
    bool made = true;
    switch (node.op) {
    case Op::reduceMax:
    case Op::reduceMin:
    case Op::reduceSum:
    case Op::dot:
    case Op::foldArgument:
    case Op::foldResult: made = false; break;
    default: made = std::all_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return isOfIndices(operand); });
    }
    return ofIndices[&node] = made;
  }
};

} // namespace

bool mayListTiles(const Roles &roles) {
  Masks masks(roles);
  return std::any_of(roles.fold->yields.begin(), roles.fold->yields.end(), [&](const Tile &yield) { return masks.visit(yield); });
}

} // namespace tw
