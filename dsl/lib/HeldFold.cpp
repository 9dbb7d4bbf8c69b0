#include "HeldFold.h"
#include "Fail.h"
#include <algorithm>

namespace tw::detail {
namespace {

/// Whether a value stands on one of the leaves.
class StandsOn {
public:
  explicit StandsOn(const std::vector<Tile> &leaves) {
    for (const Tile &leaf : leaves)
      known[&leaf.node()] = true;
  }
  bool operator()(const Tile &tile) {
    if (auto found = known.find(&tile.node()); found != known.end())
      return found->second;
    const auto &operands = tile.node().operands;
    return known[&tile.node()] = std::any_of(operands.begin(), operands.end(), [&](const Tile &operand) { return (*this)(operand); });
  }

private:
  std::map<const Node *, bool> known;
};

/// The summands of a value, with their signs.
void addends(const Tile &tile, bool negative, std::vector<std::pair<Tile, bool>> &out) {
  const Node &node = meant(tile).node();
  if (node.op == Op::add || node.op == Op::sub) {
    addends(node.operands[0], negative, out);
    addends(node.operands[1], node.op == Op::sub ? !negative : negative, out);
  } else if (node.op == Op::neg)
    addends(node.operands[0], !negative, out);
  else
    out.push_back({meant(tile), negative});
}

std::string nameOf(const Tile &yield, std::size_t slot) {
  const Node &node = yield.node();
  if (node.op == Op::stabiliser)
    return nameOf(node.operands[0], slot);
  return node.op == Op::named ? node.label : "carried" + std::to_string(slot);
}

bool isStabiliser(const Tile &yield) {
  const Node &node = yield.node();
  return node.op == Op::stabiliser || (node.op == Op::named && isStabiliser(node.operands.back()));
}

/// The stabiliser nodes below a value.
void findStabilisers(const Tile &tile, std::set<const Node *> &seen, std::vector<Tile> &found) {
  if (!seen.insert(&tile.node()).second)
    return;
  for (const Tile &operand : tile.node().operands)
    findStabilisers(operand, seen, found);
  if (tile.node().op == Op::stabiliser)
    found.push_back(tile);
}

Tile stabiliserOf(const Tile &yield) { return yield.node().op == Op::stabiliser ? yield : stabiliserOf(yield.node().operands.back()); }

class Holder {
public:
  Holder(Algebra &algebra, const std::shared_ptr<const Fold> &fold) : algebra(algebra), fold(*fold), result{fold, {}} {}

  HeldFold run() {
    if (fold.order == Order::ascending)
      fail(fold.where, "this fold visits its tiles in order, a recurrence; gradient() takes folds whose carried values are sums over tiles");
    Rewriter held(algebra), start(algebra), step(algebra);   // arguments: c; the starts; as they are
    std::set<const Node *> ours;
    for (std::size_t slot = 0; slot < fold.yields.size(); ++slot) {
      const Tile &yield = fold.yields[slot], &argument = fold.arguments[slot];
      const bool isHeld = isStabiliser(yield);
      Tile placeholder = algebra.placeholder(argument.type(), argument.axes(), yield.where());
      result.slots.push_back({nameOf(yield, slot), isHeld, placeholder, {}, {}});
      start.replace(argument, fold.starts[slot]);
      if (!isHeld)
        continue;
      algebra.assumeFinite(placeholder);
      held.replace(argument, placeholder);
      for (Rewriter *rewriter : {&held, &start, &step})
        rewriter->replace(stabiliserOf(yield), placeholder);
      ours.insert(&stabiliserOf(yield).node());
    }
    refuseOthers(ours);
    StandsOn onArguments(fold.arguments);
    for (std::size_t slot = 0; slot < fold.yields.size(); ++slot)
      if (!result.slots[slot].isHeld)
        splitSum(slot, step(fold.yields[slot]), onArguments, held, start);
    return std::move(result);
  }

private:
  void refuseOthers(const std::set<const Node *> &ours) {
    std::set<const Node *> seen;
    std::vector<Tile> all;
    for (const Tile &yield : fold.yields)
      findStabilisers(yield, seen, all);
    for (const Tile &stabiliser : all)
      if (!ours.count(&stabiliser.node()))
        fail(stabiliser.where(), "stabiliser " + text(stabiliser) + " is not carried from tile to tile; gradient() holds carried ones: return it from the step",
             {{fold.where, "in this fold"}});
  }

