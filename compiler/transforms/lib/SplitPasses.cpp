// Items whose results are too wide for registers are computed in passes, a part of their columns in each.
//
//   acc = fold over k: acc · r + p . V[k, 0:512]          for e0 = 0 to 512 step 256
//   store acc, O[q, 0:512]                          =>      acc = fold over k: acc · r + p . V[k, e0:e0+256]
//                                                           store acc, O[q, e0:e0+256]
//
// What does not run along the axis is computed in every pass anew, and stored in every pass as the same; but an item lists its tiles once, for all
// passes. Axes that dots contract are left to tile-nest-folds.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tw {
#define GEN_PASS_DEF_SPLITPASSES
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

class Passes {
public:
  Passes(func::FuncOp function, StringRef axis, int64_t whole, int64_t width) : function(function), axis(axis), whole(whole), width(width) {}

  LogicalResult run() {
    if (failed(check()))
      return failure();
    Block &body = function.getBody().front();
    Operation *first = &body.front(), *end = body.getTerminator();
    OpBuilder b(first);
    Location loc = function.getLoc();
    auto number = [&](int64_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))).getResult(); };
    Value zero = number(0), length = number(whole), step = number(width);
    loop = scf::ForOp::create(b, NameLoc::get(b.getStringAttr(axis)), zero, length, step);
    loop->setAttr("tile.pass", b.getStringAttr(axis));
    auto &inside = loop.getBody()->getOperations();
    inside.splice(inside.begin(), body.getOperations(), first->getIterator(), end->getIterator());
    narrow();
    listOnce();
    return success();
  }

private:
  func::FuncOp function;
  StringRef axis;
  int64_t whole, width;
  scf::ForOp loop;

  /// Nothing may need all columns at once.
  LogicalResult check() {
    WalkResult walked = function.walk([&](Operation *op) {
      if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && reduce.getAxis() == axis) {
        op->emitError() << "reduces over axis \"" << axis << "\", of which a pass has a part; make the axis no longer than a tile";
        return WalkResult::interrupt();
      }
      auto constant = dyn_cast<arith::ConstantOp>(op);
      if (constant && tile::runsAlong(constant.getType(), axis) && !isa<SplatElementsAttr>(constant.getValue())) {
        op->emitError() << "a constant tile must hold one value everywhere; pass a table as a tensor";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  Type part(Type type) const {
    auto tile = dyn_cast<RankedTensorType>(type);
    if (!tile || !tile::runsAlong(tile, axis))
      return type;
    SmallVector<int64_t> shape(tile.getShape());
    shape[unsigned(cast<tile::AxesAttr>(tile.getEncoding()).find(axis))] = width;
    return RankedTensorType::get(shape, tile.getElementType(), tile.getEncoding());
  }

  /// Takes lists, and what they are made of, before the passes.
  void listOnce() {
    Block &body = *loop.getBody();
    SetVector<Operation *> lists;
    for (auto kept : body.getOps<tile::KeptOp>())
      lists.insert(kept);
    for (unsigned i = 0; i < lists.size(); ++i)
      lists[i]->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *above = operand.getDefiningOp() ? body.findAncestorOpInBlock(*operand.getDefiningOp()) : nullptr)
            lists.insert(above);
      });
    for (Operation &op : llvm::make_early_inc_range(body))
      if (lists.contains(&op))
        op.moveBefore(loop);
  }

  void narrow() {
    loop.walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setType(part(argument.getType()));
      for (Value result : op->getResults())
        result.setType(part(result.getType()));
      shift(op);
    });
  }

  /// Lets an operation that says where it stands along the axis stand at this pass's part.
  void shift(Operation *op) {
    OpBuilder b(op);
    auto moved = [&](Value start) { return arith::AddIOp::create(b, op->getLoc(), start, loop.getInductionVar()).getResult(); };
    auto dimensionIn = [&](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? cast<tile::AxesAttr>(type.getEncoding()).find(axis) : -1;
    };
    auto shiftOffsets = [&](auto rectangle, int at) {
      for (auto [m, dimension] : llvm::enumerate(rectangle.getDims()))
        if (at >= 0 && dimension == at)
          rectangle.getOffsetsMutable()[unsigned(m)].set(moved(rectangle.getOffsets()[m]));
    };
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && dimensionIn(constant) >= 0)
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(cast<ShapedType>(constant.getType())));
    else if (auto load = dyn_cast<tile::LoadOp>(op))
      shiftOffsets(load, dimensionIn(load.getResult()));
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      shiftOffsets(store, dimensionIn(store.getValue()));
    else if (auto positions = dyn_cast<tile::PositionsOp>(op); positions && dimensionIn(positions.getResult()) >= 0)
      positions.getStartMutable().set(moved(positions.getStart()));
    else if (auto mask = dyn_cast<tile::MaskOp>(op)) {
      const int at = dimensionIn(mask.getResult());
      if (at >= 0)
        mask.getOriginMutable()[unsigned(at)].set(moved(mask.getOrigin()[unsigned(at)]));
    }
  }
};

struct SplitPasses : impl::SplitPassesBase<SplitPasses> {
  using SplitPassesBase::SplitPassesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    tile::KernelAttr kernel = tile::kernelOf(function);
    if (!kernel)
      return;
    tile::AxisAttr known = kernel.find(axis);
    if (!known || known.getRole() != tile::Role::Inner || width < 1 || known.getWidth() % width) {
      function.emitError() << "tile-split-passes: axis \"" << axis << "\" cannot be walked in parts of " << int64_t(width)
                           << "; expected an inner axis whose width they divide";
      return signalPassFailure();
    }
    const bool contracted =
        function.walk([&](tile::DotOp dot) { return dot.getAxis() == axis ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    if (!contracted && known.getWidth() > width && failed(Passes(function, axis, known.getWidth(), width).run()))
      signalPassFailure();
  }
};

}   // namespace
}   // namespace tw
