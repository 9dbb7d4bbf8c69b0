// Visits the tiles of a fold from the last one down, with the first visited tile taken out of the loops.
//
//   for k in [a, b) full { … }                       if (c > a) {
//   for k in [b, c) partial { s = mask(x) … }          first: the partial step at the last tile of [a, c)
//                                              =>      for k in [b, min(c, first)) downwards, partial
//                                                      for k in [a, min(b, first)) downwards, full
//                                                    }
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_WALKFOLDS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr StringLiteral foldAxisAttr = "tile.fold", rangeAttr = "tile.range";

/// The loops of one fold in ascending order, each carrying on from the one before.
using Chain = SmallVector<scf::ForOp>;

Value constant(OpBuilder &b, Location loc, int64_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); }

class Walk {
public:
  Walk(Chain &chain, int64_t width, bool ordered) : chain(chain), width(width), ordered(ordered), builder(chain.front()), loc(chain.front().getLoc()) {}

  void run(bool peel) {
    // Bounds of later loops are computed before the first one, as bound-folds leaves them; else there is nothing to reorder.
    SmallVector<Value> start(chain.front().getInitArgs());
    SmallVector<Value> result = peel ? peeled(start) : loops(start, {});
    chain.back().replaceAllUsesWith(result);
    for (scf::ForOp loop : llvm::reverse(chain))
      loop.erase();
  }

private:
  Chain &chain;
  int64_t width;
  bool ordered;
  OpBuilder builder;
  Location loc;

  /// The first coordinate of the tile that holds end - 1.
  Value lastTile(Value end) {
    Value last = arith::SubIOp::create(builder, loc, end, constant(builder, loc, 1));
    Value tiles = arith::FloorDivSIOp::create(builder, loc, last, constant(builder, loc, width));
    return arith::MulIOp::create(builder, loc, tiles, constant(builder, loc, width));
  }

  SmallVector<Value> peeled(ArrayRef<Value> start) {
    Value begin = chain.front().getLowerBound(), end = chain.back().getUpperBound();
    Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, begin, end);
    auto branch = scf::IfOp::create(builder, loc, ValueRange(start).getTypes(), any, true);
    branch->setAttr(foldAxisAttr, chain.front()->getAttr(foldAxisAttr));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, start);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value first = ordered ? begin : lastTile(end);
    SmallVector<Value> carried = step(first, start);
    scf::YieldOp::create(builder, loc, loops(carried, first));
    // Where there are no steps but full ones, the first one would attempt what cannot hold before anything was visited.
    for (tile::AttemptOp attempt : llvm::make_early_inc_range(branch.thenBlock()->getOps<tile::AttemptOp>()))
      attempt.takeExactWay();
    return SmallVector<Value>(branch.getResults());
  }

  /// One step with masks, at tile `first`.
  SmallVector<Value> step(Value first, ArrayRef<Value> start) {
    scf::ForOp masked = chain.front();
    for (scf::ForOp loop : chain)
      if (auto range = loop->getAttrOfType<StringAttr>(rangeAttr); range && range.getValue() == "partial")
        masked = loop;
    IRMapping mapping;
    mapping.map(masked.getInductionVar(), first);
    mapping.map(masked.getRegionIterArgs(), ValueRange(start));
    for (Operation &op : masked.getBody()->without_terminator())
      builder.clone(op, mapping);
    SmallVector<Value> results;
    for (Value yielded : masked.getYieldedValues())
      results.push_back(mapping.lookupOrDefault(yielded));
    return results;
  }

  /// The loops in the order of visits, over all tiles but `taken`.
  SmallVector<Value> loops(ArrayRef<Value> start, Value taken) {
    SmallVector<Value> carried(start);
    Chain order(chain);
    if (!ordered)
      std::reverse(order.begin(), order.end());
    for (scf::ForOp loop : order) {
      Value begin = loop.getLowerBound(), end = loop.getUpperBound();
      if (taken && ordered)
        begin = arith::MaxSIOp::create(builder, loc, begin, arith::AddIOp::create(builder, loc, taken, constant(builder, loc, width)));
      else if (taken)
        end = arith::MinSIOp::create(builder, loc, end, taken);
      Value mirror = ordered ? Value() : arith::AddIOp::create(builder, loc, lastTile(end), begin);
      auto copy = cast<scf::ForOp>(builder.clone(*loop));
      copy.setLowerBound(begin);
      copy.setUpperBound(end);
      copy.getInitArgsMutable().assign(carried);
      if (mirror) {
        OpBuilder inside = OpBuilder::atBlockBegin(copy.getBody());
        Value coordinate = arith::SubIOp::create(inside, loc, mirror, copy.getInductionVar());
        copy.getInductionVar().replaceAllUsesExcept(coordinate, coordinate.getDefiningOp());
      }
      carried = SmallVector<Value>(copy.getResults());
    }
    return carried;
  }
};

struct WalkFolds : impl::WalkFoldsBase<WalkFolds> {
  using WalkFoldsBase::WalkFoldsBase;
  void runOnOperation() override {
    tile::KernelAttr kernel = tile::kernelOf(getOperation());
    if (!kernel)
      return;
    SmallVector<Chain> chains;
    getOperation()->walk([&](scf::ForOp loop) {
      if (!loop->hasAttr(foldAxisAttr))
        return;
      scf::ForOp before = loop.getInitArgs().empty() ? scf::ForOp() : loop.getInitArgs().front().getDefiningOp<scf::ForOp>();
      if (before && !chains.empty() && chains.back().back() == before)
        chains.back().push_back(loop);
      else
        chains.push_back({loop});
    });
    for (Chain &chain : chains) {
      APInt step;
      if (!matchPattern(chain.front().getStep(), m_ConstantInt(&step)))
        continue;
      Walk(chain, step.getSExtValue(), kernel.getOrdered()).run(peel);
    }
  }
};

} // namespace
} // namespace tw
