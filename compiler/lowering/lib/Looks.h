// device-draw-items: what looks for NaN and infinities in an item, and what tells that an item must be done again, with care.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Device.h"
#include <optional>

namespace tw {

/// The folds of an item and the accumulators in which their isolates could be spared.
struct Looks {
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Value>> accumulators;   // and what stands in the item's block and ends with them
  llvm::SmallVector<device::ScanOp> scans;
  llvm::SmallVector<device::IsolateOp> isolates;

  /// Of the consumers' items; nothing where an accumulator would not tell.
  static std::optional<Looks> of(mlir::scf::ForOp items);
  /// Leaves looking to the careful way.
  void spare();
};

/// Is there a careful way?
bool hasWays(mlir::Operation *items);
/// Says how items are done: every `tile.careful` is `careful`.
void settle(mlir::Operation *items, mlir::Value careful);

} // namespace tw
