// Dots over an axis too wide for SRAM become folds of their own, inside the step: chunk by chunk, added up in one tile.
//
//   %x = tile.load %X[%t0, %c0]   [128, 4096]         %z = for %d = 0 to 4096 step 64 iter_args(%sum = 0) {
//   %w = tile.load %W[%v0, %c0]   [256, 4096]    =>     %x = tile.load %X[%t0, %d]   [128, 64]
//   %z = tile.dot %x, %w over "d"                       %w = tile.load %W[%v0, %d]   [256, 64]
//                                                       yield %sum + tile.dot %x, %w over "d"
//                                                     } {tile.nested = "d"}
//
// Dots of one block over the same axis that do not need each other share a fold, and with it the chunks that they share. The fold stands before
// everything of its block that it does not need: a step begins with it, so that those who copy and those who multiply agree on the order.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace tw {
#define GEN_PASS_DEF_NESTFOLDS
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

constexpr StringLiteral nestedAxisAttr = "tile.nested", stagesAttr = "tile.stages";

/// How one axis is walked.
struct Chunking {
  StringRef axis;
  int64_t width, stages;
};

Value number(OpBuilder &b, Location loc, int64_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); }

/// The type of a chunk of a value that runs along the axis.
Type chunkOf(Type type, const Chunking &chunking) {
  auto whole = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(whole.getShape());
  for (auto [i, name] : llvm::enumerate(tile::axesOf(whole)))
    if (name.getValue() == chunking.axis)
      shape[i] = chunking.width;
  return RankedTensorType::get(shape, whole.getElementType(), whole.getEncoding());
}

/// Dots of one block that become one fold.
class Nest {
public:
  Nest(SmallVector<tile::DotOp> together, const Chunking &chunking)
      : dots(std::move(together)), chunking(chunking), block(dots.front()->getBlock()) {}

  LogicalResult run() {
    OpBuilder b = OpBuilder::atBlockBegin(block);
    Location loc = dots.front().getLoc();
    SmallVector<Value> starts;
    for (tile::DotOp dot : dots)
      starts.push_back(arith::ConstantOp::create(b, dot.getLoc(), cast<TypedAttr>(b.getZeroAttr(dot.getType()))));
    Value zero = number(b, loc, 0), length = number(b, loc, lengthOf(dots.front())), width = number(b, loc, chunking.width);
    loop = scf::ForOp::create(b, loc, zero, length, width, starts);
    loop.getInductionVar().setLoc(NameLoc::get(b.getStringAttr(chunking.axis), loc));
    loop->setAttr(nestedAxisAttr, b.getStringAttr(chunking.axis));
    loop->setAttr(stagesAttr, b.getI64IntegerAttr(chunking.stages));
    OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
    SmallVector<Value> sums;
    for (auto [dot, sum] : llvm::zip(dots, loop.getRegionIterArgs())) {
      auto left = chunk(inside, dot.getLhs()), right = chunk(inside, dot.getRhs());
      if (failed(left) || failed(right))
        return failure();
      Value part = tile::DotOp::create(inside, dot.getLoc(), dot.getType(), *left, *right, dot.getAxisAttr(), dot.getStageAttr());
      sums.push_back(arith::AddFOp::create(inside, dot.getLoc(), sum, part));
    }
    scf::YieldOp::create(inside, loc, sums);
    for (auto [dot, result] : llvm::zip(dots, loop.getResults()))
      dot.getResult().replaceAllUsesWith(result);
    for (tile::DotOp dot : dots)
      dot.erase();
    return success();
  }

private:
  SmallVector<tile::DotOp> dots;
  const Chunking &chunking;
  Block *block;
  scf::ForOp loop;
  DenseMap<Value, Value> chunks;

  int64_t lengthOf(tile::DotOp dot) {
    auto type = cast<RankedTensorType>(dot.getLhs().getType());
    return type.getDimSize(cast<tile::AxesAttr>(type.getEncoding()).find(chunking.axis));
  }

