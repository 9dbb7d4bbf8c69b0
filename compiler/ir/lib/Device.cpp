// The device dialect: types, and what its operations are asked for.
#include "tilewright/ir/Device.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;

#include "tilewright/ir/DeviceDialect.cpp.inc"
#include "tilewright/ir/DeviceEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "tilewright/ir/DeviceAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "tilewright/ir/DeviceTypes.cpp.inc"

namespace tw::device {

void DeviceDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tilewright/ir/DeviceAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tilewright/ir/DeviceTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "tilewright/ir/DeviceOps.cpp.inc"
      >();
}

//===--- types -----------------------------------------------------------------------------------===//

int64_t RingType::slotBytes() const {
  constexpr int64_t chunkRowBytes = 128, tileAlignment = 1024;
  if (isVector())
    return (columns() * int64_t(getElement().getIntOrFloatBitWidth()) / 8 + chunkRowBytes - 1) / chunkRowBytes * chunkRowBytes;
  return (rows() * chunks() * chunkRowBytes + tileAlignment - 1) / tileAlignment * tileAlignment;
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> error, int64_t slots, ArrayRef<int64_t> shape, Type element) {
  if (slots < 1)
    return error() << "a ring has at least one slot, not " << slots;
  if (shape.empty() || shape.size() > 2 || llvm::any_of(shape, [](int64_t n) { return n < 1; }))
    return error() << "a ring holds tiles of one or two dimensions, each at least 1 long";
  if (!element.isIntOrFloat())
    return error() << "a ring holds numbers, not " << element;
  if (shape.size() == 2 && element.getIntOrFloatBitWidth() != 16)
    return error() << "a dot operand in shared memory has elements of 16 bits, not " << element;
  if (shape.size() == 2 && shape[0] % 8)
    return error() << "a tile in shared memory has a multiple of 8 rows, not " << shape[0];
  return success();
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> error, int64_t width, Type element) {
  if (width < 8 || width > 256 || width % 8)
    return error() << "a fragment is 8 to 256 columns wide, in steps of 8, not " << width;
  if (!element.isF32() && !element.isInteger())
    return error() << "a fragment holds f32 or integers, not " << element;
  return success();
}

LogicalResult OperandType::verify(function_ref<InFlightDiagnostic()> error, int64_t width, Type element) {
  if (width < 16 || width > 256 || width % 16)
    return error() << "a dot operand in registers is 16 to 256 columns wide, in steps of 16, not " << width;
  if (!element.isF16() && !element.isBF16())
    return error() << "a dot operand in registers holds f16 or bf16, not " << element;
  return success();
}

//===--- queries ---------------------------------------------------------------------------------===//

Type elementOf(Type registers) {
  return TypeSwitch<Type, Type>(registers)
      .Case<FragmentType, OperandType, RowsType>([](auto type) { return type.getElement(); })
      .Default([](Type) { return Type(); });
}

int64_t widthOf(Type registers) {
  return TypeSwitch<Type, int64_t>(registers).Case<FragmentType, OperandType>([](auto type) { return type.getWidth(); }).Default([](Type) { return 0; });
}

int64_t bytesOf(MailboxOp mailbox) {
  constexpr int64_t wordBytes = 4;
  MailboxType type = mailbox.getResult().getType();
  return answersAt(mailbox) + wordBytes * type.getSlots() * int64_t(mailbox.getAnswers().value_or(0));
}

int64_t answersAt(MailboxOp mailbox) {
  constexpr int64_t wordBytes = 4, alignment = 16;
  MailboxType type = mailbox.getResult().getType();
  int64_t words = wordBytes * type.getSlots() * type.getWords();
  return mailbox.getAnswers() ? (words + alignment - 1) / alignment * alignment : words;
}

BarriersOp barriersOf(Value cursor) {
  if (auto ahead = cursor.getDefiningOp<LookAheadOp>())
    cursor = ahead.getCursor();
  auto declaration = cursor.getDefiningOp<CursorOp>();
  return declaration ? declaration.getBarriers().getDefiningOp<BarriersOp>() : BarriersOp();
}

ConsumersOp consumersOf(KernelOp kernel) {
  auto found = kernel.getBody().getOps<ConsumersOp>();
  return found.empty() ? ConsumersOp() : *found.begin();
}

ProducerOp producerOf(KernelOp kernel) {
  auto found = kernel.getBody().getOps<ProducerOp>();
  return found.empty() ? ProducerOp() : *found.begin();
}

ListerOp listerOf(KernelOp kernel) {
  auto found = kernel.getBody().getOps<ListerOp>();
  return found.empty() ? ListerOp() : *found.begin();
}

bool fills(CursorOp cursor) { return cursor.getPhase() == 1 && !cursor.getTrailing(); }

bool producesByWarp(KernelOp kernel) {
  return !isHopper(kernel) || kernel.walk([](ListTilesOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool isHopper(KernelOp kernel) { return kernel.getArch() == "sm90a"; }

int64_t KernelOp::threads() {
  constexpr int64_t warp = 32, warpgroup = 128;
  ConsumersOp consumers = consumersOf(*this);
  const int64_t producer = producerOf(*this) ? isHopper(*this) ? warpgroup : warp : 0;
  return producer + warpgroup * (consumers ? int64_t(consumers.getWarpgroups()) : 0);
}

} // namespace tw::device
