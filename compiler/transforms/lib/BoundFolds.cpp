// Bounds a fold by its masks and splits it into loops over full and over partial tiles.
//
// A mask bounds the fold if a tile that it excludes wholly changes no carried value (MaskedTiles.h): the
// tiles that one of its half planes excludes for all of the item's rows are not visited. In
// the tiles which lie before the end of the axis and in which every mask of the loop keeps every element of all rows, the
// masks are dropped. Both ranges are computed before the loop (FoldBounds.h), in i32: half planes
// stay in it by the kernel's `tile.limit`.
//
//   for k = 0 to S { s = mask(x; k ≤ q; K) … }
// =>
//   for k = 0 to fullEnd        { s = x … }              tile.range = "full"
//   for k = fullEnd to end      { s = mask(x; …) … }     tile.range = "partial"
//
// Where partial tiles lie on both sides of the full ones, one loop behind the full one visits them all (tile.skip),
// unless the fold is ordered: the step with masks is the longer one, and stands in the kernel once.
//
// Rows past the end of the block axis are never stored and count neither way, unless the step
// reduces over the block axis.
#include "AffineForms.h"
#include "FoldAttributes.h"
#include "FoldBounds.h"
#include "MaskedTiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/transforms/Passes.h"

namespace tw {
#define GEN_PASS_DEF_BOUNDFOLDS
#include "tilewright/transforms/Passes.h.inc"
using namespace mlir;
namespace {

/// The arithmetic of FoldBounds.h as i32 operations.
struct ScalarOps {
  OpBuilder &builder;
  Location location;

  Value constant(int64_t n) { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(int32_t(n))); }
  Value add(Value x, Value y) { return builder.createOrFold<arith::AddIOp>(location, x, y); }
  Value subtract(Value x, Value y) { return builder.createOrFold<arith::SubIOp>(location, x, y); }
  Value times(Value x, int64_t n) {
    return n == 1 ? x : builder.createOrFold<arith::MulIOp>(location, x, constant(n));
  }
  Value floorDivide(Value x, int64_t n) { return builder.createOrFold<arith::FloorDivSIOp>(location, x, constant(n)); }
  Value min(Value x, Value y) { return x == y ? x : builder.createOrFold<arith::MinSIOp>(location, x, y); }
  Value max(Value x, Value y) { return x == y ? x : builder.createOrFold<arith::MaxSIOp>(location, x, y); }
  Value ifPositive(Value x, Value then, Value otherwise) {
    Value positive = builder.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::sgt, x, constant(0));
    return builder.createOrFold<arith::SelectOp>(location, positive, then, otherwise);
  }
};

/// One fold and what its masks say about it.
class Fold {
public:
  Fold(scf::ForOp loop, StringRef axis, OpBuilder &builder)
      : loop(loop), axis(axis), builder(builder), scalars{builder, loop.getLoc()} {}

  /// Why the loop cannot be bounded at all, or nothing.
  std::optional<std::string> obstacle();
  void bound(bool explain);

private:
  scf::ForOp loop;
  StringRef axis;
  OpBuilder &builder;
  ScalarOps scalars;
  int64_t width = 0;
  tile::AxisAttr block;
  bool ordered = false;       // the fold asks for its tiles from the first to the last
  bool rowsMeet = false;      // the step reduces over the block axis
  Value lastRow;              // last row of the item that counts, once computed

  std::optional<FoldPlane<Value>> planeOf(tile::MaskOp mask, unsigned plane, bool bounds);
  std::optional<Term<Value>> termOf(tile::MaskOp mask, unsigned dimension, int64_t coefficient);
  void split(const FoldRanges<Value> &ranges, bool canBeFull);
  scf::ForOp copyOf(Value begin, Value end, ValueRange carried, bool full);
};

std::optional<std::string> Fold::obstacle() {
  auto kernel = tile::kernelOf(loop->getParentOfType<func::FuncOp>());
  tile::AxisAttr known = kernel ? kernel.find(axis) : tile::AxisAttr();
  if (!known)
    return "the kernel does not list axis \"" + axis.str() + "\"";
  width = known.getWidth();
  ordered = kernel.getOrdered();
  block = kernel.withRole(tile::Role::Block);
  APInt begin, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&begin)) || !begin.isZero() ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || step.getSExtValue() != width)
    return "it does not walk from 0 in steps of " + std::to_string(width);
  return std::nullopt;
}

/// coefficient · x for the coordinate x along a dimension of the mask, with all values x takes in the item's tile.
std::optional<Term<Value>> Fold::termOf(tile::MaskOp mask, unsigned dimension, int64_t coefficient) {
  auto origin = affineForm(mask.getOrigin()[dimension], mask);
  if (!origin || variesIn(*origin, loop))
    return std::nullopt;
  Value lower = materialise(builder, scalars.location, *origin, loop);
  int64_t length = cast<RankedTensorType>(mask.getType()).getDimSize(dimension);
  StringRef name = tile::axesOf(mask.getType())[dimension].getValue();
  bool isBlock = block && block.getName().getValue() == name;
  Value item = isBlock ? tile::kernelArgument(loop->getParentOfType<func::FuncOp>(), "item", name) : Value();
  Value extent = isBlock ? extentOf(loop, name) : Value();
  if (!item || !extent || lower != item || rowsMeet)
    return Term<Value>{coefficient, lower, scalars.add(lower, scalars.constant(length - 1))};
  if (!lastRow)
    lastRow = scalars.subtract(scalars.min(scalars.add(lower, scalars.constant(length)), extent), scalars.constant(1));
  return Term<Value>{coefficient, lower, lastRow};
}

