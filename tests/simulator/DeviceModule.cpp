#include "DeviceModule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tilewright/emit/EmitCuda.h"
#include "tilewright/ir/Device.h"
#include <stdexcept>

namespace tw::tests {

Artifact emitFile(const std::string &file) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, device::DeviceDialect>();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) { said += diagnostic.str() + "\n"; });
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module)
    throw std::runtime_error(file + ": " + said);
  auto kernels = module->getOps<device::KernelOp>();
  auto cuda = emitCuda(*kernels.begin());
  if (llvm::failed(cuda))
    throw std::runtime_error(file + ": " + said);
  Artifact artifact;
  artifact.program = artifact.entry = cuda->entry;
  artifact.source = cuda->source;
  artifact.launch = cuda->launch;
  artifact.instructions = cuda->instructions;
  return artifact;
}

}   // namespace tw::tests
