// A block's walk over its items, and what an item's number means.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/StringMap.h"

namespace tw {

/// By axis: the coordinate of a free axis, or the first coordinate of the item's tile of the block axis.
using ItemCoordinates = llvm::StringMap<mlir::Value>;

/// Makes `for item = block index to items step grid size { … }`, leaves the builder inside it, and decodes the item's number:
/// free points of a group side by side for each block tile; the last tile first with `descending`.
ItemCoordinates makeItemLoop(mlir::OpBuilder &builder, device::KernelOp kernel, tile::KernelAttr axes, mlir::Location loc, bool descending);

} // namespace tw