  void splitSum(std::size_t slot, const Tile &yield, StandsOn &onArguments, Rewriter &held, Rewriter &start) {
    std::vector<std::pair<Tile, bool>> parts;
    addends(yield, false, parts);
    std::optional<Tile> old, term;
    bool isSum = true;
    for (const auto &[part, negative] : parts) {
      if (onArguments(part)) {
        isSum = isSum && !old && !negative;
        old = part;
      } else
        term = !term ? (negative ? algebra.unary(Op::neg, part, part.type(), part.where()) : part)
                     : algebra.binary(negative ? Op::sub : Op::add, *term, part, part.type(), part.where());
    }
    isSum = isSum && old && &meant(held(*old)).node() == &fold.arguments[slot].node();
    if (!isSum)
      fail(fold.yields[slot].where(), "carried value #" + std::to_string(slot) + " " + text(fold.yields[slot]) +
               " is no sum over tiles, stabilisers held, so that gradient() cannot take it apart; write it as value + sum(..., over(" + fold.axis.name() +
               ")), or mark it stabiliser(...) where no result depends on its exactness",
           {{fold.where, "in this fold"}});
    HeldFold::Slot &sum = result.slots[slot];
    sum.term = term;
    Tile from = start(*old);
    if (const Node &node = meant(from).node(); node.op != Op::constant || node.literal != 0)
      sum.start = from;
  }

  Algebra &algebra;
  const Fold &fold;
  HeldFold result;
};

} // namespace

HeldFold holdStabilisers(Algebra &algebra, const std::shared_ptr<const Fold> &fold) { return Holder(algebra, fold).run(); }

bool Degrees::depends(const Tile &tile) {
  const Node &node = tile.node();
  if (&node == &c.node())
    return true;
  if (auto found = told.find(&node); found != told.end())
    return !found->second.isKnown || found->second.isAny || found->second.n != 0;
  if (auto found = onC.find(&node); found != onC.end())
    return found->second;
  return onC[&node] = std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return depends(operand); });
}

Degrees::Degree Degrees::of(const Tile &tile) {
  const Node &node = meant(tile).node();
  for (const auto *degrees : {&told, &known})
    if (auto found = degrees->find(&node); found != degrees->end())
      return found->second;
  return known[&node] = compute(node);
}

Degrees::Degree Degrees::compute(const Node &node) {
  const Degree unknown{false, false, 0};
  if (node.op == Op::constant && node.literal == 0)
    return {true, true, 0};
  if (std::none_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return depends(operand); }))
    return &node == &c.node() ? unknown : Degree{};
  auto isZero = [](const Degree &degree) { return degree.isKnown && (degree.isAny || degree.n == 0); };
  auto equal = [&](const Degree &a, const Degree &b) {
    if (!a.isKnown || !b.isKnown)
      return unknown;
    return a.isAny ? b : b.isAny || a.n == b.n ? a : unknown;
  };
  auto product = [&](const Degree &a, const Degree &b, int sign) {
    if (!a.isKnown || !b.isKnown)
      return unknown;
    return Degree{true, a.isAny || (sign > 0 && b.isAny), a.n + sign * b.n};
  };
  switch (node.op) {
  case Op::exp: {
    const Tile &exponent = meant(node.operands[0]);
    const Node &difference = exponent.node();
    auto isC = [&](const Tile &value) { return &meant(value).node() == &c.node(); };
    if ((difference.op == Op::neg && isC(difference.operands[0])) || (difference.op == Op::sub && isC(difference.operands[1]) && !depends(difference.operands[0])))
      return {true, false, 1};
    if (isC(exponent) || (difference.op == Op::sub && isC(difference.operands[0]) && !depends(difference.operands[1])))
      return {true, false, -1};
    return isZero(of(exponent)) ? Degree{} : unknown;
  }
  case Op::neg: case Op::cast: case Op::reduceSum:
    return of(node.operands[0]);
  case Op::add: case Op::sub:
    return equal(of(node.operands[0]), of(node.operands[1]));
  case Op::select:
    return isZero(of(node.operands[0])) ? equal(of(node.operands[1]), of(node.operands[2])) : unknown;
  case Op::eq: case Op::ne:   // whether it is 0 no factor changes
    if (const Degree other = of(node.operands[1]); other.isAny && of(node.operands[0]).isKnown)
      return {};
    break;
  case Op::mul: case Op::dot:
    return product(of(node.operands[0]), of(node.operands[1]), 1);
  case Op::div:
    return product(of(node.operands[0]), of(node.operands[1]), -1);
  default:
    break;
  }
  return std::all_of(node.operands.begin(), node.operands.end(), [&](const Tile &operand) { return isZero(of(operand)); }) ? Degree{} : unknown;
}

} // namespace tw::detail
