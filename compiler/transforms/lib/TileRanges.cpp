// Between which numbers the elements of a value lie in one tile of a fold.
#include "TileRanges.h"
#include "AffineForms.h"
#include "Evaluator.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <cmath>
#include <limits>
using namespace mlir;

namespace tw {
namespace {

std::optional<int64_t> integerOf(Value value) {
  APInt number;
  return matchPattern(withoutBroadcasts(value), m_ConstantInt(&number)) ? std::optional<int64_t>(number.getSExtValue()) : std::nullopt;
}

bool isInteger(Value value) { return isa<IntegerType>(tile::elementOf(value.getType())); }
bool isCondition(Value value) { return tile::elementOf(value.getType()).isInteger(1); }
unsigned bitsOf(Value value) { return tile::elementOf(value.getType()).getIntOrFloatBitWidth(); }

} // namespace

TileRanges::TileRanges(const FoldPlanes &fold, OpBuilder &builder, Value tile, int64_t mostElements)
    : fold(fold), loop(fold.loop), builder(builder), arithmetic(builder, scf::ForOp(fold.loop).getLoc()), tile(tile), mostElements(mostElements), step(&loop.getBody()->front()) {}

//===--- scalars and coordinates -----------------------------------------------------------------===//

/// The value of a scalar for the tile that is looked at; null if it depends on what the fold carries or computes.
Value TileRanges::scalar(Value value) {
  if (value == loop.getInductionVar())
    return tile;
  if (!loop.getBodyRegion().isAncestor(value.getParentRegion()))
    return isa<RankedTensorType>(value.getType()) ? Value() : value;
  if (auto found = scalars.find(value); found != scalars.end())
    return found->second;
  Value made;
  Operation *op = value.getDefiningOp();
  if (op && !op->getNumRegions() && op->getNumResults() == 1 && isMemoryEffectFree(op)) {
    IRMapping mapping;
    bool all = true;
    for (Value operand : op->getOperands()) {
      Value own = scalar(operand);
      all &= bool(own);
      mapping.map(operand, own);
    }
    if (all)
      made = builder.clone(*op, mapping)->getResult(0);
  }
  return scalars[value] = made;
}

Value TileRanges::lastOffset(StringAttr axis, int64_t width) {
  Value &last = lengths[axis];
  if (last)
    return last;
  RangeArithmetic &a = arithmetic;
  Value extent = extentOf(step, axis.getValue()), start;
  if (axis.getValue() == fold.axis)
    start = tile;
  else if (fold.block && fold.block.getName() == axis && !fold.rowsMeet)
    start = tile::kernelArgument(loop->getParentOfType<func::FuncOp>(), "item", axis.getValue());
  last = a.integer(width - 1);
  if (extent && start)
    last = a.min(last, a.subtract(a.subtract(a.widened(extent), a.widened(start)), a.integer(1)));
  return last;
}

int64_t TileRanges::widthOf(StringAttr axis) const {
  tile::AxisAttr known = fold.kernel.find(axis.getValue());
  return known ? known.getWidth() : 1;
}

Value TileRanges::endsInside() {
  RangeArithmetic &a = arithmetic;
  Value extent = extentOf(step, fold.axis);
  return extent ? a.atMost(a.add(a.widened(tile), a.integer(fold.width)), a.widened(extent)) : a.truth(true);
}

std::optional<TileRange> TileRanges::ofForm(const AffineForm &form) {
  RangeArithmetic &a = arithmetic;
  TileRange sum = a.point(a.integer(form.constant));
  auto term = [&](const TileRange &x, int64_t factor) {
    TileRange scaled = factor < 0 ? a.negative(x) : x;
    Value magnitude = a.integer(std::abs(factor));
    if (std::abs(factor) != 1)
      scaled = {a.multiply(scaled.least, magnitude), a.multiply(scaled.most, magnitude), x.span < 0 ? -1 : x.span * std::abs(factor)};
    sum = a.sum(sum, scaled);
  };
  for (auto [value, factor] : form.scalars) {
    Value own = scalar(value);
    if (!own)
      return std::nullopt;
    term(a.point(own), factor);
  }
  for (auto [axis, factor] : form.coordinates) {
    auto origin = originForm(step, axis.getValue());
    Value start = a.integer(0);
    for (auto [value, times] : origin ? origin->scalars : SmallVector<std::pair<Value, int64_t>>()) {
      Value own = scalar(value);
      if (!own || times != 1)
        return std::nullopt;
      start = a.add(start, a.widened(own));
    }
    int64_t width = widthOf(axis);
    term({start, a.add(start, lastOffset(axis, width)), width - 1}, factor);
  }
  return sum;
}

//===--- values ----------------------------------------------------------------------------------===//

std::optional<TileRange> TileRanges::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Range range = compute(value);
  if (!range && !unknown)
    unknown = value;
  return known[value] = range;
}

