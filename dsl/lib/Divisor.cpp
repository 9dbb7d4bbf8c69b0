#include "Divisor.h"
#include "Walk.h"
#include <algorithm>

namespace tw::detail {
namespace {

/// x of where(−inf < x, x, number): the base of a row that may be empty.
const Tile &core(const Tile &tile) {
  const Node &node = meant(tile).node();
  if (node.op != Op::select || meant(node.operands[2]).node().op != Op::constant)
    return meant(tile);
  const Node &condition = meant(node.operands[0]).node();
  const bool asks = condition.op == Op::lt && meant(condition.operands[0]).node().op == Op::constant && meant(condition.operands[0]).node().literal == -infinity &&
                    &meant(condition.operands[1]).node() == &meant(node.operands[1]).node();
  return asks ? meant(node.operands[1]) : meant(tile);
}

class Finder {
public:
  Finder(Algebra &algebra, const HeldFold &held, std::size_t slot, const std::vector<Tile> &values) : algebra(algebra), held(held), c(held.slots[slot].result), values(values) {}

  std::optional<Divisor> run() {
    Degrees degrees(c);
    if (!ofSums(degrees))
      return {};
    if (auto divisor = divisorOf(degrees, values))
      return Divisor{ofSlots, values, *divisor, c, *divisor, sumOf(c, *divisor)};
    for (const Tile &base : bases())
      if (isFree(base)) {
        Rewriter unify(algebra);
        unify.replace(base, c);
        unify.replace(core(base), c);
        std::vector<Tile> unified;
        for (const Tile &value : values)
          unified.push_back(unify(value));
        Degrees again(c);
        (void)ofSums(again);
        const auto divisor = divisorOf(again, unified);
        const auto atBase = divisorAt(base);
        if (divisor && atBase)
          return Divisor{ofSlots, unified, *divisor, base, *atBase, sumOf(core(base), *atBase)};
      }
    return {};
  }

private:
  /// Tells the degrees of the sums; whether all are known, and none is negative.
  bool ofSums(Degrees &degrees) {
    ofSlots.clear();
    bool depends = false;
    for (const HeldFold::Slot &sum : held.slots) {
      Degrees::Degree degree = sum.term ? degrees.of(*sum.term) : Degrees::Degree{true, true, 0};
      if (sum.isHeld)
        degree = {};   // of another stabiliser, or of c itself, which nobody asks
      if (!degree.isKnown || (!degree.isAny && degree.n < 0))
        return false;
      if (!sum.isHeld)
        degrees.set(sum.result, degree);
      ofSlots.push_back(degree.isAny ? 1 : degree.n);
      depends = depends || ofSlots.back() > 0;
    }
    return depends;
  }

  /// The one value of degree 1 by which is divided.
  std::optional<Tile> divisorOf(Degrees &degrees, const std::vector<Tile> &of) {
    std::optional<Tile> divisor;
    bool isOne = true;
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (node.op != Op::div || !isFloat(node.type))
        return;
      const Tile by = meant(node.operands[1]);
      const Degrees::Degree degree = degrees.of(by);
      if (degree.isKnown && (degree.isAny || degree.n == 0))
        return;
      isOne = isOne && degree.isKnown && degree.n == 1 && same(by.axes(), c.axes()) && (!divisor || &divisor->node() == &by.node());
      divisor = by;
    };
    for (const Tile &value : of)
      walk.over(value);
    return isOne ? divisor : std::nullopt;
  }

  std::optional<Tile> divisorAt(const Tile &base) {
    Degrees degrees(base);
    return divisorOf(degrees, values);
  }

  Tile sumOf(const Tile &base, const Tile &divisor) { return algebra.binary(Op::add, base, algebra.unary(Op::log, divisor, c.type(), c.where()), c.type(), c.where()); }

  /// Values behind the fold that are taken from exponents, as c would be.
  std::vector<Tile> bases() {
    std::vector<Tile> found;
    Degrees onC(c);
    Walk walk;
    walk.node = [&](const Tile &tile) {
      if (tile.node().op != Op::exp)
        return;
      const Node &exponent = meant(tile.node().operands[0]).node();
      if (exponent.op != Op::sub && exponent.op != Op::neg)
        return;
      const Tile &base = meant(exponent.operands.back());
      if (&base.node() != &c.node() && same(base.axes(), c.axes()) && onC.depends(base) &&
          std::none_of(found.begin(), found.end(), [&](const Tile &known) { return &known.node() == &base.node(); }))
        found.push_back(base);
    };
    for (const Tile &value : values)
      walk.over(value);
    return found;
  }

  /// Whether no result depends on c while `base` stands still, nor on `base`.
  bool isFree(const Tile &base) {
    Degrees ofC(c), ofBase(base);
    ofC.set(base, {});
    ofC.set(core(base), {});
    ofBase.set(core(base), {false, false, 0});
    (void)ofSums(ofC);
    return std::all_of(values.begin(), values.end(), [&](const Tile &value) { return isZero(ofC.of(value)) && (isZero(ofBase.of(value)) || isLogarithm(value, base, ofBase)); });
  }

  static bool isZero(const Degrees::Degree &degree) { return degree.isKnown && (degree.isAny || degree.n == 0); }

  /// base + log(x), x of degree 1.
  bool isLogarithm(const Tile &value, const Tile &base, Degrees &ofBase) {
    const Node &sum = meant(value).node();
    if (sum.op == Op::cast)
      return isLogarithm(sum.operands[0], base, ofBase);
    if (sum.op != Op::add || meant(sum.operands[1]).node().op != Op::log)
      return false;
    const Tile &a = meant(sum.operands[0]);
    const Degrees::Degree degree = ofBase.of(meant(sum.operands[1]).node().operands[0]);
    return (&a.node() == &meant(base).node() || &a.node() == &core(base).node()) && degree.isKnown && !degree.isAny && degree.n == 1;
  }

  Algebra &algebra;
  const HeldFold &held;
  Tile c;
  const std::vector<Tile> &values;
  std::vector<int> ofSlots;
};

} // namespace

std::optional<Divisor> findDivisor(Algebra &algebra, const HeldFold &held, std::size_t slot, const std::vector<Tile> &values) { return Finder(algebra, held, slot, values).run(); }

} // namespace tw::detail