  /// Lets a value stand before the loop, with all that it needs.
  void hoist(Value value) {
    Operation *made = value.getDefiningOp();
    if (!made || made->getBlock() != block || made->isBeforeInBlock(loop))
      return;
    for (Value operand : made->getOperands())
      hoist(operand);
    made->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!made->isAncestor(operand.getParentBlock()->getParentOp()))
          hoist(operand);
    });
    made->moveBefore(loop);
  }

  /// What `value` is in one chunk; what does not run along the axis is as it was.
  FailureOr<Value> chunk(OpBuilder &b, Value value) {
    if (!tile::runsAlong(value, chunking.axis)) {
      hoist(value);
      return value;
    }
    if (Value known = chunks.lookup(value))
      return known;
    Operation *made = value.getDefiningOp();
    if (!made || made->getNumRegions() || made->getNumResults() != 1 || !isMadeByElement(made))
      return emitError(made ? made->getLoc() : value.getLoc())
             << "runs along axis \"" << chunking.axis
             << "\", which the schedule walks in chunks; a dot over it takes what is loaded, or computed element by element: contract or reduce it "
                "otherwise, or make the axis no longer than a tile";
    SmallVector<Value> operands;
    for (Value operand : made->getOperands()) {
      auto part = chunk(b, operand);
      if (failed(part))
        return failure();
      operands.push_back(*part);
    }
    IRMapping mapping;
    for (auto [from, to] : llvm::zip(made->getOperands(), operands))
      mapping.map(from, to);
    Operation *copy = b.clone(*made, mapping);
    copy->getResult(0).setType(chunkOf(value.getType(), chunking));
    shift(b, copy);
    return chunks[value] = copy->getResult(0);
  }

  static bool isMadeByElement(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue());
    return isa<tile::LoadOp, tile::GatherOp, tile::PositionsOp, tile::BroadcastOp, tile::MaskOp>(op) ||
           isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  }

  /// Lets an operation that says where it stands along the axis stand at the present chunk.
  void shift(OpBuilder &b, Operation *op) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(op);
    const int at = cast<tile::AxesAttr>(cast<RankedTensorType>(op->getResult(0).getType()).getEncoding()).find(chunking.axis);
    auto moved = [&](Value start) { return arith::AddIOp::create(b, op->getLoc(), start, loop.getInductionVar()).getResult(); };
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(cast<ShapedType>(constant.getType())));
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      for (auto [m, dimension] : llvm::enumerate(load.getDims()))
        if (dimension == at)
          load.getOffsetsMutable()[unsigned(m)].set(moved(load.getOffsets()[m]));
    } else if (auto positions = dyn_cast<tile::PositionsOp>(op)) {
      positions.getStartMutable().set(moved(positions.getStart()));
    } else if (auto mask = dyn_cast<tile::MaskOp>(op)) {
      mask.getOriginMutable()[unsigned(at)].set(moved(mask.getOrigin()[unsigned(at)]));
    }
  }
};

struct NestFolds : impl::NestFoldsBase<NestFolds> {
  using NestFoldsBase::NestFoldsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    tile::KernelAttr kernel = tile::kernelOf(function);
    if (!kernel)
      return;
    if (axes.size() != widths.size() || axes.size() != stages.size()) {
      function.emitError() << "tile-nest-folds: " << axes.size() << " axes, " << widths.size() << " widths, " << stages.size()
                           << " stages; give one of each for every axis";
      return signalPassFailure();
    }
    for (auto [axis, width, slots] : llvm::zip(axes, widths, stages)) {
      tile::AxisAttr known = kernel.find(axis);
      if (!known || known.getRole() != tile::Role::Inner || known.getWidth() % width) {
        function.emitError() << "tile-nest-folds: axis \"" << axis << "\" cannot be walked in chunks of " << width
                             << "; expected an inner axis whose width they divide";
        return signalPassFailure();
      }
      const bool contracted =
          function.walk([&, &name = axis](tile::DotOp dot) { return dot.getAxis() == name ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
      if (contracted && known.getWidth() > width && failed(nest({axis, width, slots})))
        return signalPassFailure();
    }
  }

  LogicalResult nest(const Chunking &chunking) {
    func::FuncOp function = getOperation();
    SmallVector<Block *> blocks;
    function.walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks) {
      SmallVector<tile::DotOp> dots;
      for (auto dot : block->getOps<tile::DotOp>())
        if (dot.getAxis() == chunking.axis)
          dots.push_back(dot);
      while (!dots.empty()) {
        SmallVector<tile::DotOp> together = takeIndependent(dots);
        if (failed(Nest(std::move(together), chunking).run()))
          return failure();
      }
    }
    eraseUnused(chunking.axis);
    WalkResult walked = function.walk([&](Operation *op) {
      for (Value result : op->getResults())
        if (tile::runsAlong(result, chunking.axis) && !isInNest(op, chunking.axis)) {
          op->emitError() << "is used along axis \"" << chunking.axis
                          << "\", which the schedule walks in chunks, by something else than a dot over it; make the axis no longer than a tile";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  static bool isInNest(Operation *op, StringRef axis) {
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop; loop = loop->getParentOfType<scf::ForOp>())
      if (auto nested = loop->getAttrOfType<StringAttr>(nestedAxisAttr); nested && nested.getValue() == axis)
        return true;
    return false;
  }

  /// Takes the first dot off the list, and all others that need none of those that are taken.
  static SmallVector<tile::DotOp> takeIndependent(SmallVector<tile::DotOp> &dots) {
    SmallVector<tile::DotOp> taken, left;
    DenseSet<Operation *> needing{dots.front().getOperation()};   // what needs one of those taken
    for (Operation *op = dots.front(); op; op = op->getNextNode()) {
      bool needs = false;
      op->walk([&](Operation *inner) {
        needs |=
            llvm::any_of(inner->getOperands(), [&](Value operand) { return operand.getDefiningOp() && needing.contains(operand.getDefiningOp()); });
      });
      auto dot = dyn_cast<tile::DotOp>(op);
      const bool isMine = dot && llvm::is_contained(dots, dot);
      if (isMine)
        (needs ? left : taken).push_back(dot);
      if (needs || isMine)
        needing.insert(op);
    }
    dots = left;
    return taken;
  }

  void eraseUnused(StringRef axis) {
    bool any = true;
    while (any) {
      any = false;
      SmallVector<Operation *> unused;
      getOperation().walk([&](Operation *op) {
        if (op->use_empty() && isMemoryEffectFree(op) && llvm::any_of(op->getResults(), [&](Value result) { return tile::runsAlong(result, axis); }))
          unused.push_back(op);
      });
      for (Operation *op : unused) {
        op->erase();
        any = true;
      }
    }
  }
};

}   // namespace
}   // namespace tw