TileRange TileRanges::kept(tile::MaskOp mask) {
  RangeArithmetic &a = arithmetic;
  TileRange all{a.truth(true), a.truth(true)};
  auto axes = tile::axesOf(mask.getType());
  for (auto [plane, rest] : llvm::enumerate(mask.getRest())) {
    auto form = affineForm(rest, mask);
    for (auto [dimension, axis] : llvm::enumerate(axes)) {
      int64_t factor = mask.getCoefficients()[plane * axes.size() + dimension];
      auto start = affineForm(mask.getOrigin()[dimension], mask), origin = originForm(mask, axis.getValue());
      if (!form || !start || !origin) {
        form.reset();
        break;
      }
      if (factor == 0)
        continue;
      form->add({{{axis, 1}}, {}, 0}, factor);      // coordinate + (start - origin)
      form->add(*start, factor);
      form->add(*origin, -factor);
    }
    Range left = form ? ofForm(*form) : std::nullopt;
    all = a.conjunction(all, left ? a.lessOrEqual(*left, a.point(a.integer(0))) : a.undecided());
  }
  if (mask.getCondition())
    all = a.conjunction(all, of(mask.getCondition()).value_or(a.undecided()));
  return all;
}

std::optional<TileRange> TileRanges::compute(Value value) {
  if (tile::axesOf(value).empty()) {
    Value own = scalar(value);
    return own && isa<IntegerType, FloatType>(own.getType()) ? Range(arithmetic.point(own)) : std::nullopt;
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (isa<arith::ConstantOp>(op))
    return ofConstant(value);
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op))
    return of(broadcast.getSource());
  if (tile::elementOf(value.getType()).isInteger(32))
    if (auto form = affineForm(value, step))
      if (Range range = ofForm(*form))
        return arithmetic.within(*range, 32);
  return ofOperation(op);
}

std::optional<TileRange> TileRanges::ofConstant(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  RangeArithmetic &a = arithmetic;
  Type element = elements.getElementType();
  if (isa<IntegerType>(element)) {
    if (element.isInteger(1))
      return TileRange{a.truth(llvm::all_of(elements.getValues<APInt>(), [](const APInt &x) { return !x.isZero(); })),
                       a.truth(llvm::any_of(elements.getValues<APInt>(), [](const APInt &x) { return !x.isZero(); }))};
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (const APInt &x : elements.getValues<APInt>()) {
      low = std::min(low, x.getSExtValue());
      high = std::max(high, x.getSExtValue());
    }
    if (low == high)
      return a.point(a.integer(low));
    return TileRange{a.integer(low), a.integer(high), low < -(int64_t(1) << 61) || high > int64_t(1) << 61 ? -1 : high - low};
  }
  std::optional<double> least, most;
  for (const APFloat &x : elements.getValues<APFloat>()) {
    APFloat wide = x;
    bool lost = false;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    double n = wide.convertToDouble();
    if (n != n)
      return std::nullopt;
    least = std::min(least.value_or(n), n);
    most = std::max(most.value_or(n), n);
  }
  Type wide = element.isF64() ? element : Type(builder.getF32Type());
  if (*least == *most)
    return a.point(a.number(*least, wide));
  return TileRange{a.number(*least, wide), a.number(*most, wide)};
}

