// device-distribute-tiles: masks, as intervals of columns by row where they are ones.
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <optional>

using namespace mlir;
namespace tw::distribution {

namespace {
/// Dimensions of a mask: which one runs along rows, which along columns; -1 for none.
std::pair<int, int> dimensionsOf(tile::MaskOp mask, StringAttr block) {
  int row = -1, column = -1;
  for (auto [i, axis] : llvm::enumerate(tile::axesOf(mask.getResult())))
    (axis == block ? row : column) = int(i);
  return {row, column};
}

Value beneathBroadcasts(Value value) {
  while (auto broadcast = value.getDefiningOp<tile::BroadcastOp>())
    value = broadcast.getSource();
  return value;
}

arith::CmpIPredicate turned(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt: return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sle: return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::sgt: return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::sge: return arith::CmpIPredicate::sle;
  default: return predicate;
  }
}

/// Parts of a condition that all have to hold.
struct Conjunction {
  SmallVector<Value> comparisons;
  SmallVector<Operation *> disjunctions;
};

Conjunction conjunctionOf(Value condition) {
  Conjunction all;
  SmallVector<Value> parts{condition};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Operation *op = beneathBroadcasts(parts[i]).getDefiningOp();
    if (isa_and_present<arith::AndIOp>(op))
      parts.append(op->operand_begin(), op->operand_end());
    else if (isa_and_present<arith::OrIOp>(op))
      all.disjunctions.push_back(op);
    else
      all.comparisons.push_back(beneathBroadcasts(parts[i]));
  }
  return all;
}

/// Both x - k <= n and k - x >= -n are k >= x - n, where n is not negative.
template <class IsColumn, class IsSame> std::optional<ColumnBound> boundOf(Operation *op, IsColumn isColumn, IsSame isSame) {
  auto compare = dyn_cast_if_present<arith::CmpIOp>(op);
  if (!compare || compare.getPredicate() >= arith::CmpIPredicate::ult)
    return {};
  auto predicate = compare.getPredicate();
  Value left = beneathBroadcasts(compare.getLhs()), right = beneathBroadcasts(compare.getRhs());
  if (!getElementTypeOrSelf(left.getType()).isInteger(32))
    return {};
  if (isColumn(left) && isSame(right))
    return ColumnBound{predicate, left, right};
  if (isColumn(right) && isSame(left))
    return ColumnBound{turned(predicate), right, left};
  auto difference = left.getDefiningOp<arith::SubIOp>();
  APInt number;
  if (!difference || !matchPattern(right, m_ConstantInt(&number)))
    return {};
  Value x = beneathBroadcasts(difference.getLhs()), y = beneathBroadcasts(difference.getRhs());
  if (isSame(x) && isColumn(y) && number.isNonNegative())
    return ColumnBound{turned(predicate), y, x, -number.getSExtValue(), true};
  if (isColumn(x) && isSame(y) && !number.isStrictlyPositive() && !number.isMinSignedValue())
    return ColumnBound{predicate, x, y, number.getSExtValue(), true};
  return {};
}
} // namespace

/// The columns lo … hi of each row that stay, counted from the thread's first column: all half planes whose coefficient of the
/// column is -1, 0 or 1.
LogicalResult Distributor::writeInterval(tile::MaskOp mask) {
  Location loc = mask.getLoc();
  auto [row, column] = dimensionsOf(mask, kernel.getBlockAttr());
  const bool isBounded = mask.getCondition() && row >= 0 && column >= 0 && boundsColumns(mask.getCondition(), mask.getOrigin()[unsigned(column)]);
  if (mask.getRest().empty() && !isBounded)
    return success();
  unsigned rank = unsigned(mask.getResult().getType().getRank());
  auto rows = device::EachRowOp::create(b, loc);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&rows.getBody());
  Value lo, hi;
  Value start = arith::AddIOp::create(b, loc, scalars.lookupOrDefault(mask.getOrigin()[unsigned(column)]), device::ColumnOffsetOp::create(b, loc, b.getI32Type()));
  for (auto [plane, rest] : llvm::enumerate(mask.getRest())) {
    int64_t c = mask.getCoefficients()[plane * rank + unsigned(column)], r = row < 0 ? 0 : mask.getCoefficients()[plane * rank + unsigned(row)];
    if (c < -1 || c > 1)
      continue;                               // each element asks
    // c · column + e ≤ 0
    Value e = scalars.lookupOrDefault(rest);
    if (r) {
      Value position = rowPosition(scalars.lookupOrDefault(mask.getOrigin()[unsigned(row)]), loc);
      e = arith::AddIOp::create(b, loc, e, arith::MulIOp::create(b, loc, position, integer(r, loc)));
    }
    if (c == -1) {
      Value from = arith::SubIOp::create(b, loc, e, start);
      lo = lo ? arith::MaxSIOp::create(b, loc, lo, from).getResult() : from;
      continue;
    }
    Value to;
    if (c == 1) {
      to = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, integer(0, loc), e), start);
    } else {
      Value keeps = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, e, integer(0, loc));
      to = arith::SelectOp::create(b, loc, keeps, integer(INT32_MAX, loc), integer(-1, loc));
    }
    hi = hi ? arith::MinSIOp::create(b, loc, hi, to).getResult() : to;
  }
  auto keep = [&](Value bound, StringRef name) -> Value {
    if (!bound)
      return {};
    OpBuilder top = OpBuilder::atBlockBegin(body);
    Value target = device::RegistersOp::create(top, loc, device::RowsType::get(b.getContext(), b.getI32Type()), name);
    device::SetOp::create(b, loc, bound, target);
    return target;
  };
  if (isBounded) {
    local.clear();
    SmallVector<Value> held;
    if (failed(writeBounds(mask.getCondition(), start, [&](Value bound) { return keep(bound, "bound"); }, lo, hi, held)))
      return failure();
    bounds[mask] = std::move(held);
    local.clear();
  }
  Value from = keep(lo, "from"), to = keep(hi, "to");
  intervals[mask] = {from, to};
  return success();
}

