// Proves that a fold's tile which a mask excludes wholly changes nothing.
#include "MaskedTiles.h"
#include "AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>
using namespace mlir;

namespace tw {
namespace {
/// More running maxima than this (2^n states) are not looked at.
constexpr unsigned mostInfiniteStarts = 6;

/// Given that a value is the infinity which its maximum (minimum) starts from: so is all that went into it.
void assumeNothingSeen(Evaluator &evaluator, Value value, double infinity) {
  evaluator.assume(value, Known::constant(infinity));
  Operation *op = value.getDefiningOp();
  if (!op)
    return;
  bool max = infinity < 0;
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  if (isa<tile::BroadcastOp, tile::StabiliserOp>(op) || (max ? isa<arith::MaximumFOp>(op) : isa<arith::MinimumFOp>(op)) ||
      (reduce && reduce.getKind() == (max ? tile::Combine::Max : tile::Combine::Min)))
    for (Value operand : op->getOperands())
      assumeNothingSeen(evaluator, operand, infinity);
  if (isa<arith::MulFOp>(op))
    for (int i : {0, 1})
      if (isPositive(op->getOperand(i)))
        return assumeNothingSeen(evaluator, op->getOperand(1 - i), infinity);
  if (isa<arith::AddFOp>(op))                // a finite part of it that is the same for the whole row
    for (int i : {0, 1})
      if (evaluator.finite(op->getOperand(i)))
        return assumeNothingSeen(evaluator, op->getOperand(1 - i), infinity);
}

bool sameForm(Value a, Value b, Operation *at) {
  if (a == b)
    return true;
  auto difference = affineForm(a, at), other = affineForm(b, at);
  if (!difference || !other)
    return false;
  difference->add(*other, -1);
  return difference->isConstant() && difference->constant == 0;
}

} // namespace

bool excludesAsMuch(tile::MaskOp other, tile::MaskOp mask) {
  if (mask.getCondition() && mask.getCondition() != other.getCondition())
    return false;
  auto axes = tile::axesOf(mask.getType());
  if (tile::axesOf(other.getType()) != axes)
    return false;
  for (auto [a, b] : llvm::zip(mask.getOrigin(), other.getOrigin()))
    if (!sameForm(a, b, mask))
      return false;
  auto plane = [&](tile::MaskOp m, unsigned i) { return m.getCoefficients().slice(i * axes.size(), axes.size()); };
  for (unsigned i = 0; i < mask.getRest().size(); ++i)
    if (llvm::none_of(llvm::seq<unsigned>(0, other.getRest().size()), [&](unsigned j) { return plane(mask, i) == plane(other, j) && sameForm(mask.getRest()[i], other.getRest()[j], mask); }))
      return false;
  return true;
}

bool MaskedTiles::Carried::startsInfinite() const { return start && std::isinf(*start); }

MaskedTiles::MaskedTiles(scf::ForOp fold) {
  Evaluator outside;
  fold.getBody()->walk([&](tile::MaskOp mask) { masks.push_back(mask); });
  fold.getBody()->walk([&](tile::AccumulateOp sum) { added.push_back(sum); });
  fold.getBody()->walk([&](tile::StoreOp) { obstacle = "what the step stores would be missing"; });
  for (auto [argument, initial, yielded] : llvm::zip(fold.getRegionIterArgs(), fold.getInitArgs(), fold.getYieldedValues()))
    carried.push_back({argument, yielded, outside.evaluate(initial).number, outside.finite(initial), {}});
  if (llvm::count_if(carried, [](const Carried &c) { return c.startsInfinite(); }) > mostInfiniteStarts)
    obstacle = "more than " + std::to_string(mostInfiniteStarts) + " carried values start infinite";
  // Rows are looked at one by one, so a row of a running maximum must not meet another one.
  for (auto [i, c] : llvm::enumerate(carried))
    if (c.startsInfinite())
      fold.getBody()->walk([&, i = i, &c = c](Operation *op) {
        auto axis = isa<tile::ReduceOp, tile::DotOp>(op) ? op->getAttrOfType<StringAttr>("axis") : StringAttr();
        if (axis && tile::runsAlong(c.argument, axis.getValue()))
          obstacle = "carried value #" + std::to_string(i) + " starts infinite along \"" + axis.getValue().str() + "\", over which the step reduces";
      });
  for (Carried &c : carried)
    if (c.startsInfinite())
      findHeld(c);
}

void MaskedTiles::findHeld(Carried &maximum) {
  Evaluator nothingSeen;
  assumeNothingSeen(nothingSeen, maximum.yielded, *maximum.start);
  if (!nothingSeen.evaluate(maximum.argument).is(*maximum.start))
    return;                                  // not a maximum of itself: it may come back to its start
  for (auto [i, c] : llvm::enumerate(carried))
    if (c.start && c.isFinite)
      maximum.held.push_back(i);
  for (bool stable = false; !stable;) {
    Evaluator evaluator = nothingSeen;
    for (unsigned i : maximum.held)
      evaluator.assume(carried[i].argument, Known::constant(*carried[i].start));
    size_t before = maximum.held.size();
    llvm::erase_if(maximum.held, [&](unsigned i) { return !evaluator.evaluate(carried[i].yielded).is(*carried[i].start); });
    stable = maximum.held.size() == before;
  }
}

std::optional<std::string> MaskedTiles::change(tile::MaskOp mask) const {
  if (obstacle)
    return obstacle;
  SmallVector<unsigned> maxima;
  for (auto [i, c] : llvm::enumerate(carried))
    if (c.startsInfinite())
      maxima.push_back(i);
  auto otherwise = numberOf(mask.getOtherwise());
  if (!otherwise)
    return "its constant is no number";
  for (unsigned state = 0; state < 1u << maxima.size(); ++state) {   // bit j: maximum j is at its start
    Evaluator evaluator;
    for (tile::MaskOp other : masks)
      if (auto number = numberOf(other.getOtherwise()); number && (other == mask || excludesAsMuch(other, mask)))
        evaluator.assume(other.getResult(), Known::constant(*number));
    llvm::SmallDenseSet<unsigned> atStart;
    for (auto [j, i] : llvm::enumerate(maxima))
      if (state >> j & 1) {
        atStart.insert(i);
        atStart.insert(carried[i].held.begin(), carried[i].held.end());
      }
    for (auto [i, c] : llvm::enumerate(carried)) {
      if (atStart.contains(i))
        evaluator.assume(c.argument, Known::constant(*c.start));
      else if (c.isFinite || c.startsInfinite())
        evaluator.assumeFinite(c.argument);
    }
    for (tile::AccumulateOp sum : added)
      if (!evaluator.evaluate(sum.getValue()).is(0))
        return std::string("something would be added to a tensor");
    for (auto [i, c] : llvm::enumerate(carried)) {
      Known now = evaluator.evaluate(c.yielded), before = evaluator.evaluate(c.argument);
      if (!(now == before))
        return "carried value #" + std::to_string(i) + " would change" + (state ? " while a running maximum is at its start" : "");
    }
  }
  return std::nullopt;
}

} // namespace tw