std::optional<TileRange> TileRanges::ofOperation(Operation *op) {
  RangeArithmetic &a = arithmetic;
  Value value = op->getResult(0);
  auto in = [&](unsigned i) { return of(op->getOperand(i)); };
  auto unary = [&](auto apply) -> Range {
    Range x = in(0);
    return x ? Range(apply(*x)) : std::nullopt;
  };
  auto binary = [&](auto apply) -> Range {
    Range x = in(0), y = in(1);
    return x && y ? Range(apply(*x, *y)) : std::nullopt;
  };
  auto integers = [&](int64_t limit, auto apply) {
    return binary([&](const TileRange &x, const TileRange &y) {
      TileRange made = apply(x, y);
      return bitsOf(value) < 64 ? a.within(made, bitsOf(value)) : a.ifSmall(made, {x, y}, limit);
    });
  };
  auto conditions = [&](auto apply) -> Range {
    Range x = in(0), y = in(1);
    return x || y ? Range(apply(x.value_or(a.undecided()), y.value_or(a.undecided()))) : std::nullopt;
  };
  Type wide = isa<FloatType>(tile::elementOf(value.getType())) && !tile::elementOf(value.getType()).isF64() ? Type(builder.getF32Type()) : tile::elementOf(value.getType());
  Location loc = op->getLoc();

  return TypeSwitch<Operation *, Range>(op)
      .Case([&](tile::PositionsOp positions) -> Range {
        Value start = scalar(positions.getStart());
        StringAttr axis = tile::axesOf(value)[0];
        if (!start)
          return std::nullopt;
        Value first = a.widened(start);
        return TileRange{first, a.add(first, lastOffset(axis, widthOf(axis))), widthOf(axis) - 1};
      })
      .Case([&](tile::LoadOp load) { return ofLoad(load); })
      .Case([&](tile::GatherOp gather) { return ofGather(gather); })
      .Case([&](tile::MaskOp mask) -> Range {
        Range source = in(0);
        auto constant = numberOf(mask.getOtherwise());
        if (!source || !constant)
          return std::nullopt;
        Value number = isCondition(value) ? a.truth(*constant != 0) : isInteger(value) ? a.integer(int64_t(*constant)) : a.number(*constant, wide);
        return a.choice(kept(mask), *source, a.point(number));
      })
      .Case([&](arith::SubIOp) -> Range {
        if (Range rest = remainder(op))
          return rest;
        return integers(int64_t(1) << 61, [&](const TileRange &x, const TileRange &y) { return a.difference(x, y); });
      })
      .Case([&](arith::AddIOp) { return integers(int64_t(1) << 61, [&](const TileRange &x, const TileRange &y) { return a.sum(x, y); }); })
      .Case([&](arith::MulIOp) { return integers(int64_t(1) << 30, [&](const TileRange &x, const TileRange &y) { return a.product(x, y); }); })
      .Case([&](arith::FloorDivSIOp) -> Range {
        Range x = in(0), d = in(1);
        if (!x || !d || d->least != d->most)
          return std::nullopt;
        return a.within(a.floorQuotient(*x, d->least, integerOf(op->getOperand(1))), bitsOf(value));
      })
      .Case([&](arith::MaxSIOp) -> Range {
        for (int i : {0, 1})                              // |x| = max(x, 0 - x)
          if (auto minus = withoutBroadcasts(op->getOperand(1 - i)).getDefiningOp<arith::SubIOp>();
              minus && integerOf(minus.getLhs()) == 0 && withoutBroadcasts(minus.getRhs()) == withoutBroadcasts(op->getOperand(i)) && bitsOf(value) < 64) {
            Range x = in(unsigned(i));
            return x ? Range(a.within(a.absolute(*x), bitsOf(value))) : std::nullopt;
          }
        return binary([&](const TileRange &x, const TileRange &y) { return a.larger(x, y); });
      })
      .Case<arith::MaximumFOp>([&](auto) { return binary([&](const TileRange &x, const TileRange &y) { return a.larger(x, y); }); })
      .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto) { return binary([&](const TileRange &x, const TileRange &y) { return a.smaller(x, y); }); })
      .Case([&](arith::SelectOp) -> Range {
        Range condition = in(0), x = in(1), y = in(2);
        return x && y ? Range(a.choice(condition.value_or(a.undecided()), *x, *y)) : std::nullopt;
      })
      .Case([&](arith::CmpIOp compare) { return comparison(compare); })
      .Case([&](arith::CmpFOp compare) -> Range {
        using P = arith::CmpFPredicate;
        return binary([&](const TileRange &x, const TileRange &y) {
          switch (compare.getPredicate()) {
          case P::OLT: case P::ULT: return a.lessThan(x, y);
          case P::OLE: case P::ULE: return a.lessOrEqual(x, y);
          case P::OGT: case P::UGT: return a.lessThan(y, x);
          case P::OGE: case P::UGE: return a.lessOrEqual(y, x);
          case P::OEQ: case P::UEQ: return a.equals(x, y);
          case P::ONE: case P::UNE: return a.opposite(a.equals(x, y));
          default: return a.undecided();
          }
        });
      })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) -> Range {
        if (!isCondition(value))
          return pointwise(op);
        if (isa<arith::AndIOp>(op))
          return conditions([&](const TileRange &x, const TileRange &y) { return a.conjunction(x, y); });
        if (isa<arith::OrIOp>(op))
          return conditions([&](const TileRange &x, const TileRange &y) { return a.disjunction(x, y); });
        return binary([&](const TileRange &x, const TileRange &y) {
          return a.disjunction(a.conjunction(x, a.opposite(y)), a.conjunction(a.opposite(x), y));
        });
      })
      .Case([&](arith::ExtSIOp) -> Range { return isCondition(op->getOperand(0)) ? std::nullopt : in(0); })
      .Case([&](arith::ExtUIOp) -> Range {
        if (!isCondition(op->getOperand(0)))
          return pointwise(op);
        return unary([&](const TileRange &x) { return TileRange{a.choose(x.least, a.integer(1), a.integer(0)), a.choose(x.most, a.integer(1), a.integer(0)), 1}; });
      })
      .Case([&](arith::UIToFPOp) -> Range {
        if (!isCondition(op->getOperand(0)))
          return std::nullopt;
        return unary([&](const TileRange &x) { return TileRange{a.choose(x.least, a.number(1, wide), a.number(0, wide)), a.choose(x.most, a.number(1, wide), a.number(0, wide))}; });
      })
      .Case([&](arith::SIToFPOp) {
        return unary([&](const TileRange &x) {      // rounds alike everywhere, and does not turn the order round
          return TileRange{builder.createOrFold<arith::SIToFPOp>(loc, wide, x.least), builder.createOrFold<arith::SIToFPOp>(loc, wide, x.most)};
        });
      })
      .Case([&](arith::ExtFOp) {
        return unary([&](const TileRange &x) {
          return x.least.getType() == wide ? x : TileRange{builder.createOrFold<arith::ExtFOp>(loc, wide, x.least), builder.createOrFold<arith::ExtFOp>(loc, wide, x.most)};
        });
      })
      .Case([&](arith::TruncFOp) {
        return unary([&](const TileRange &x) {      // to 16 bits, which a target may put off
          TileRange narrow = x.least.getType() == wide ? x : TileRange{builder.createOrFold<arith::TruncFOp>(loc, wide, x.least), builder.createOrFold<arith::TruncFOp>(loc, wide, x.most)};
          return a.rounded(narrow, 0x1p-7);
        });
      })
      .Case([&](arith::AddFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.sum(x, y)); }); })
      .Case([&](arith::SubFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.difference(x, y)); }); })
      .Case([&](arith::MulFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.product(x, y)); }); })
      .Case([&](arith::DivFOp) -> Range {
        auto divisor = uniformConstant(op->getOperand(1));
        if (!divisor || !std::isfinite(1 / *divisor) || *divisor == 0)
          return std::nullopt;
        return unary([&](const TileRange &x) { return a.rounded(a.product(x, a.point(a.number(1 / *divisor, wide)))); });
      })
      .Case([&](math::FmaOp) -> Range {
        Range x = in(0), y = in(1), z = in(2);
        return x && y && z ? Range(a.rounded(a.sum(a.rounded(a.product(*x, *y)), *z))) : std::nullopt;
      })
      .Case([&](arith::NegFOp) { return unary([&](const TileRange &x) { return a.negative(x); }); })
      .Case([&](math::AbsFOp) { return unary([&](const TileRange &x) { return a.absolute(x); }); })
      .Case([&](math::FloorOp) { return unary([&](const TileRange &x) { return TileRange{builder.createOrFold<math::FloorOp>(loc, x.least), builder.createOrFold<math::FloorOp>(loc, x.most)}; }); })
      .Case([&](math::CeilOp) { return unary([&](const TileRange &x) { return TileRange{builder.createOrFold<math::CeilOp>(loc, x.least), builder.createOrFold<math::CeilOp>(loc, x.most)}; }); })
      .Default([&](Operation *) { return pointwise(op); });
}

