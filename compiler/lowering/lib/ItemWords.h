// What an item's number means, as words that the producer works out for everybody.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace tw {

/// The operations of a block by which divisions are reached from `item`, and those of their results that others use.
struct Decoding {
  llvm::SetVector<mlir::Operation *> operations;
  llvm::SmallVector<mlir::Value> results;
};
Decoding decodingOf(mlir::Value item, mlir::Block &body);

/// Finds `value` of another role, computed from `otherItem`, among what `block` computes from `item`; builds what is not there at its end.
mlir::Value sameFrom(mlir::Value value, mlir::Value otherItem, mlir::Value item, mlir::Block &block, mlir::OpBuilder &builder);

} // namespace tw
