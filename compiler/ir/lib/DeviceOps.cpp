// What each operation of the device dialect must satisfy by itself. The protocol between them is checked by device-check-protocol.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "tilewright/ir/Device.h"
using namespace mlir;

#define GET_OP_CLASSES
#include "tilewright/ir/DeviceOps.cpp.inc"

namespace tw::device {
namespace {

/// Inside a loop over rows or elements?
bool hasPresentRow(Operation *op) { return op->getParentOfType<EachRowOp>() || op->getParentOfType<EachElementOp>(); }

constexpr int64_t rowsOfWarpgroup = 64;

/// The warpgroups of the consumers that an operation stands in; 1 where it stands in none.
int64_t sharers(Operation *op) {
  auto consumers = op->getParentOfType<ConsumersOp>();
  return consumers ? int64_t(consumers.getWarpgroups()) : 1;
}

LogicalResult checkAccess(Operation *op, Type registers, Type value) {
  if (elementOf(registers) != value)
    return op->emitOpError() << "reads or writes " << value << ", but the registers hold " << elementOf(registers);
  if (!hasPresentRow(op))
    return op->emitOpError() << "stands outside of device.each_row and device.each_element: there is no present row";
  auto loop = op->getParentOfType<EachElementOp>();
  if (int64_t width = widthOf(registers); width && (!loop || int64_t(loop.getWidth()) != width))
    return op->emitOpError() << "of a fragment " << width << " columns wide stands outside of a device.each_element of that width";
  return success();
}

} // namespace

LogicalResult KernelOp::verifyRegions() {
  int producers = 0, listers = 0, consumers = 0;
  for (Operation &op : getBody().front()) {
    producers += isa<ProducerOp>(op);
    listers += isa<ListerOp>(op);
    consumers += isa<ConsumersOp>(op);
  }
  if (producers > 1 || consumers != 1)
    return emitOpError() << "has " << producers << " producers and " << consumers << " sets of consumers; expected at most one and exactly one";
  if (listers > 1 || (listers && (!producers || !isHopper(*this))))
    return emitOpError() << "has " << listers << " listers on " << getArch() << "; expected at most one, and that on sm90a, beside a producer";
  ConsumersOp role = consumersOf(*this);
  if (int64_t rows = int64_t(role.getRows()); rows != 16 && (rows != 32 || isHopper(*this)))
    return role.emitOpError() << "have warps of " << rows << " rows; expected 16" << (isHopper(*this) ? ", as a product of a warpgroup has" : " or 32");
  if (isHopper(*this) && getStrided())
    return emitOpError() << "is strided; on " << getArch()
                         << " the copy engine takes neighbours at multiples of 16 bytes: make such a kernel for an instruction set without one";
  if (isHopper(*this) && producers == 0)
    for (auto cursor : role.getBody().getOps<CursorOp>())
      if (BarriersOp barriers = barriersOf(cursor); fills(cursor) && !(barriers && barriers.getArrivals()))
        return cursor.emitOpError() << "is of consumers that copy for themselves; on " << getArch() << " one thread, the producer, copies";
  return success();
}

LogicalResult TensorMapOp::verify() {
  std::size_t rank = getDimensions().size();
  if (rank < 1 || rank > 5 || getChunks().size() != rank || getSizes().size() != rank || getBox().size() != rank)
    return emitOpError() << "describes " << rank << " dimensions with " << getChunks().size() << " chunks, " << getSizes().size() << " sizes and " << getBox().size()
                         << " box lengths; expected 1 to 5 of each";
  for (int64_t n : getBox())
    if (n < 1 || n > 256)
      return emitOpError() << "copies " << n << " elements along a dimension; one copy takes 1 to 256";
  if (getSwizzle() != 0 && getSwizzle() != 128)
    return emitOpError() << "has a swizzle of " << getSwizzle() << " bytes; expected 0 or 128";
  return success();
}

LogicalResult CursorOp::verify() {
  if (getPhase() > 1)
    return emitOpError() << "starts at phase " << getPhase() << "; a phase is 0 or 1";
  const bool ofProducer = bool((*this)->getParentOfType<ProducerOp>()), producing = ofProducer || (*this)->getParentOfType<ListerOp>();
  KernelOp kernel = (*this)->getParentOfType<KernelOp>();
  if (kernel && !producerOf(kernel))
    return success();       // consumers that copy for themselves wait for either
  if (ofProducer && kernel && listerOf(kernel))
    return success();       // the producer is told, too
  if (BarriersOp barriers = barriersOf(getResult()); !producing && barriers && barriers.getArrivals())
    return success();       // what consumers fill they wait for either way
  if (!getTrailing() && producing != (getPhase() == 1))
    return emitOpError() << (producing ? "of the producer waits for empty slots, which all are at first: its phase is 1, not 0"
                                       : "of a consumer waits for full slots, and none is at first: its phase is 0, not 1");
  return success();
}

LogicalResult CopyOp::verify() {
  auto map = getMap().getDefiningOp<TensorMapOp>();
  if (map && map.getBox().size() != getCoordinates().size())
    return emitOpError() << "gives " << getCoordinates().size() << " coordinates to a map of " << map.getBox().size() << " dimensions";
  RingType ring = getRing().getType();
  if (getColumn() % 64 || int64_t(getColumn()) >= std::max<int64_t>(ring.columns(), 1))
    return emitOpError() << "starts at column " << getColumn() << " of a tile " << ring.columns() << " columns wide; expected a multiple of 64 inside it";
  if (int64_t divisor = int64_t(getDivisor()); divisor < 1 || divisor > 16 || !llvm::isPowerOf2_64(std::uint64_t(divisor)))
    return emitOpError() << "starts at multiples of " << divisor << " bytes; expected 1, 2, 4, 8 or 16";
  else if (KernelOp kernel = (*this)->getParentOfType<KernelOp>(); divisor < 16 && kernel && isHopper(kernel))
    return emitOpError() << "starts at multiples of " << divisor << " bytes; the copy engine of " << kernel.getArch() << " starts at multiples of 16";
  return success();
}

LogicalResult FillOp::verify() {
  if (elementOf(getRegisters().getType()) != getValue().getType())
    return emitOpError() << "fills registers of " << elementOf(getRegisters().getType()) << " with " << getValue().getType();
  return success();
}

LogicalResult EachElementOp::verify() {
  if (getWidth() < 8 || getWidth() > 256 || getWidth() % 8)
    return emitOpError() << "runs over " << getWidth() << " columns; expected 8 to 256 in steps of 8";
  return success();
}

LogicalResult RowOp::verify() { return hasPresentRow(*this) ? success() : emitOpError() << "stands outside of device.each_row and device.each_element"; }

LogicalResult ColumnOp::verify() { return (*this)->getParentOfType<EachElementOp>() ? success() : emitOpError() << "stands outside of device.each_element"; }

LogicalResult GetOp::verify() { return checkAccess(*this, getRegisters().getType(), getResult().getType()); }

LogicalResult SetOp::verify() { return checkAccess(*this, getRegisters().getType(), getValue().getType()); }

LogicalResult CombineOp::verify() {
  if (!(*this)->getParentOfType<EachElementOp>())
    return emitOpError() << "stands outside of device.each_element";
  if (getRows().getType().getElement() != getValue().getType())
    return emitOpError() << "combines " << getValue().getType() << " into rows of " << getRows().getType().getElement();
  return success();
}

LogicalResult LoadColumnOp::verify() {
  if (!getRing().getType().isVector())
    return emitOpError() << "reads a column vector, but the ring holds tiles of two dimensions";
  auto loop = (*this)->getParentOfType<EachElementOp>();
  if (!loop || int64_t(loop.getWidth()) != getRing().getType().columns())
    return emitOpError() << "of a vector of " << getRing().getType().columns() << " columns stands outside of a device.each_element of that width";
  return success();
}

LogicalResult ReduceTileOp::verify() {
  RingType tile = getTile().getType(), vector = getVector().getType();
  const int64_t warpgroups = int64_t((*this)->getParentOfType<ConsumersOp>().getWarpgroups());
  if (tile.isVector() || int64_t(getColumns()) < 1 || int64_t(getColumns()) > tile.columns())
    return emitOpError() << "reduces " << int64_t(getColumns()) << " columns of " << tile
                         << "; expected a tile of two dimensions, and as many columns as it has at most";
  if (!vector.isVector() || !vector.getElement().isF32() || vector.columns() != tile.rows() || vector.getSlots() != warpgroups)
    return emitOpError() << "makes " << vector << " of a tile of " << tile.rows() << " rows for " << warpgroups
                         << " warpgroups; expected f32, an element for each row, and a slot for each warpgroup";
  Block &made = getBody().front();
  if (made.getNumArguments() != 1 || !made.getArgument(0).getType().isF32() || !made.back().getOperand(0).getType().isF32())
    return emitOpError() << "needs a body that takes one element, f32, and yields one";
  return success();
}

/// Warps of the consumers, and the distances between their rows and so many columns.
static std::pair<int64_t, int64_t> tableOf(Operation *op, int64_t width) {
  constexpr int64_t warpsOfWarpgroup = 4;
  auto consumers = op->getParentOfType<ConsumersOp>();
  return {warpsOfWarpgroup * int64_t(consumers.getWarpgroups()), int64_t(consumers.getRows()) + width - 1};
}

LogicalResult TabulateOp::verify() {
  const auto [warps, distances] = tableOf(*this, int64_t(getWidth()));
  RingType table = getTable().getType();
  if (!table.isVector() || !table.getElement().isInteger(32) || table.columns() < distances || table.getSlots() != warps)
    return emitOpError() << "fills " << table << " with " << distances << " distances for each of " << warps << " warps; expected i32, an element for each distance, and a slot for each warp";
  Block &made = getBody().front();
  if (made.getNumArguments() != 1 || !made.getArgument(0).getType().isInteger(32) || !isa<YieldOp>(made.back()))
    return emitOpError() << "needs a body that takes one distance, i32, and yields";
  return success();
}

LogicalResult LookUpOp::verify() {
  auto loop = (*this)->getParentOfType<EachElementOp>();
  if (!loop || loop->getParentOfType<EachRowOp>())
    return emitOpError() << "stands outside of a device.each_element over all rows";
  RingType table = getTable().getType();
  if (const auto [warps, distances] = tableOf(*this, int64_t(loop.getWidth())); !table.isVector() || !table.getElement().isInteger(32) || table.columns() < distances || table.getSlots() != warps)
    return emitOpError() << "reads " << table << " in a loop whose elements have " << distances << " distances, in each of " << warps << " warps";
  return success();
}

LogicalResult MultiplyOp::verify() {
  int64_t depth = int64_t(getDepth()), n = getAccumulator().getType().getWidth();
  RingType right = getRight().getType();
  if (depth < 16 || depth % 16)
    return emitOpError() << "contracts " << depth << " elements; expected a multiple of 16";
  if (!getAccumulator().getType().getElement().isF32())
    return emitOpError() << "accumulates in " << getAccumulator().getType().getElement() << "; expected f32";
  if (right.isVector())
    return emitOpError() << "has a column vector for its right operand";
  auto padded = [](RingType ring) { return ring.chunks() * 64; };   // columns past a tile's own are 0
  int64_t rightDepth = getTransposed() ? right.rows() : padded(right), rightWidth = getTransposed() ? right.columns() : right.rows();
  const int64_t taken = getShares() ? n * sharers(*this) : n;
  if (rightDepth < depth || rightWidth < taken)
    return emitOpError() << "takes " << depth << " x " << taken << " of a right operand that is " << rightDepth << " x " << rightWidth;
  if (auto left = dyn_cast<RingType>(getLeft().getType()); getShares() && (!left || left.isVector() || left.rows() != rowsOfWarpgroup || (n % 64 && taken != 64)))
    return emitOpError() << "shares out columns of " << getLeft().getType() << " by " << n << "; expected a tile of 64 rows, and for each warpgroup multiples of 64 columns or a part of 64";
  Type leftElement;
  int64_t leftDepth;
  if (auto operand = dyn_cast<OperandType>(getLeft().getType())) {
    if (getLeftCursor())
      return emitOpError() << "has a cursor for an operand in registers";
    leftElement = operand.getElement();
    leftDepth = operand.getWidth();
  } else {
    auto ring = cast<RingType>(getLeft().getType());
    if (!getLeftCursor() || ring.isVector())
      return emitOpError() << "needs a tile of two dimensions and a cursor for its left operand in shared memory";
    leftElement = ring.getElement();
    leftDepth = padded(ring);
  }
  if (leftDepth < depth)
    return emitOpError() << "contracts " << depth << " elements of a left operand that has " << leftDepth;
  if (leftElement != right.getElement())
    return emitOpError() << "multiplies " << leftElement << " by " << right.getElement() << "; operands of a dot have one type";
  return success();
}

LogicalResult PublishOp::verify() {
  RingType ring = getRing().getType();
  const int64_t width = getOperand().getType().getWidth(), columns = rowsOfWarpgroup * sharers(*this);
  if (ring.isVector() || ring.rows() != width || ring.columns() != columns || ring.getElement() != getOperand().getType().getElement())
    return emitOpError() << "writes " << getOperand().getType() << ", transposed, to a tile of " << ring << "; expected " << width << " rows and 64 columns for each warpgroup, " << columns;
  BarriersOp barriers = barriersOf(getCursor());
  if (barriers && !barriers.getArrivals())
    return emitOpError() << "fills a slot of barriers \"" << barriers.getName() << "\", which the producer fills; expected barriers with arrivals";
  return success();
}

LogicalResult AddTileOp::verify() {
  constexpr int64_t boxColumns = 32, boxRows = 16;
  auto map = getMap().getDefiningOp<TensorMapOp>();
  if (map && map.getBox().size() != getCoordinates().size())
    return emitOpError() << "gives " << getCoordinates().size() << " coordinates to a map of " << map.getBox().size() << " dimensions";
  if (map && (!map.getElement().isF32() || map.getSwizzle() != 128 || map.getBox().size() < 2 || map.getBox()[0] != boxColumns || map.getBox()[1] != boxRows))
    return emitOpError() << "adds by a map of " << map.getElement() << "; expected f32 and boxes of 32 columns by 16 rows, permuted by the 128-byte swizzle";
  const int64_t width = getFragment().getType().getWidth(), padded = (width + boxColumns - 1) / boxColumns * boxColumns;
  if (!getFragment().getType().getElement().isF32() || (getShares() && width != padded))
    return emitOpError() << "adds " << getFragment().getType() << "; expected f32" << (getShares() ? ", and multiples of 32 columns for each warpgroup" : "");
  RingType outbox = getOutbox().getType();
  if (!outbox.isVector() || !outbox.getElement().isF32() || outbox.columns() != padded * boxRows || outbox.getSlots() % (4 * sharers(*this)))
    return emitOpError() << "sends " << getFragment().getType() << " through " << outbox << "; expected " << padded * boxRows << " f32 for each of " << 4 * sharers(*this) << " warps, or several times so many";
  return success();
}

LogicalResult AddApartOp::verify() {
  RingType left = getLeft().getType(), right = getRight().getType();
  if (left.isVector() || right.isVector() || left.getElement() != right.getElement() || !getPointer().getType().getElement().isF32())
    return emitOpError() << "multiplies " << left << " by " << right << " for " << getPointer().getType() << "; expected two tiles of one type and f32";
  const int64_t depth = getTransposed() ? right.rows() : right.columns(), width = getTransposed() ? right.columns() : right.rows();
  if (depth != left.columns() || int64_t(getWidth()) > width)
    return emitOpError() << "contracts " << left.columns() << " elements for " << getWidth() << " columns; the right operand is " << depth << " x " << width;
  return success();
}

LogicalResult PostOp::verify() {
  if (int64_t words = getMailbox().getType().getWords(); int64_t(getValues().size()) != words)
    return emitOpError() << "posts " << getValues().size() << " words to a mailbox of " << words;
  return success();
}

LogicalResult ReadPostOp::verify() {
  if (int64_t words = getMailbox().getType().getWords(); int64_t(getWords().size()) != words)
    return emitOpError() << "reads " << getWords().size() << " words of a mailbox of " << words;
  return success();
}

namespace {
LogicalResult answered(Operation *op, Value mailbox) {
  auto declared = mailbox.getDefiningOp<MailboxOp>();
  if (!declared || !declared.getAnswers())
    return op->emitOpError() << "needs a mailbox with answers";
  return success();
}
} // namespace

LogicalResult SendBackOp::verify() { return answered(*this, getMailbox()); }
LogicalResult SentBackOp::verify() { return answered(*this, getMailbox()); }

LogicalResult IsolateOp::verify() {
  int64_t depth = int64_t(getDepth()), n = getAccumulator().getType().getWidth();
  RingType ring = getRing().getType();
  if (!getAccumulator().getType().getElement().isF32() || !getWeights().getType().getElement().isF32())
    return emitOpError() << "has weights " << getWeights().getType() << " and accumulates in " << getAccumulator().getType() << "; expected fragments of f32";
  if (depth % 16 || getWeights().getType().getWidth() != depth)
    return emitOpError() << "contracts " << depth << " elements with " << getWeights().getType() << "; expected a multiple of 16, as wide as the weights are";
  if (ring.isVector())
    return emitOpError() << "isolates a column vector; expected a tile of two dimensions";
  int64_t columns = ring.chunks() * 64;
  int64_t ringDepth = getTransposed() ? ring.rows() : columns, ringWidth = getTransposed() ? columns : ring.rows();
  if (ringDepth < depth || ringWidth < n)
    return emitOpError() << "takes " << depth << " x " << n << " of a tile that is " << ringDepth << " x " << ringWidth;
  return success();
}

LogicalResult PackOp::verify() {
  if (getFragment().getType().getWidth() != getOperand().getType().getWidth() || !getFragment().getType().getElement().isF32())
    return emitOpError() << "packs " << getFragment().getType() << " into " << getOperand().getType() << "; expected an f32 fragment of the same width";
  return success();
}

} // namespace tw::device
