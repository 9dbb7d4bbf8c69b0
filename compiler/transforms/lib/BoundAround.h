// Bounds the loops around a fold by what its masks keep of it as a whole.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw {

/// Loops around `fold` skip turns in which it visits no tile: those in which one of `excess`, values outside of the fold's own coordinates, is above 0.
/// Only where a turn does nothing but the fold. Read from them are an index, or its quotient by something that no turn changes, less or more than such a thing.
void boundAround(mlir::scf::ForOp fold, llvm::ArrayRef<mlir::Value> excess);

} // namespace tw
