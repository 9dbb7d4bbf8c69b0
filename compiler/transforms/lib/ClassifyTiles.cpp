// Finds out, tile by tile, which tiles of a fold its masks exclude wholly and which they keep wholly, where no closed form says so.
//
// Half planes bound a fold by arithmetic (BoundFolds.cpp). Disjunctions, tables and remainders do not: whether a tile
// is empty, full or partial is asked for each one, by ranges of the values in the condition (TileRanges.h). Each item lists its
// tiles that are not empty once, and then walks the list:
//
//   for k = 0 to S { s = mask(x; k ≤ q; where doc(q) = doc(k); K) … }
// =>
//   list, partial, full, all = kept 0 to end { … min(docs of the rows) … max(docs of the columns) … }
//   for i = full to all    { k = list[i]; s = x … }                tile.range = "full"
//   for i = 0 to partial   { k = list[i]; s = mask(x; …) … }       tile.range = "partial"
//
// What is skipped and what is kept is as in tile-bound-folds: a mask leaves out the tiles that it excludes only if that changes no carried
// value, and a full tile lies before the end of the axis. Half planes of masks that do so still bound the range that is listed.
#include "AffineForms.h"
#include "FoldAttributes.h"
#include "MaskedTiles.h"
#include "TileRanges.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilewright/transforms/Passes.h"

namespace tw {
#define GEN_PASS_DEF_CLASSIFYTILES
#include "tilewright/transforms/Passes.h.inc"
using namespace mlir;
namespace {

bool isAlways(Value condition, bool holds) {
  APInt known;
  return matchPattern(condition, m_ConstantInt(&known)) && known.isZero() != holds;
}

class Classes : FoldPlanes {
public:
  Classes(scf::ForOp loop, OpBuilder &builder) : FoldPlanes(loop, builder), builder(builder), location(loop.getLoc()) {}
  using FoldPlanes::obstacle;
  /// Are there masks that half planes do not describe?
  bool hasConditions() { return llvm::any_of(masks, [](tile::MaskOp mask) { return bool(mask.getCondition()); }); }
  void classify(int64_t mostElements, bool all, bool perItem, bool explain);

private:
  OpBuilder &builder;
  Location location;

  /// What is known of a mask.
  struct Known {
    std::optional<std::string> change;     // by a tile that it excludes, if there is one
    TileRange keeps;
    Value unknown;                         // a value of which no range is known, or null
  };
  SmallVector<Known> known;                // of masks in order

