// GPUs' kernels compute in f32 at most.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tw {

/// Refuses a kernel that computes in f64, at the user's line where there is one.
[[nodiscard]] llvm::LogicalResult refuseDoubles(mlir::func::FuncOp function);

} // namespace tw
