// The list of an item's tiles in the roles of a thread block: the producer makes it, the consumers read it.
#pragma once
#include "Parameters.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"

namespace tw {

/// The operations of a kernel's function that serve nothing but its tile.kept: the consumers do without them.
[[nodiscard]] llvm::DenseSet<mlir::Operation *> servingLists(mlir::func::FuncOp function);

/// The numbers between which the elements of a box of `tensor` lie, as loops over it; `mapping` gets them.
mlir::LogicalResult makeExtremes(mlir::OpBuilder &builder, tile::ExtremesOp op, llvm::StringRef tensor, Parameters &parameters, mlir::IRMapping &mapping);

/// The producer's list; `copyScalar` copies an operation of the region to where the builder stands. The place of the list stands for
/// the list in `mapping`.
mlir::LogicalResult makeList(mlir::OpBuilder &builder, tile::KeptOp op, Parameters &parameters, mlir::IRMapping &mapping, llvm::function_ref<mlir::LogicalResult(mlir::Operation &)> copyScalar);

/// The same for the consumers, who are told.
void makeListed(mlir::OpBuilder &builder, tile::KeptOp op, mlir::IRMapping &mapping);

/// A coordinate read off a list, in either role.
void makeKeptAt(mlir::OpBuilder &builder, tile::KeptAtOp op, Parameters &parameters, mlir::IRMapping &mapping);

} // namespace tw
