// The passes of this room.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tilewright/ir/Device.h"

namespace tw {
#define GEN_PASS_DECL
#include "tilewright/emit/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "tilewright/emit/Passes.h.inc"
} // namespace tw
