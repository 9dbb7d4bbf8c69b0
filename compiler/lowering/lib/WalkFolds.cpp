// Visits the tiles of a fold from the last one down, with the first visited tile taken out of the loops.
//
//   for k in [a, b) full { … }                       if (c > a) {
//   for k in [b, c) partial { s = mask(x) … }          first: the partial step at the last tile of [a, c)
//                                              =>      for k in [b, min(c, first)) downwards, partial
//                                                      for k in [a, min(b, first)) downwards, full
//                                                    }
//
// Loops over a list (tile.kept_at) are walked in its order, partial tiles before full ones.
//
// A partial loop on both sides of the full one (tile.skip) is walked from its last tile down too, and before the full one.
// If it is empty, the first visited tile is the last full one.
//
// With `careful`, where masks hide elements from dots that accumulate, all of this is one of two ways; the other one is a single loop over all tiles,
// exact and with every mask, for items that must be done again.
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

/// The loops of one fold, each carrying on from the one before; in ascending order, but for a last one that skips.
using Chain = SmallVector<scf::ForOp>;

Value constant(OpBuilder &b, Location loc, int64_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); }

class Walk {
public:
  Walk(Chain &chain, int64_t width, bool ordered) : chain(chain), width(width), ordered(ordered), builder(chain.front()), loc(chain.front().getLoc()) {}

  void run(bool peel, bool careful) {
    // Bounds of later loops are computed before the first one, as bound-folds leaves them; else there is nothing to reorder.
    SmallVector<Value> start(chain.front().getInitArgs());
    auto usual = [&] { return peel ? peeled(start) : listOf(chain.back()) ? listed(start, {}) : loops(start, {}); };
    chain.back().replaceAllUsesWith(careful && hidesElements() ? twoWays(start, usual) : usual());
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

  /// What makes coordinates of the loop's induction variable, if they are not the same.
  static tile::SkipOp skipOf(scf::ForOp loop) {
    Value induction = loop.getInductionVar();
    return induction.hasOneUse() ? dyn_cast<tile::SkipOp>(*induction.user_begin()) : tile::SkipOp();
  }

  /// What reads coordinates off a list, if the loop walks one.
  static tile::KeptAtOp listOf(scf::ForOp loop) {
    Value induction = loop.getInductionVar();
    return induction.hasOneUse() ? dyn_cast<tile::KeptAtOp>(*induction.user_begin()) : tile::KeptAtOp();
  }

  Value holdsTiles(scf::ForOp loop) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  }

  Value coordinateOf(tile::SkipOp skip, Value at) { return tile::SkipOp::expand(builder, loc, at, skip.getFrom(), skip.getBy()); }

