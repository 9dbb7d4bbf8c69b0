// Dots of a step between issue and wait, read off its operations.
#pragma once
#include "tilewright/ir/Device.h"

namespace tw {

/// Registers of the dots that are in flight where `end` stands in its block, by groups, oldest first. Nothing is in flight where a block begins.
llvm::SmallVector<llvm::SmallVector<mlir::Value>> inFlightBefore(mlir::Operation *end);

/// What a wait for all but the last `pending` of these groups frees.
llvm::SmallVector<mlir::Value> freedOf(llvm::ArrayRef<llvm::SmallVector<mlir::Value>> groups, std::size_t pending);

} // namespace tw
