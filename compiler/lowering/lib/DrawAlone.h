// How consumers that have no producer draw their items.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Device.h"

namespace tw {

/// One thread draws the next item as the present one begins, and posts it for all when that is done. `items`: the static loop, which is replaced.
void drawByConsumers(device::KernelOp kernel, mlir::scf::ForOp items);

} // namespace tw