/// x - floor(x / d) · d, as the remainder is spelt.
std::optional<TileRange> TileRanges::remainder(Operation *op) {
  auto product = withoutBroadcasts(op->getOperand(1)).getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  for (int i : {0, 1}) {
    auto quotient = withoutBroadcasts(product->getOperand(unsigned(i))).getDefiningOp<arith::FloorDivSIOp>();
    Value divisor = withoutBroadcasts(product->getOperand(unsigned(1 - i)));
    if (!quotient || withoutBroadcasts(quotient.getLhs()) != withoutBroadcasts(op->getOperand(0)) || withoutBroadcasts(quotient.getRhs()) != divisor)
      continue;
    Range x = of(op->getOperand(0)), d = of(divisor);
    if (x && d && d->least == d->most)
      return arithmetic.within(arithmetic.remainder(*x, d->least, integerOf(divisor)), bitsOf(op->getResult(0)));
  }
  return std::nullopt;
}

std::optional<TileRange> TileRanges::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  RangeArithmetic &a = arithmetic;
  P predicate = op.getPredicate();
  if (isCondition(op.getLhs())) {
    Range x = of(op.getLhs()), y = of(op.getRhs());
    if (!x || !y || (predicate != P::eq && predicate != P::ne))
      return std::nullopt;
    TileRange same = a.disjunction(a.conjunction(*x, *y), a.conjunction(a.opposite(*x), a.opposite(*y)));
    return predicate == P::eq ? same : a.opposite(same);
  }
  Range x, y;
  if (tile::elementOf(op.getLhs().getType()).isInteger(32)) {      // what stands on both sides cancels
    auto left = affineForm(op.getLhs(), op), right = affineForm(op.getRhs(), op);
    if (left && right) {
      left->add(*right, -1);
      x = ofForm(*left);
      y = a.point(a.integer(0));
    }
  }
  if (!x || !y) {
    x = of(op.getLhs());
    y = of(op.getRhs());
  }
  if (!x || !y)
    return std::nullopt;
  switch (predicate) {
  case P::slt: return a.lessThan(*x, *y);
  case P::sle: return a.lessOrEqual(*x, *y);
  case P::sgt: return a.lessThan(*y, *x);
  case P::sge: return a.lessOrEqual(*y, *x);
  case P::eq: return a.equals(*x, *y);
  case P::ne: return a.opposite(a.equals(*x, *y));
  default: return std::nullopt;
  }
}

