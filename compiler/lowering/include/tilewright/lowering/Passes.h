// The passes from tile modules to device modules.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"

namespace tw {
#define GEN_PASS_DECL
#include "tilewright/lowering/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/lowering/Passes.h.inc"
} // namespace tw
