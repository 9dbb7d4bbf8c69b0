// The device dialect in C++.
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "tilewright/ir/DeviceDialect.h.inc"
#include "tilewright/ir/DeviceEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/ir/DeviceAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "tilewright/ir/DeviceTypes.h.inc"
#define GET_OP_CLASSES
#include "tilewright/ir/DeviceOps.h.inc"

namespace tw::device {

/// On consumers that declare more registers than they have: what they compute of addresses waits in none.
inline constexpr llvm::StringLiteral crowdedAttrName = "device.crowded";
/// The type of one element of registers.
mlir::Type elementOf(mlir::Type registers);
/// The columns that registers span; 0 for rows.
int64_t widthOf(mlir::Type registers);
/// The barriers on which a cursor stands.
BarriersOp barriersOf(mlir::Value cursor);
/// Bytes of shared memory: the words of all slots, then the answers, four of which are read at once.
int64_t bytesOf(MailboxOp mailbox);
int64_t answersAt(MailboxOp mailbox);
/// Whether a kernel is for Hopper's own instructions: bulk copies that one thread issues, and products of a warpgroup in the background. Else a
/// warp copies for the rings, and each warp multiplies for itself.
bool isHopper(KernelOp kernel);
/// Where a cursor is for filling slots: it waits for empty ones.
bool fills(CursorOp cursor);
/// Does a whole warp do the producer's work, not one thread of it?
bool producesByWarp(KernelOp kernel);
/// The consumers' role of a kernel, or the producer's.
ConsumersOp consumersOf(KernelOp kernel);
ProducerOp producerOf(KernelOp kernel);
/// Null where there is none.
ListerOp listerOf(KernelOp kernel);

} // namespace tw::device