/// Any operation on integers, where each operand has one value in the whole tile.
std::optional<TileRange> TileRanges::pointwise(Operation *op) {
  RangeArithmetic &a = arithmetic;
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 || !isInteger(op->getResult(0)) || !llvm::all_of(op->getOperands(), isInteger))
    return std::nullopt;
  Value single = a.truth(true);
  SmallVector<TileRange> operands;
  for (Value operand : op->getOperands()) {
    Range x = of(operand);
    if (!x)
      return std::nullopt;
    single = a.both(single, isCondition(operand) ? a.either(x->least, a.negate(x->most)) : a.equal(x->least, x->most));
    operands.push_back(*x);
  }
  OperationState state(op->getLoc(), op->getName());
  for (auto [operand, x] : llvm::zip(op->getOperands(), operands)) {
    Value number = x.least;
    // What is computed for nothing divides by no 0 and shifts no further than there are bits.
    if (operand == op->getOperands().back() && isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp, arith::ShLIOp, arith::ShRSIOp>(op))
      number = a.choose(single, number, a.integer(1));
    if (number.getType() != tile::elementOf(operand.getType()))
      number = builder.createOrFold<arith::TruncIOp>(op->getLoc(), tile::elementOf(operand.getType()), number);
    state.addOperands(number);
  }
  state.addTypes(tile::elementOf(op->getResult(0).getType()));
  state.addAttributes(op->getAttrs());
  Value made = a.widened(builder.create(state)->getResult(0));
  if (isCondition(op->getResult(0)))
    return TileRange{a.both(single, made), a.either(a.negate(single), made)};
  TileRange any = a.whole(bitsOf(op->getResult(0)));
  return TileRange{a.choose(single, made, any.least), a.choose(single, made, any.most)};
}