/// A half plane as the fold sees it; nothing if it does not move with the fold's tiles.
std::optional<FoldPlane<Value>> Fold::planeOf(tile::MaskOp mask, unsigned plane, bool bounds) {
  auto axes = tile::axesOf(mask.getType());
  auto rest = affineForm(mask.getRest()[plane], mask);
  if (!rest || variesIn(*rest, loop))
    return std::nullopt;
  int64_t along = 0;
  std::vector<Term<Value>> terms;
  for (unsigned dimension = 0; dimension < axes.size(); ++dimension) {
    int64_t coefficient = mask.getCoefficients()[plane * axes.size() + dimension];
    if (coefficient == 0)
      continue;
    if (axes[dimension].getValue() == axis) {
      if (mask.getOrigin()[dimension] != loop.getInductionVar())
        return std::nullopt;
      along = coefficient;
    } else if (auto term = termOf(mask, dimension, coefficient)) {
      terms.push_back(*term);
    } else {
      return std::nullopt;
    }
  }
  auto [least, most] = extremes(scalars, materialise(builder, scalars.location, *rest, loop), terms);
  return FoldPlane<Value>{along, least, most, bounds};
}

void Fold::bound(bool explain) {
  SmallVector<tile::MaskOp> masks;
  loop.getBody()->walk([&](Operation *op) {
    if (auto mask = dyn_cast<tile::MaskOp>(op))
      masks.push_back(mask);
    if (auto reduced = isa<tile::ReduceOp, tile::DotOp>(op) ? op->getAttrOfType<StringAttr>("axis") : StringAttr())
      rowsMeet |= block && reduced == block.getName();
  });
  if (masks.empty())
    return;
  builder.setInsertionPoint(loop);
  MaskedTiles proof(loop);
  std::vector<FoldPlane<Value>> planes;
  bool canBeFull = true;
  for (tile::MaskOp mask : masks) {
    auto change = proof.change(mask);
    bool moves = true;
    for (unsigned i = 0; i < mask.getRest().size(); ++i) {
      if (auto plane = planeOf(mask, i, !change))
        planes.push_back(*plane);
      else
        moves = false;
    }
    canBeFull &= moves;
    if (!explain)
      continue;
    auto remark = mask.emitRemark();
    if (change)
      remark << "the mask does not bound the fold over \"" << axis << "\": in a tile that it excludes wholly, " << *change;
    else
      remark << "the mask bounds the fold over \"" << axis << "\"";
    if (!moves)
      remark << "; its half planes change in the loop, so no tile is known to be full";
  }
  split(foldRanges(scalars, planes, loop.getUpperBound(), width, canBeFull), canBeFull);
}

scf::ForOp Fold::copyOf(Value begin, Value end, ValueRange carried, bool full) {
  auto copy = cast<scf::ForOp>(builder.clone(*loop));
  copy.setLowerBound(begin);
  copy.setUpperBound(end);
  copy.getInitArgsMutable().assign(carried);
  copy->setAttr(foldRangeAttr, builder.getStringAttr(full ? "full" : "partial"));
  if (full)
    copy.getBody()->walk([](tile::MaskOp mask) {
      mask.replaceAllUsesWith(mask.getSource());
      mask.erase();
    });
  return copy;
}

void Fold::split(const FoldRanges<Value> &ranges, bool canBeFull) {
  SmallVector<Value> carried(loop.getInitArgs());
  auto append = [&](Value begin, Value end, bool full) {
    scf::ForOp copy = copyOf(begin, end, carried, full);
    carried = SmallVector<Value>(copy.getResults());
    return copy;
  };
  if (ranges.startsFull || !canBeFull || ordered) {
    if (!ranges.startsFull)
      append(ranges.begin, ranges.fullBegin, false);
    if (canBeFull)
      append(ranges.fullBegin, ranges.fullEnd, true);
    append(ranges.fullEnd, ranges.end, false);
  } else {
    Value full = scalars.subtract(ranges.fullEnd, ranges.fullBegin), end = scalars.subtract(ranges.end, full);
    append(ranges.fullBegin, ranges.fullEnd, true);
    scf::ForOp around = append(ranges.begin, end, false);
    OpBuilder inside = OpBuilder::atBlockBegin(around.getBody());
    auto coordinate = tile::SkipOp::create(inside, scalars.location, around.getInductionVar(), ranges.fullBegin, full);
    around.getInductionVar().replaceAllUsesExcept(coordinate, coordinate);
  }
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

struct BoundFolds : impl::BoundFoldsBase<BoundFolds> {
  using BoundFoldsBase::BoundFoldsBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (loop->hasAttr(foldAxisAttr) && !loop->hasAttr(foldRangeAttr))
        loops.push_back(loop);
    });
    OpBuilder builder(&getContext());
    for (scf::ForOp loop : loops) {
      Fold fold(loop, loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue(), builder);
      if (auto obstacle = fold.obstacle()) {
        if (explain)
          loop.emitRemark() << "the fold over \"" << loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue() << "\" is not bounded: " << *obstacle;
        continue;
      }
      fold.bound(explain);
    }
  }
};

} // namespace
} // namespace tw
