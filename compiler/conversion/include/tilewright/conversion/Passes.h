// The passes that leave the tile dialect.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tilewright/ir/Tile.h"

namespace tw {
#define GEN_PASS_DECL
#include "tilewright/conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/conversion/Passes.h.inc"
} // namespace tw