//===--- tables ----------------------------------------------------------------------------------===//

std::optional<TileRange> TileRanges::box(Value memory, ArrayRef<TileRange> places) {
  RangeArithmetic &a = arithmetic;
  int64_t elements = 1;
  const TileRange *open = nullptr;   // how wide it is, only the tile tells
  for (const TileRange &place : places) {
    if (place.span < 0 || place.span >= mostElements) {
      if (open || !place.least.getType().isInteger(64))
        return std::nullopt;
      open = &place;
      continue;
    }
    elements *= place.span + 1;
    if (elements > mostElements)
      return std::nullopt;
  }
  SmallVector<Value> low, high;
  Value isNarrow;
  for (const TileRange &place : places) {
    low.push_back(place.least);
    high.push_back(place.most);
    if (&place == open) {
      Value span = a.subtract(place.most, place.least);   // negative, where it left i64
      isNarrow = a.both(a.atMost(a.integer(0), span), a.atMost(span, a.integer(mostElements / elements - 1)));
      high.back() = a.choose(isNarrow, place.most, place.least);
    }
  }
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Type wide = isa<IntegerType>(element) ? Type(builder.getI64Type()) : element.isF64() ? element : Type(builder.getF32Type());
  auto extremes = tile::ExtremesOp::create(builder, memory.getLoc(), wide, wide, memory, low, high, IntegerAttr(), IntegerAttr());
  TileRange found{extremes.getLeast(), extremes.getMost(), elements == 1 && !open ? 0 : -1};
  if (!open)
    return found;
  Value unknown = isa<FloatType>(wide) ? a.number(std::numeric_limits<double>::quiet_NaN(), wide) : Value();
  TileRange any = unknown ? TileRange{unknown, unknown} : a.whole(std::max(8U, element.getIntOrFloatBitWidth()));
  return TileRange{a.choose(isNarrow, found.least, any.least), a.choose(isNarrow, found.most, any.most)};
}

std::optional<TileRange> TileRanges::ofLoad(tile::LoadOp load) {
  RangeArithmetic &a = arithmetic;
  SmallVector<TileRange> places;
  for (auto [offset, dimension] : llvm::zip(load.getOffsets(), load.getDims())) {
    Value start = scalar(offset);
    if (!start)
      return std::nullopt;
    places.push_back(a.point(start));
    if (dimension < 0)
      continue;
    StringAttr axis = tile::axesOf(load.getResult())[unsigned(dimension)];
    places.back().most = a.add(places.back().least, lastOffset(axis, widthOf(axis)));
    places.back().span = widthOf(axis) - 1;
  }
  return box(load.getMemory(), places);
}

std::optional<TileRange> TileRanges::ofGather(tile::GatherOp gather) {
  SmallVector<TileRange> places;
  for (Value index : gather.getIndices()) {
    Range place = of(index);
    if (!place)
      return std::nullopt;
    places.push_back(*place);
  }
  return box(gather.getMemory(), places);
}

} // namespace tw
