// The passes on tile modules.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "tilewright/ir/Tile.h"

namespace tw {
#define GEN_PASS_DECL
#include "tilewright/transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/transforms/Passes.h.inc"
} // namespace tw
