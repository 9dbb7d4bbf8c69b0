// Between which numbers the elements of a value lie in one tile of a fold.
#include "TileRanges.h"
#include "AffineForms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include <algorithm>
#include <limits>
using namespace mlir;

namespace tw {

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
  auto extremes = tile::ExtremesOp::create(builder, memory.getLoc(), wide, wide, memory, low, high, IntegerAttr(), IntegerAttr(), false);
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

/// Whether a tile's numbers are in its lists: asked of each of the numbers in each of the lists, all of whose elements are looked at.
std::optional<TileRange> TileRanges::ofSearch(tile::GatherOp gather, ArrayRef<TileRange> places) {
  RangeArithmetic &a = arithmetic;
  int64_t lists = 1;
  for (const TileRange &place : places.drop_back(2)) {
    if (place.span < 0 || place.span >= mostElements / lists)
      return std::nullopt;
    lists *= place.span + 1;
  }
  SmallVector<Value> low, high;
  for (const TileRange &place : places) {
    low.push_back(place.least);
    high.push_back(place.most);
  }
  Value isShort = a.atMost(high.back(), a.integer(mostElements / lists));
  high.back() = a.choose(isShort, high.back(), a.integer(0));
  low.back() = a.choose(isShort, low.back(), a.integer(0));
  Type wide = builder.getI64Type();
  auto extremes = tile::ExtremesOp::create(builder, gather.getLoc(), wide, wide, gather.getMemory(), low, high, IntegerAttr(), IntegerAttr(), true);
  Value none = a.integer(0);
  return TileRange{a.both(isShort, a.below(none, extremes.getLeast())), a.either(a.negate(isShort), a.below(none, extremes.getMost()))};
}

std::optional<TileRange> TileRanges::ofGather(tile::GatherOp gather) {
  SmallVector<TileRange> places;
  for (Value index : gather.getIndices()) {
    Range place = of(index);
    if (!place)
      return std::nullopt;
    places.push_back(*place);
  }
  if (gather.getAmong())
    return ofSearch(gather, places);
  return box(gather.getMemory(), places);
}

} // namespace tw
