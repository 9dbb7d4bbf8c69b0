// `tilewright opt`: runs passes on .mlir files, as mlir-opt does.
#include "Commands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tilewright/conversion/HostObject.h"
#include "tilewright/conversion/Passes.h"
#include "tilewright/emit/Passes.h"
#include "tilewright/ir/Device.h"
#include "tilewright/lowering/Passes.h"
#include "tilewright/transforms/Passes.h"

namespace tw::cli {
int opt(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<device::DeviceDialect, tile::TileDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect,
                  mlir::vector::VectorDialect>();
  registerTilewrightTransformsPasses();
  registerTilewrightConversionPasses();
  registerTilewrightLoweringPasses();
  registerTilewrightEmitPasses();
  registerHostToLLVMPipeline();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tilewright opt: runs passes on tile modules\n", registry));
}
} // namespace tw::cli
