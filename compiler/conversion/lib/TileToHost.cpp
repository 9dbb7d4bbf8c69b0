// tile-to-host: the driver. It brings a kernel into the form that the lowering expects, and makes the host function.
#include "HostLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilewright/conversion/Passes.h"
using namespace mlir;

namespace tw {
#define GEN_PASS_DEF_TILETOHOST
#include "tilewright/conversion/Passes.h.inc"
namespace {

// An attempt takes its exact way; stabilisers are what they stand for.
void dropPromises(func::FuncOp kernel) {
  kernel.walk([](tile::AttemptOp attempt) { attempt.takeExactWay(); });
  kernel.walk([](tile::StabiliserOp stabiliser) {
    stabiliser.replaceAllUsesWith(stabiliser.getSource());
    stabiliser.erase();
  });
}

// fma(x, y, dot) = x·y + dot, so that the dot can start from x·y.
void spellSums(func::FuncOp kernel) {
  kernel.walk([](math::FmaOp fma) {
    auto dot = fma.getC().getDefiningOp<tile::DotOp>();
    if (!dot || !dot->hasOneUse())
      return;
    OpBuilder b(fma);
    Value product = arith::MulFOp::create(b, fma.getLoc(), fma.getA(), fma.getB());
    fma.replaceAllUsesWith(arith::AddFOp::create(b, fma.getLoc(), product, dot.getResult()).getResult());
    fma.erase();
  });
}

void expandSkips(func::FuncOp kernel) {
  kernel.walk([](tile::SkipOp skip) {
    OpBuilder b(skip);
    skip.replaceAllUsesWith(tile::SkipOp::expand(b, skip.getLoc(), skip.getAt(), skip.getFrom(), skip.getBy()));
    skip.erase();
  });
}

// Dots multiply in the type of their result. A load is extended as it is packed, anything else here.
void widenOperands(func::FuncOp kernel) {
  kernel.walk([](tile::DotOp dot) {
    OpBuilder b(dot);
    Type element = dot.getResult().getType().getElementType();
    for (OpOperand &operand : dot->getOpOperands())
      if (tile::elementOf(operand.get().getType()) != element && !host::loadBehind(operand.get()))
        operand.set(arith::ExtFOp::create(b, dot.getLoc(), tile::withElement(operand.get().getType(), element), operand.get()));
  });
}

LogicalResult checkForm(func::FuncOp kernel) {
  if (!kernel.getBody().hasOneBlock())
    return kernel.emitError() << "a kernel of one block is expected";
  WalkResult walked = kernel.walk([](Operation *op) -> WalkResult {
    if (isa<func::FuncOp, func::ReturnOp, scf::ForOp, scf::YieldOp, tile::LoadOp, tile::StoreOp, tile::AccumulateOp, tile::GatherOp, tile::ReduceOp, tile::DotOp,
            tile::KeptOp, tile::ClassesOp, tile::KeptAtOp, tile::ExtremesOp>(op) ||
        (host::isElementwise(op) && op->getNumResults() == 1)) {
      for (Type type : op->getResultTypes())
        if (auto tile = dyn_cast<RankedTensorType>(type); tile && tile.getRank() > 2)
          return op->emitError() << "the value " << tile << " runs along " << tile.getRank()
                                 << " axes; on the host a tile has at most two: make another axis free, or reduce one first";
      if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && isa<RankedTensorType>(constant.getType()) && !isa<SplatElementsAttr>(constant.getValue()))
        return op->emitError() << "a constant tile must hold one value everywhere; pass a table as a tensor";
      return WalkResult::advance();
    }
    return op->emitError() << "tile-to-host does not know this operation; it takes tile, arith and math operations and scf.for";
  });
  return failure(walked.wasInterrupted());
}

struct TileToHost : impl::TileToHostBase<TileToHost> {
  using TileToHostBase::TileToHostBase;

  void runOnOperation() override {
    if (!(vectorBytes == 16 || vectorBytes == 32 || vectorBytes == 64) || registerRows < 1 || registerVectors < 1) {
      getOperation().emitError() << "tile-to-host: vector-bytes is " << vectorBytes << ", register-rows " << registerRows << ", register-vectors "
                                 << registerVectors << "; expected 16, 32 or 64, and at least 1";
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (tile::kernelOf(function))
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels)
      if (failed(lower(kernel)))
        return signalPassFailure();
  }

  LogicalResult lower(func::FuncOp kernel) {
    dropPromises(kernel);
    spellSums(kernel);
    expandSkips(kernel);
    widenOperands(kernel);
    if (failed(checkForm(kernel)))
      return failure();
    OpBuilder b(kernel);
    SmallVector<Type> arguments(kernel.getArgumentTypes());
    arguments.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
    auto function = func::FuncOp::create(b, kernel.getLoc(), kernel.getName(), b.getFunctionType(arguments, {}));
    host::Lowering lowering(kernel, function, {vectorBytes, registerRows, registerVectors});
    if (failed(lowering.run())) {
      function.erase();
      return failure();
    }
    function->setAttr("llvm.emit_c_interface", b.getUnitAttr());
    function->setAttr("host.scratch_bytes", b.getI64IntegerAttr(lowering.scratchBytes()));
    kernel.erase();
    return success();
  }
};
} // namespace
} // namespace tw
