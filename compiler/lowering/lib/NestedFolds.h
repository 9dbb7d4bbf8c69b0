// Folds inside a step (tile-nest-folds): what marks their loops.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw {

/// The axis that the loop walks in chunks.
inline constexpr llvm::StringLiteral nestedAxisAttr = "tile.nested";
/// Slots of the ring that its chunks come through.
inline constexpr llvm::StringLiteral nestedStagesAttr = "tile.stages";

/// The axis of a fold inside a step; empty for any other operation.
inline llvm::StringRef nestedAxis(mlir::Operation *loop) {
  auto axis = loop->getAttrOfType<mlir::StringAttr>(nestedAxisAttr);
  return axis ? axis.getValue() : llvm::StringRef();
}
/// The axis of the fold inside a step in whose body `op` stands, or empty.
inline llvm::StringRef nestedAxisOf(mlir::Operation *op) { return nestedAxis(op->getParentOp()); }

/// The folds inside a step.
inline llvm::SmallVector<mlir::scf::ForOp> nestedFolds(mlir::Block &step) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  for (auto loop : step.getOps<mlir::scf::ForOp>())
    if (loop->hasAttr(nestedAxisAttr))
      loops.push_back(loop);
  return loops;
}

}   // namespace tw