std::optional<ColumnBound> Distributor::columnBound(Operation *op) const {
  auto isColumn = [&](Value value) { return value.getDefiningOp<tile::PositionsOp>() && spaceOf(value) == Space::column; };
  auto isSame = [&](Value value) { return !isa<RankedTensorType>(value.getType()) || (spaceOf(value) == Space::row && registers.contains(value)) || matchPattern(value, m_Constant()); };
  return boundOf(op, isColumn, isSame);
}

/// Is the condition made of nothing but comparisons of a column's coordinate with what a row or the whole tile has, which is known before the elements are,
/// and would elements subtract otherwise? Where none does, two bounds in place of one number take registers, and time (docs/performance.md). Values of the distance between
/// row and column in any other part are worth more as they are (device-tabulate-distances).
bool Distributor::boundsColumns(Value condition, Value start) const {
  SmallVector<Value> conjunctions{condition};
  bool subtracts = false;
  for (std::size_t i = 0; i < conjunctions.size(); ++i) {
    Conjunction all = conjunctionOf(conjunctions[i]);
    for (Value comparison : all.comparisons) {
      auto bound = columnBound(comparison.getDefiningOp());
      if (!bound || bound->column.getDefiningOp<tile::PositionsOp>().getStart() != start)
        return false;
      subtracts |= bound->isDifference;
    }
    for (Operation *any : all.disjunctions)
      conjunctions.append(any->operand_begin(), any->operand_end());
  }
  return subtracts;
}

/// The bounds of such a condition, from the thread's `first` column on:
///
///   first + c <= x - n   =>   c <= max(x, n - 1) - n - first         as no coordinate is negative: nothing here leaves i32, whatever a table holds
///
/// Of a conjunction the least and the largest are left, before `first` is taken from them: they are the same in all tiles of an item, and take its registers. Those of the whole condition go into `lo` and `hi`, the others into `held` in the order in which
/// `holdsColumn` reads them.
LogicalResult Distributor::writeBounds(Value condition, Value first, llvm::function_ref<Value(Value)> keep, Value &lo, Value &hi, SmallVectorImpl<Value> &held) {
  Location loc = condition.getLoc();
  Conjunction all = conjunctionOf(condition);
  auto fromFirst = [&](Value x) -> Value { return arith::SubIOp::create(b, loc, x, first); };
  Value above, below;
  for (Value comparison : all.comparisons) {
    const ColumnBound bound = *columnBound(comparison.getDefiningOp());
    auto x = resolve(bound.bound);
    if (failed(x))
      return failure();
    const int64_t less = bound.predicate == arith::CmpIPredicate::slt;
    Value at = arith::MaxSIOp::create(b, loc, *x, integer(less - 1 - bound.offset, loc));
    if (bound.offset != less)
      at = arith::AddIOp::create(b, loc, at, integer(bound.offset - less, loc));
    if (bound.isAbove())
      above = above ? arith::MinSIOp::create(b, loc, above, at).getResult() : at;
    else if (bound.isBelow())
      below = below ? arith::MaxSIOp::create(b, loc, below, at).getResult() : at;
    else
      held.push_back(keep(fromFirst(at)));
  }
  if (above)
    hi = hi ? arith::MinSIOp::create(b, loc, hi, fromFirst(above)).getResult() : fromFirst(above);
  if (below)
    lo = lo ? arith::MaxSIOp::create(b, loc, lo, fromFirst(below)).getResult() : fromFirst(below);
  for (Operation *any : all.disjunctions)
    for (Value way : any->getOperands()) {
      Value low, high;
      SmallVector<Value> inside;
      if (failed(writeBounds(way, first, keep, low, high, inside)))
        return failure();
      held.append({low ? keep(low) : Value(), high ? keep(high) : Value()});
      held.append(inside);
    }
  return success();
}

