// Dots: descriptors, issue, order, rounding of operands.
#include "Statements.h"
#include "tilewright/ir/Tile.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {
namespace {

/// Which constant a dot steps its descriptor from.
std::string descriptorKey(Value ring, const Declarations &declared, bool isLeft, bool transposed, bool shares) {
  return declared.stem(ring) + (isLeft ? shares ? "_whole" : "_left" : transposed ? "_rows" : "_right") + (shares && !isLeft ? "_own" : "");
}

} // namespace

void Statements::descriptors(device::ConsumersOp role) {
  isAfresh = role->hasAttr(device::crowdedAttrName);   // an address that waited in a register could cost a spill
  // A row of a chunk takes 128 bytes; 8 rows, the unit of the swizzle, 1024.
  auto declare = [&](Value ring, bool isLeft, bool transposed, int64_t shared) {
    const std::string key = descriptorKey(ring, declared, isLeft, transposed, shared);
    std::string &name = descriptorNames[key];
    if (!name.empty())
      return;
    name = names.unique(key);
    const int64_t rowBytes = 128, chunkBytes = cast<device::RingType>(ring.getType()).rows() * rowBytes, leading = transposed ? chunkBytes : 16;
    // A warpgroup's rows of a left tile, or its columns of a right one: chunks of 64 where they lie side by side, else rows.
    const int64_t own = isLeft ? shared ? 0 : 64 * rowBytes : !transposed ? shared * rowBytes : shared % 64 ? shared * 2 : shared / 64 * chunkBytes;
    const std::string offset = !own ? "" : isLeft ? " + cw * 64 * 128" : fmt::format(" + cw * {}", own);
    if (isAfresh)
      text.line(fmt::format("auto {} = [&] {{ return desc_sw128(opaque(sb) + {}_AT{}, {}, 1024); }};", name, declared.stem(ring), offset, leading));
    else
      text.line(fmt::format("const u64 {} = desc_sw128(sb + {}_AT{}, {}, 1024);", name, declared.stem(ring), offset, leading));
  };
  role.walk([&](device::MultiplyOp op) {
    const int64_t shared = op.getShares() ? int64_t(op.getAccumulator().getType().getWidth()) : 0;
    if (isa<device::RingType>(op.getLeft().getType()))
      declare(op.getLeft(), true, false, shared);
    declare(op.getRight(), false, op.getTransposed(), shared);
  });
}

LogicalResult Statements::print(device::MultiplyOp op) {
  if (!hopper && op.getShares())
    return op.emitOpError() << "shares out columns, which has a text on sm90a only";
  if (!hopper) {
    const std::string left = isa<device::RingType>(op.getLeft().getType()) ? slotAddress(op.getLeft(), op.getLeftCursor()) : registers[op.getLeft()];
    text.line(fmt::format("{}({}, {}, {}, {}, lane);", dots.nameOf(op), registers[op.getAccumulator()], left, slotAddress(op.getRight(), op.getRightCursor()), leftRow()));
    return success();
  }
  auto descriptor = [&](Value ring, Value cursor, bool isLeft, bool transposed) {
    const std::string &slot = cursors[cursor].slot;
    const std::string &name = descriptorNames[descriptorKey(ring, declared, isLeft, transposed, op.getShares())];
    return name + (isAfresh ? "()" : "") + (slot.empty() ? "" : fmt::format(" + {} * ({}_BYTES / 16)", slot, declared.stem(ring)));
  };
  const bool isTile = isa<device::RingType>(op.getLeft().getType());
  const std::string left = isTile ? descriptor(op.getLeft(), op.getLeftCursor(), true, false) : registers[op.getLeft()];
  text.line(fmt::format("{}({}, {}, {});", dots.nameOf(op), registers[op.getAccumulator()], left,
                        descriptor(op.getRight(), op.getRightCursor(), false, op.getTransposed())));
  return success();
}

std::string Statements::leftRow() const { return fmt::format("cw * {} + (warp & 3) * {} + (lane & 15)", 4 * rowsOfWarp, rowsOfWarp); }

std::string Statements::pins(ValueRange pinned) const {
  std::string list;
  for (Value value : pinned)
    list += (list.empty() ? "pin(" : " pin(") + registers.find(value)->second + ");";
  return list;
}

// A warp's own products are done, for the program, where they are issued.
LogicalResult Statements::print(device::FenceOp op) {
  if (!hopper)
    return success();
  const std::string list = pins(op.getRegisters());
  text.line(list + (list.empty() ? "" : " ") + "wgmma_fence();");
  return success();
}

LogicalResult Statements::print(device::CommitOp op) {
  if (hopper)
    text.line("wgmma_commit();");
  return success();
}

LogicalResult Statements::print(device::WaitOp op) {
  if (!hopper)
    return success();
  const std::string list = pins(op.getRegisters());
  text.line(fmt::format("wgmma_wait<{}>();{}", std::uint64_t(op.getPending()), list.empty() ? "" : " " + list));
  return success();
}

LogicalResult Statements::print(device::PackOp op) {
  const std::string &fragment = registers[op.getFragment()], &operand = registers[op.getOperand()];
  device::OperandType type = op.getOperand().getType();
  text.line("#pragma unroll");
  text.line(fmt::format("for (int j = 0; j < {0}; j++) {1}[j] = {2}({3}[2 * j], {3}[2 * j + 1]);", elementsOf(type.getWidth()) / 2, operand,
                        packFunction(type.getElement()), fragment));
  return success();
}

std::string Statements::scanned(Value tiles, Value cursor) {
  auto ring = cast<device::RingType>(tiles.getType());
  if (const std::string &phase = cursors[cursor].phase; !phase.empty())
    text.line(fmt::format("mbar_wait({}, {});", barrier(cursor, "_FULL"), phase));
  return fmt::format("scan<{}, {}, {}>({}, cw, warp, lane)", ring.getElement().isBF16() ? "BF16" : "F16", ring.rows(), ring.chunks(), slotAddress(tiles, cursor));
}

LogicalResult Statements::print(device::ScanOp op) {
  values.declare(op.getResult(), {scanned(op.getRing(), op.getCursor())}, "found");
  return success();
}

LogicalResult Statements::print(device::IsolateOp op) {
  device::RingType ring = op.getRing().getType();
  const std::string found = op.getFound() ? values.textOf(op.getFound()) : scanned(op.getRing(), op.getCursor());
  text.line(fmt::format("if ({})", found));
  bool within = false;          // a loop that careful items have for themselves
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    within |= parent->hasAttr(tile::carefulAttrName);
  const std::string blocks = rowsOfWarp != 16 || within ? fmt::format(", {}", rowsOfWarp / 16) : "";
  text.line(fmt::format("  isolate<{}, {}, {}, {}, {}, {}{}{}>({}, {}, {}, cw, warp, lane);", ring.getElement().isBF16() ? "BF16" : "F16", op.getTransposed(), ring.rows(),
                        ring.chunks(), warpgroups, op.getKeep(), blocks, within ? ", true" : "", registers[op.getAccumulator()], registers[op.getWeights()], slotAddress(op.getRing(), op.getCursor())));
  return success();
}

LogicalResult Statements::print(device::RepeatOp op) {
  text.line(fmt::format("{}({}, {}, {}, {}, lane);", dots.nameOf(op), registers[op.getResult()], slotAddress(op.getLeft(), op.getLeftCursor()),
                        slotAddress(op.getRight(), op.getRightCursor()), leftRow()));
  return success();
}

} // namespace tw::emit