  tile::KeptOp makeList(int64_t mostElements);
  void hoist(tile::KeptOp kept);
  SmallVector<Value> loopOver(tile::KeptOp kept, ValueRange carried, bool full);
  void say(tile::MaskOp mask, const Known &known);
};

/// What needs nothing of the tile is computed before the list.
void Classes::hoist(tile::KeptOp kept) {
  for (Operation &op : llvm::make_early_inc_range(kept.getClassify().front().without_terminator()))
    if (isMemoryEffectFree(&op) && llvm::all_of(op.getOperands(), [&](Value operand) { return !kept.getClassify().isAncestor(operand.getParentRegion()); }))
      op.moveBefore(kept);
}

void Classes::say(tile::MaskOp mask, const Known &known) {
  auto remark = mask.emitRemark();
  if (known.change)
    remark << "the mask does not bound the fold over \"" << axis << "\": in a tile that it excludes wholly, " << *known.change;
  else if (isAlways(known.keeps.most, true))
    remark << "the mask skips no tile of the fold over \"" << axis << "\": no range of what it compares excludes one";
  else
    remark << "the mask skips the tiles of the fold over \"" << axis << "\" that ranges of what it compares exclude";
  if (isAlways(known.keeps.least, false))
    remark << "; no tile is known to be full";
  if (!movesAlongFold(mask))
    remark << "; it is the same along the whole axis: it keeps rows or empties them";
  if (Operation *op = known.unknown ? known.unknown.getDefiningOp() : nullptr; op && mask.getCondition())
    remark.attachNote(op->getLoc()) << "no range is known of this value, '" << op->getName() << "'";
}

tile::KeptOp Classes::makeList(int64_t mostElements) {
  std::vector<FoldPlane<Value>> planes;
  for (auto [mask, what] : llvm::zip(masks, known))
    for (unsigned i = 0; !what.change && i < mask.getRest().size(); ++i)
      if (auto plane = planeOf(mask, i, true))
        planes.push_back(*plane);
  FoldRanges<Value> range = foldRanges(scalars, planes, loop.getUpperBound(), width, false);
  auto kept = tile::KeptOp::create(builder, location, range.begin, range.end, builder.getI64IntegerAttr(width));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&kept.getClassify(), {}, builder.getI32Type(), location);
  TileRanges ranges(*this, builder, body->getArgument(0), mostElements);
  RangeArithmetic arithmetic(builder, location);
  SmallVector<Value> empty, full;
  for (auto [mask, what] : llvm::zip(masks, known)) {
    ranges.unknown = {};
    what.keeps = ranges.kept(mask);
    what.unknown = ranges.unknown;
    empty.push_back(what.change ? arithmetic.truth(false) : arithmetic.negate(what.keeps.most));
    full.push_back(what.keeps.least);
  }
  empty.push_back(arithmetic.truth(false));
  full.push_back(kernel.getOrdered() ? arithmetic.truth(false) : ranges.endsInside());    // an ordered fold visits one list
  tile::ClassesOp::create(builder, location, empty, full);
  SmallVector<Attribute> places;
  for (tile::MaskOp mask : masks)
    places.push_back(LocationAttr(mask.getLoc()));
  kept->setAttr(foldMasksAttr, builder.getArrayAttr(places));
  hoist(kept);
  return kept;
}

/// A copy of the loop over the tiles of a list that are full, or over those that are partial.
SmallVector<Value> Classes::loopOver(tile::KeptOp kept, ValueRange carried, bool full) {
  Value begin = full ? kept.getFull() : scalars.constant(0), step = scalars.constant(1);
  auto copy = cast<scf::ForOp>(builder.clone(*loop));
  copy.setLowerBound(begin);
  copy.setUpperBound(full ? kept.getAll() : kept.getPartial());
  copy.setStep(step);
  copy.getInitArgsMutable().assign(carried);
  copy->setAttr(foldRangeAttr, builder.getStringAttr(full ? "full" : "partial"));
  OpBuilder inside = OpBuilder::atBlockBegin(copy.getBody());
  auto coordinate = tile::KeptAtOp::create(inside, location, kept.getList(), copy.getInductionVar());
  copy.getInductionVar().replaceAllUsesExcept(coordinate, coordinate);
  if (full)
    copy.getBody()->walk([](tile::MaskOp mask) {
      mask.replaceAllUsesWith(mask.getSource());
      mask.erase();
    });
  return SmallVector<Value>(copy.getResults());
}

void Classes::classify(int64_t mostElements, bool all, bool perItem, bool explain) {
  builder.setInsertionPoint(loop);
  MaskedTiles proof(loop);
  for (tile::MaskOp mask : masks)
    known.push_back({proof.change(mask), {}, {}});
  tile::KeptOp kept = makeList(mostElements);
  auto classes = cast<tile::ClassesOp>(kept.getClassify().front().getTerminator());
  // Half planes bound what is listed. A list for their sake alone would cost a GPU's producer more than it spares.
  bool skips = false;
  for (auto [mask, empty] : llvm::zip(masks, classes.getEmpty()))
    skips |= !isAlways(empty, false) && (mask.getCondition() || !perItem);
  bool canBeFull = llvm::none_of(classes.getFull(), [](Value full) { return isAlways(full, false); });
  const bool lists = all || skips || canBeFull;        // else the list would be of all tiles, all partial
  for (auto [mask, what] : llvm::zip(masks, known))
    if (explain && (lists || mask.getCondition()))     // tile-bound-folds speaks of the others
      say(mask, what);
  if (!lists) {
    kept.erase();
    return;
  }
  SmallVector<Value> carried(loop.getInitArgs());
  if (canBeFull)
    carried = loopOver(kept, carried, true);
  carried = loopOver(kept, carried, false);
  loop.replaceAllUsesWith(carried);
  loop.erase();
}

struct ClassifyTiles : impl::ClassifyTilesBase<ClassifyTiles> {
  using ClassifyTilesBase::ClassifyTilesBase;
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (scf::ForOp loop : wholeFolds(getOperation())) {
      Classes classes(loop, builder);
      if (perItem && loop->getParentOfType<scf::ForOp>())
        continue;
      if (!classes.obstacle() && (all || classes.hasConditions()))
        classes.classify(mostElements, all, perItem, explain);
    }
  }
};

} // namespace
} // namespace tw