  /// The fold's loops take in tiles [begin, end) if none skips.
  Value holdsAny() {
    if (skipOf(chain.back()) || listOf(chain.back()))
      return arith::OrIOp::create(builder, loc, holdsTiles(chain.front()), holdsTiles(chain.back()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, chain.front().getLowerBound(), chain.back().getUpperBound());
  }

  /// The coordinate of the tile that is visited first.
  Value firstTile() {
    if (ordered && !listOf(chain.front()))
      return chain.front().getLowerBound();
    scf::ForOp last = chain.back();
    if (tile::KeptAtOp list = listOf(last)) {
      Value at = arith::SelectOp::create(builder, loc, holdsTiles(last), last.getLowerBound(), chain.front().getLowerBound());
      return tile::KeptAtOp::create(builder, loc, list.getList(), at);
    }
    tile::SkipOp skip = skipOf(last);
    if (!skip)
      return lastTile(last.getUpperBound());
    Value outside = coordinateOf(skip, lastTile(last.getUpperBound())), full = lastTile(chain.front().getUpperBound());
    return arith::SelectOp::create(builder, loc, holdsTiles(last), outside, full);
  }

  /// The loop whose step has all masks.
  scf::ForOp masked() {
    for (scf::ForOp loop : chain)
      if (auto range = loop->getAttrOfType<StringAttr>(rangeAttr); range && range.getValue() == "partial")
        return loop;
    return chain.front();
  }

  /// Does a mask of the program, more than the end of the axis, stand where dots accumulate?
  bool hidesElements() {
    bool accumulates = false, hides = false;
    auto function = chain.front()->getParentOfType<func::FuncOp>();
    auto lengthOf = [&](Value value) {
      auto argument = dyn_cast<BlockArgument>(value);
      auto axis = argument && argument.getOwner() == &function.getBody().front() ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), tile::extentAttrName) : StringAttr();
      return axis ? axis.getValue() : StringRef();
    };
    masked().walk([&](Operation *op) {
      if (auto dot = dyn_cast<tile::DotOp>(op))
        accumulates |= dot.getStage().value_or(0) == 1;
      else if (auto mask = dyn_cast<tile::MaskOp>(op))
        hides |= tile::hidesMoreThanEnds(mask, lengthOf);
    });
    return accumulates && hides;
  }

  SmallVector<Value> twoWays(ArrayRef<Value> start, llvm::function_ref<SmallVector<Value>()> usual) {
    Value careful = tile::CarefulOp::create(builder, loc, builder.getI1Type());
    auto ways = scf::IfOp::create(builder, loc, ValueRange(start).getTypes(), careful, true);
    ways->setAttr(tile::carefulAttrName, builder.getUnitAttr());
    OpBuilder::InsertionGuard guard(builder);
    auto fill = [&](Block *block, auto make) {
      builder.setInsertionPointToStart(block);
      SmallVector<Value> results = make();
      builder.setInsertionPointToEnd(block);
      scf::YieldOp::create(builder, loc, results);
    };
    fill(ways.thenBlock(), [&] { return carefulLoop(start); });
    fill(ways.elseBlock(), usual);
    return SmallVector<Value>(ways.getResults());
  }

  /// All tiles of all loops, in ascending order.
  SmallVector<Value> carefulLoop(ArrayRef<Value> start) {
    scf::ForOp first = chain.front(), last = chain.back();
    Value begin = first.getLowerBound(), end = last.getUpperBound();
    if (tile::SkipOp skip = skipOf(last)) {      // it begins before the full ones and counts on behind them
      begin = last.getLowerBound();
      end = arith::AddIOp::create(builder, loc, end, skip.getBy());
    }
    tile::KeptAtOp list = listOf(last);
    Value partial, gap;                          // a list has its partial tiles first, then room, then the full ones
    if (list) {
      partial = end;
      begin = last.getLowerBound();
      if (first != last) {
        gap = arith::SubIOp::create(builder, loc, first.getLowerBound(), partial);
        end = arith::SubIOp::create(builder, loc, first.getUpperBound(), gap);
      }
    }
    auto loop = scf::ForOp::create(builder, loc, begin, end, first.getStep(), start);
    for (NamedAttribute attribute : masked()->getAttrs())
      if (attribute.getName() != "operandSegmentSizes")
        loop->setAttr(attribute.getName(), attribute.getValue());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    if (gap)
      at = tile::SkipOp::expand(builder, loc, at, partial, gap);
    if (list)
      at = tile::KeptAtOp::create(builder, loc, list.getList(), at);
    scf::YieldOp::create(builder, loc, step(at, SmallVector<Value>(loop.getRegionIterArgs())));
    for (tile::AttemptOp attempt : llvm::make_early_inc_range(loop.getBody()->getOps<tile::AttemptOp>()))
      attempt.takeExactWay();
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> peeled(ArrayRef<Value> start) {
    auto branch = scf::IfOp::create(builder, loc, ValueRange(start).getTypes(), holdsAny(), true);
    branch->setAttr(foldAxisAttr, chain.front()->getAttr(foldAxisAttr));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, loc, start);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value first = firstTile();
    SmallVector<Value> carried = step(first, start);
    scf::YieldOp::create(builder, loc, listOf(chain.back()) ? listed(carried, holdsTiles(chain.back())) : loops(carried, first));
    // Where there are no steps but full ones, the first one would attempt what cannot hold before anything was visited.
    for (tile::AttemptOp attempt : llvm::make_early_inc_range(branch.thenBlock()->getOps<tile::AttemptOp>()))
      attempt.takeExactWay();
    return SmallVector<Value>(branch.getResults());
  }

  /// One step with masks, at tile `first`.
  SmallVector<Value> step(Value first, ArrayRef<Value> start) {
    scf::ForOp from = masked();
    IRMapping mapping;
    tile::SkipOp skip = skipOf(from);
    tile::KeptAtOp list = listOf(from);
    mapping.map(skip ? skip.getResult() : list ? list.getResult() : Value(from.getInductionVar()), first);
    mapping.map(from.getRegionIterArgs(), ValueRange(start));
    for (Operation &op : from.getBody()->without_terminator())
      if (&op != skip && &op != list)
        builder.clone(op, mapping);
    SmallVector<Value> results;
    for (Value yielded : from.getYieldedValues())
      results.push_back(mapping.lookupOrDefault(yielded));
    return results;
  }

  /// The loop over all its tiles but `taken`, which is no null value.
  std::pair<Value, Value> boundsWithout(scf::ForOp loop, Value taken) {
    Value begin = loop.getLowerBound(), end = loop.getUpperBound();
    if (ordered)
      return {arith::MaxSIOp::create(builder, loc, begin, arith::AddIOp::create(builder, loc, taken, constant(builder, loc, width))), end};
    if (skipOf(loop))
      return {begin, lastTile(end)};      // its last tile, or none if it is empty
    return {begin, arith::MinSIOp::create(builder, loc, end, taken)};
  }

  /// Partial tiles, then full ones, as the list has them; without the first tile if `tookPartial` says whose it was.
  SmallVector<Value> listed(ArrayRef<Value> start, Value tookPartial) {
    SmallVector<Value> carried(start);
    for (scf::ForOp loop : llvm::reverse(chain)) {
      Value begin = loop.getLowerBound();
      if (tookPartial) {
        Value next = arith::AddIOp::create(builder, loc, begin, constant(builder, loc, 1));
        begin = loop == chain.back() ? next : arith::SelectOp::create(builder, loc, tookPartial, begin, next).getResult();
      }
      auto copy = cast<scf::ForOp>(builder.clone(*loop));
      copy.setLowerBound(begin);
      copy.getInitArgsMutable().assign(carried);
      carried = SmallVector<Value>(copy.getResults());
    }
    return carried;
  }

  /// The loops in the order of visits, over all tiles but `taken`.
  SmallVector<Value> loops(ArrayRef<Value> start, Value taken) {
    SmallVector<Value> carried(start);
    Chain order(chain);
    if (!ordered)
      std::reverse(order.begin(), order.end());
    // Where the first tile is a partial one, all full ones are left.
    if (tile::SkipOp skip = skipOf(chain.back()); skip && taken)
      taken = arith::SelectOp::create(builder, loc, holdsTiles(chain.back()), chain.front().getUpperBound(), taken);
    for (scf::ForOp loop : order) {
      auto [begin, end] = taken ? boundsWithout(loop, taken) : std::pair<Value, Value>(loop.getLowerBound(), loop.getUpperBound());
      Value mirror = ordered ? Value() : arith::AddIOp::create(builder, loc, lastTile(end), begin);
      auto copy = cast<scf::ForOp>(builder.clone(*loop));
      copy.setLowerBound(begin);
      copy.setUpperBound(end);
      copy.getInitArgsMutable().assign(carried);
      if (tile::SkipOp skip = skipOf(copy); mirror || skip) {
        OpBuilder inside = OpBuilder::atBlockBegin(copy.getBody());
        Operation *counted = nullptr;
        Value at = copy.getInductionVar();
        if (mirror) {
          at = arith::SubIOp::create(inside, loc, mirror, at);
          counted = at.getDefiningOp();
        }
        if (!skip) {
          copy.getInductionVar().replaceAllUsesExcept(at, counted);
        } else {
          skip.replaceAllUsesWith(tile::SkipOp::expand(inside, loc, at, skip.getFrom(), skip.getBy()));
          skip.erase();
        }
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
      // No vote can hold in an item's first step.
      const bool attempts = llvm::any_of(chain, [](scf::ForOp loop) { return !loop.getBody()->getOps<tile::AttemptOp>().empty(); });
      Walk(chain, step.getSExtValue(), kernel.getOrdered()).run(peel || attempts, careful);
    }
  }
};

} // namespace
} // namespace tw