/// What is left of such a condition for an element, beside `lo` and `hi`: null where nothing is.
Value Distributor::holdsColumn(Value condition, ArrayRef<Value> &held, Location loc) {
  Value column = device::ColumnOp::create(b, loc, b.getI32Type()), holds;
  auto next = [&] {
    Value bound = held.front();
    held = held.drop_front();
    return bound;
  };
  auto compare = [&](arith::CmpIPredicate how, Value bound) -> Value {
    return bound ? arith::CmpIOp::create(b, loc, how, column, device::GetOp::create(b, loc, b.getI32Type(), bound)).getResult() : Value();
  };
  auto both = [&](Value x, Value y) { return x && y ? arith::AndIOp::create(b, loc, x, y).getResult() : x ? x : y; };
  Conjunction all = conjunctionOf(condition);
  for (Value comparison : all.comparisons)
    if (auto bound = columnBound(comparison.getDefiningOp()); !bound->isAbove() && !bound->isBelow())
      holds = both(holds, compare(bound->predicate, next()));
  for (Operation *any : all.disjunctions) {
    Value either;
    for (Value way : any->getOperands()) {
      Value low = compare(arith::CmpIPredicate::sge, next()), high = compare(arith::CmpIPredicate::sle, next());
      Value one = both(both(low, high), holdsColumn(way, held, loc));
      either = either ? arith::OrIOp::create(b, loc, either, one).getResult() : one;
    }
    holds = both(holds, either);
  }
  return holds;
}

FailureOr<Value> Distributor::writeMask(tile::MaskOp mask) {
  Location loc = mask.getLoc();
  auto source = resolve(mask.getSource());
  if (failed(source))
    return failure();
  auto [row, column] = dimensionsOf(mask, kernel.getBlockAttr());
  unsigned rank = unsigned(mask.getResult().getType().getRank());
  Value keeps;
  auto require = [&](Value condition) { keeps = keeps ? arith::AndIOp::create(b, loc, keeps, condition).getResult() : condition; };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value { return arith::CmpIOp::create(b, loc, predicate, x, y); };
  if (column >= 0 && row >= 0) {
    auto [lo, hi] = intervals.lookup(mask);
    Value at = device::ColumnOp::create(b, loc, b.getI32Type());
    if (lo)
      require(compare(arith::CmpIPredicate::sge, at, device::GetOp::create(b, loc, b.getI32Type(), lo)));
    if (hi)
      require(compare(arith::CmpIPredicate::sle, at, device::GetOp::create(b, loc, b.getI32Type(), hi)));
  }
  for (auto [plane, rest] : llvm::enumerate(mask.getRest())) {
    int64_t c = column < 0 ? 0 : mask.getCoefficients()[plane * rank + unsigned(column)], r = row < 0 ? 0 : mask.getCoefficients()[plane * rank + unsigned(row)];
    if (column >= 0 && row >= 0 && c >= -1 && c <= 1)
      continue;                               // in the interval
    Value e = scalars.lookupOrDefault(rest);
    if (r)
      e = arith::AddIOp::create(b, loc, e, arith::MulIOp::create(b, loc, rowPosition(scalars.lookupOrDefault(mask.getOrigin()[unsigned(row)]), loc), integer(r, loc)));
    if (c) {
      Value position = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, scalars.lookupOrDefault(mask.getOrigin()[unsigned(column)]), device::ColumnOffsetOp::create(b, loc, b.getI32Type())),
                                             device::ColumnOp::create(b, loc, b.getI32Type()));
      e = arith::AddIOp::create(b, loc, e, arith::MulIOp::create(b, loc, position, integer(c, loc)));
    }
    require(compare(arith::CmpIPredicate::sle, e, integer(0, loc)));
  }
  if (auto held = bounds.find(mask); held != bounds.end()) {
    ArrayRef<Value> left = held->second;
    if (Value holds = holdsColumn(mask.getCondition(), left, loc))
      require(holds);
  } else if (mask.getCondition()) {
    auto holds = resolve(mask.getCondition());
    if (failed(holds))
      return failure();
    require(*holds);
  }
  if (!keeps)
    return *source;
  return Value(arith::SelectOp::create(b, loc, keeps, *source, constant(mask.getOtherwiseAttr(), loc)));
}

} // namespace tw::distribution
