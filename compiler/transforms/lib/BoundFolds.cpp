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
#include "BoundAround.h"
#include "FoldAttributes.h"
#include "FoldPlanes.h"
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

/// One fold and the loops that become of it.
class Fold : FoldPlanes {
public:
  Fold(scf::ForOp loop, OpBuilder &builder) : FoldPlanes(loop, builder), builder(builder) {}
  using FoldPlanes::obstacle;
  void bound(bool explain);

private:
  OpBuilder &builder;

  /// Removes the half planes of the mask that are the same for a whole item and bound the fold: where they do not hold, no tile is visited.
  /// Adds to `excess` what is above 0 then.
  void dropUniform(tile::MaskOp mask, SmallVector<Value> &excess);
  void split(const FoldRanges<Value> &ranges, bool canBeFull);
  scf::ForOp copyOf(Value begin, Value end, ValueRange carried, bool full);
};

void Fold::bound(bool explain) {
  if (masks.empty())
    return;
  builder.setInsertionPoint(loop);
  MaskedTiles proof(loop);
  std::vector<FoldPlane<Value>> planes;
  bool canBeFull = true;
  SmallVector<tile::MaskOp> bounding;
  for (tile::MaskOp mask : masks) {
    auto change = proof.change(mask);
    if (!change)
      bounding.push_back(mask);
    bool moves = true;
    for (unsigned i = 0; i < mask.getRest().size(); ++i) {
      if (auto plane = planeOf(mask, i, !change))
        planes.push_back(*plane);
      else
        moves = false;
    }
    canBeFull &= moves;
    if (!explain || mask.getCondition())      // tile-classify-tiles has spoken of those
      continue;
    auto remark = mask.emitRemark();
    if (change)
      remark << "the mask does not bound the fold over \"" << axis << "\": in a tile that it excludes wholly, " << *change;
    else
      remark << "the mask bounds the fold over \"" << axis << "\"";
    if (!moves)
      remark << "; its half planes change in the loop, so no tile is known to be full";
    if (!movesAlongFold(mask))
      remark << "; it is the same along the whole axis: it keeps rows or empties them";
  }
  const FoldRanges<Value> ranges = foldRanges(scalars, planes, loop.getUpperBound(), width, canBeFull);
  const bool uniform = llvm::all_of(bounding, [&](tile::MaskOp mask) { return !mask.getCondition() && llvm::all_of(mask.getCoefficients(), [](int64_t c) { return c == 0; }); });
  const bool unmasked = canBeFull && uniform && bounding.size() == masks.size();
  SmallVector<Value> excess;
  for (tile::MaskOp mask : bounding)
    dropUniform(mask, excess);
  boundAround(loop, excess);
  if (unmasked) {
    loop.setUpperBound(ranges.end);
    return;
  }
  split(ranges, canBeFull);
}

void Fold::dropUniform(tile::MaskOp mask, SmallVector<Value> &excess) {
  const std::size_t rank = tile::axesOf(mask.getType()).size();
  SmallVector<int64_t> coefficients;
  SmallVector<Value> rest;
  for (auto [i, value] : llvm::enumerate(mask.getRest())) {
    auto plane = mask.getCoefficients().slice(i * rank, rank);
    auto form = affineForm(value, mask);
    if (form && !variesIn(*form, loop) && llvm::all_of(plane, [](int64_t c) { return c == 0; })) {
      if (!llvm::is_contained(excess, value))
        excess.push_back(value);
      continue;
    }
    coefficients.append(plane.begin(), plane.end());
    rest.push_back(value);
  }
  if (rest.empty() && !mask.getCondition()) {
    mask.replaceAllUsesWith(mask.getSource());
    mask.erase();
    return;
  }
  mask.getRestMutable().assign(rest);
  mask.setCoefficients(coefficients);
}

scf::ForOp Fold::copyOf(Value begin, Value end, ValueRange carried, bool full) {
  auto copy = cast<scf::ForOp>(builder.clone(*loop));
  copy.setLowerBound(begin);
  copy.setUpperBound(end);
  copy.getInitArgsMutable().assign(carried);
  copy->setAttr(foldRangeAttr, builder.getStringAttr(full ? "full" : "partial"));
  if (full)
    copy.getBody()->walk([](tile::MaskOp mask) {
      if (mask.getCondition()) {      // which tiles it keeps wholly is not known here
        mask.getRestMutable().clear();
        mask.setCoefficients({});
        return;
      }
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
  if (ranges.startsFull || !canBeFull || kernel.getOrdered()) {
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
    OpBuilder builder(&getContext());
    for (scf::ForOp loop : wholeFolds(getOperation())) {
      Fold fold(loop, builder);
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
