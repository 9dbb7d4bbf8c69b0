// The discardable attributes of a fold's scf.for.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringRef.h"

namespace tw {

/// The axis that the loop walks.
inline constexpr llvm::StringLiteral foldAxisAttr = "tile.fold";
/// "full" where no tile of the loop is masked, else "partial".
inline constexpr llvm::StringLiteral foldRangeAttr = "tile.range";
/// On a tile.kept: where each mask that it asks stands in the program.
inline constexpr llvm::StringLiteral foldMasksAttr = "tile.masks";
/// What each carried value is: "value", "sum" or "accumulator".
inline constexpr llvm::StringLiteral foldCarriedAttr = "tile.carried";

/// The folds' loops that no pass has split yet.
inline llvm::SmallVector<mlir::scf::ForOp> wholeFolds(mlir::Operation *within) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  within->walk([&](mlir::scf::ForOp loop) {
    if (loop->hasAttr(foldAxisAttr) && !loop->hasAttr(foldRangeAttr))
      loops.push_back(loop);
  });
  return loops;
}

} // namespace tw
