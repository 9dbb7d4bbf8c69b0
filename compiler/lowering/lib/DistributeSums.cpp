// device-distribute-tiles: dots that contract the block axis, and what a step adds to tensors.
//
// A warpgroup owns rows of the block axis, so that such a dot needs what all of them have computed: each writes its rows of the left operand to
// shared memory, as columns, in 16 bit. The result has rows along the fold axis. As many as the warpgroups' own are shared out by
// rows; of 64, all warpgroups multiply all of them, by columns of their own.
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace tw::distribution {
namespace {

constexpr int64_t rowsOfWarpgroup = 64, rowsOfWarp = 16, boxColumns = 32, chunkColumns = 64, warpsOfWarpgroup = 4;

/// The operand that threads compute, and the tile of shared memory that it is multiplied by.
std::pair<Value, device::TileOp> operandsOfExchange(tile::DotOp dot) {
  Value left = dot.getLhs(), right = dot.getRhs();
  if (left.getDefiningOp<device::TileOp>())
    std::swap(left, right);
  return {left, right.getDefiningOp<device::TileOp>()};
}

int64_t widthAlong(Value value, StringRef axis) {
  auto type = cast<RankedTensorType>(value.getType());
  for (auto [name, size] : llvm::zip(tile::axesOf(value), type.getShape()))
    if (name.getValue() == axis)
      return size;
  return 0;
}

/// The two axes of the result: that of the computed operand, and that of the tile.
std::pair<StringAttr, StringAttr> axesOfExchange(tile::DotOp dot) {
  auto other = [&](Value operand) {
    for (StringAttr axis : tile::axesOf(operand))
      if (axis.getValue() != dot.getAxis())
        return axis;
    return StringAttr();
  };
  auto [left, right] = operandsOfExchange(dot);
  return {other(left), other(right.getResult())};
}

} // namespace

bool Distributor::sharesColumns(tile::DotOp dot) {
  return before.getWarpgroups() > 1 && widthAlong(dot.getResult(), axesOfExchange(dot).first.getValue()) == rowsOfWarpgroup;
}

FailureOr<Distributor::Exchange> Distributor::exchangeFor(tile::DotOp dot) {
  auto [left, right] = operandsOfExchange(dot);
  if (!right || left.getDefiningOp<device::TileOp>())
    return dot.emitError() << "contracts the block axis \"" << kernel.getBlock() << "\" of " << dot.getLhs().getType() << " and " << dot.getRhs().getType()
                           << "; on a GPU one of them is computed in the step, and the other one loaded from a tensor", failure();
  const int64_t warpgroups = int64_t(before.getWarpgroups()), all = rowsOfWarpgroup * warpgroups;
  const auto [rowAxis, columnAxis] = axesOfExchange(dot);
  const int64_t rows = widthAlong(dot.getResult(), rowAxis.getValue()), columns = widthAlong(dot.getResult(), columnAxis.getValue());
  if (rows != all && rows != rowsOfWarpgroup)
    return dot.emitError() << "contracts the block axis for " << rows << " rows along \"" << rowAxis.getValue() << "\"; on a GPU they are 64, or 64 for each of " << warpgroups << " warpgroups: give the axis such a width in the schedule",
           failure();
  if (rows != all && columns % (chunkColumns * warpgroups) && (columns != chunkColumns || columns % (boxColumns * warpgroups)))
    return dot.emitError() << "contracts the block axis for 64 rows of " << columns << " columns, which " << warpgroups << " warpgroups cannot share out by 64 or in halves of 64; give axis \"" << rowAxis.getValue() << "\" the width " << all
                           << " in the schedule", failure();
  std::size_t ordinal = 0;
  for (auto other : dot->getBlock()->getOps<tile::DotOp>()) {
    if (other == dot)
      break;
    ordinal += other.getStage().value_or(0) == 2;
  }
  if (ordinal < exchanges.size())
    return exchanges[ordinal];
  Type element = cast<device::RingType>(right.getRing().getType()).getElement();
  OpBuilder shared(before), top = OpBuilder::atBlockBegin(body);
  Location loc = kernel.getLoc();
  const std::string name = "exchange";
  Value ring = device::RingOp::create(shared, loc, device::RingType::get(b.getContext(), buffers.exchange, {rows, all}, element), shared.getStringAttr(name), IntegerAttr());
  IntegerAttr warps = b.getI64IntegerAttr(warpsOfWarpgroup * warpgroups);
  Value barriers = device::BarriersOp::create(shared, loc, device::BarriersType::get(b.getContext(), buffers.exchange), shared.getStringAttr(name), warps, warps, IntegerAttr());
  Value cursor = device::CursorOp::create(top, loc, device::CursorType::get(b.getContext()), top.getStringAttr(name), barriers, top.getI64IntegerAttr(0), UnitAttr());
  exchanges.push_back({ring, cursor});
  return exchanges.back();
}

void Distributor::scanForSums(Value cursor, Location loc) {
  before.walk([&](tile::DotOp dot) {
    device::TileOp right = dot.getStage().value_or(0) == 2 ? operandsOfExchange(dot).second : device::TileOp();
    if (!right || scalars.lookupOrDefault(right.getCursor()) != cursor)
      return;
    bool hides = false;
    before.walk([&](Operation *op) { hides |= op->hasAttr("tile.fold") && op->getNumRegions() && llvm::any_of(op->getRegion(0), [&](Block &step) { return hidesElements(step, foldAxis); }); });
    if (Value ring = scalars.lookupOrDefault(right.getRing()); hides && !spoiledTiles.contains(ring))
      spoiledTiles[ring] = device::ScanOp::create(b, loc, b.getI1Type(), ring, cursor);
  });
}

void Distributor::sendBackSpoiled(Operation *fold) {
  if (way != Way::usual || !fold->walk([](tile::AccumulateOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  for (auto &[ring, spoiled] : spoiledTiles)
    for (Value result : fold->getResults())
      if (Value accumulator = carriers.lookup(result); accumulator && accumulators.contains(accumulator)) {
        Location loc = fold->getLoc();
        auto branch = scf::IfOp::create(b, loc, spoiled, /*withElseRegion=*/false);
        OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
        Value nothing = arith::ConstantOp::create(inside, loc, FloatAttr::get(inside.getF32Type(), APFloat::getNaN(APFloat::IEEEsingle())));
        device::FillOp::create(inside, loc, accumulator, nothing);
        break;
      }
}

void Distributor::releaseExchanges() {
  for (auto dot : frames.back().block->getOps<tile::DotOp>())
    if (dot.getStage().value_or(0) == 2) {
      const Exchange exchange = *exchangeFor(dot);
      device::ReleaseOp::create(b, dot.getLoc(), exchange.cursor, Value());
      device::AdvanceOp::create(b, dot.getLoc(), exchange.cursor);
    }
}

LogicalResult Distributor::writePublish(tile::DotOp dot) {
  auto exchange = exchangeFor(dot);
  if (failed(exchange))
    return failure();
  Value source = sourceOf(operandsOfExchange(dot).first), held = registers.lookup(source);
  if (!held)
    return dot.emitError() << "has a left operand that no registers hold";
  auto ring = cast<device::RingType>(exchange->ring.getType());
  Value operand = rounded.lookup(source);
  if (!operand) {
    operand = operandRegisters(device::OperandType::get(b.getContext(), ring.rows(), ring.getElement()), 0);
    device::PackOp::create(b, dot.getLoc(), held, operand);
    rounded[source] = operand;
  }
  device::ReserveOp::create(b, dot.getLoc(), exchange->cursor);
  device::PublishOp::create(b, dot.getLoc(), operand, exchange->ring, exchange->cursor);
  return success();
}

LogicalResult Distributor::writeExchanged(tile::DotOp dot) {
  auto exchange = exchangeFor(dot);
  if (failed(exchange))
    return failure();
  Location loc = dot.getLoc();
  if (way == Way::careful) {                 // element by element, if at all
    device::AwaitOp::create(b, loc, exchange->cursor);
    return success();
  }
  device::TileOp right = operandsOfExchange(dot).second;
  const bool shares = sharesColumns(dot);
  const int64_t columns = widthAlong(dot.getResult(), axesOfExchange(dot).second.getValue());
  Value accumulator = fragmentFor(dot.getResult(), shares ? columns / int64_t(before.getWarpgroups()) : columns);
  device::AwaitOp::create(b, loc, exchange->cursor);
  device::FenceOp::create(b, loc, accumulator);
  device::MultiplyOp::create(b, loc, accumulator, exchange->ring, exchange->cursor, scalars.lookupOrDefault(right.getRing()), scalars.lookupOrDefault(right.getCursor()),
                             b.getI64IntegerAttr(int64_t(kernel.getWidth())), right.getColumns() != dot.getAxis() ? b.getUnitAttr() : UnitAttr(), UnitAttr(), shares ? b.getUnitAttr() : UnitAttr());
  device::CommitOp::create(b, loc);
  inFlight.push_back({dot, Moment::dots1, {accumulator}});
  return success();
}

LogicalResult Distributor::writeAdd(tile::AccumulateOp sum) {
  Location loc = sum.getLoc();
  StringRef tensor = sum.getMemory().getDefiningOp<device::MemoryOp>().getTensor();
  auto dot = sum.getValue().getDefiningOp<tile::DotOp>();
  if (!dot || dot.getStage().value_or(0) != 2 || !tile::elementOf(sum.getValue().getType()).isF32())
    return sum.emitError() << "adds " << sum.getValue().getType() << " to tensor \"" << tensor << "\"; on a GPU what a step adds is a dot in f32 over the block axis \"" << kernel.getBlock() << "\", as it is";
  Value fragment = registers.lookup(dot.getResult());     // null on the careful way
  const auto [rowAxis, columnAxis] = axesOfExchange(dot);
  int rowDimension = -1, columnDimension = -1;
  for (auto [m, dim] : llvm::enumerate(sum.getDims()))
    if (dim >= 0)
      (tile::axesOf(sum.getValue())[unsigned(dim)] == rowAxis ? rowDimension : columnDimension) = int(m);
  const int rank = int(sum.getDims().size());
  if (columnDimension != rank - 1 || rank > 5)
    return sum.emitError() << "adds to tensor \"" << tensor << "\" of " << rank << " dimensions along axis \"" << columnAxis.getValue() << "\"; on a GPU it has at most 5, of which that is the last one";
  auto found = addedTo.find(tensor);
  if (found == addedTo.end() && fragment) {
    OpBuilder shared(before);
    SmallVector<int64_t> dimensions{columnDimension, rowDimension}, box{boxColumns, rowsOfWarp};
    for (int m = rank - 1; m >= 0; --m)
      if (m != columnDimension && m != rowDimension) {
        dimensions.push_back(m);
        box.push_back(1);
      }
    const SmallVector<int64_t> none(dimensions.size(), 0);
    Value map = device::TensorMapOp::create(shared, loc, device::MapType::get(b.getContext()), shared.getStringAttr(tensor), TypeAttr::get(shared.getF32Type()), shared.getDenseI64ArrayAttr(dimensions),
                                            shared.getDenseI64ArrayAttr(none), shared.getDenseI64ArrayAttr(none), shared.getDenseI64ArrayAttr(box), shared.getI64IntegerAttr(128));
    const int64_t columns = (device::widthOf(fragment.getType()) + boxColumns - 1) / boxColumns * boxColumns;
    auto type = device::RingType::get(b.getContext(), warpsOfWarpgroup * int64_t(before.getWarpgroups()) * buffers.outbox, {rowsOfWarp * columns}, shared.getF32Type());
    Value outbox = device::RingOp::create(shared, loc, type, shared.getStringAttr(tensor), IntegerAttr());
    found = addedTo.insert({tensor, Sum{map, outbox}}).first;
  }
  device::TileOp right = operandsOfExchange(dot).second;
  Value ring = scalars.lookupOrDefault(right.getRing()), spoiled = spoiledTiles.lookup(ring);
  if (fragment) {
    const Sum &to = found->second;
    SmallVector<Value> coordinates;
    for (int64_t dimension : to.map.getDefiningOp<device::TensorMapOp>().getDimensions())
      coordinates.push_back(scalars.lookupOrDefault(sum.getOffsets()[unsigned(dimension)]));
    device::AddTileOp::create(b, loc, fragment, to.map, coordinates, to.outbox, spoiled, sharesColumns(dot) ? b.getUnitAttr() : UnitAttr());
  }
  if (!spoiled || way == Way::usual)
    return success();
  auto apart = scf::IfOp::create(b, loc, spoiled, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(apart.thenBlock());
  Value offset = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(0)), rows;
  for (auto [m, at] : llvm::enumerate(sum.getOffsets())) {
    Value index = scalars.lookupOrDefault(at);
    if (int(m) == rowDimension)
      rows = arith::SubIOp::create(b, loc, parameters.length(tensor, int64_t(m)), index);
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, arith::ExtSIOp::create(b, loc, b.getI64Type(), index), parameters.stride(tensor, int64_t(m))));
  }
  const Exchange exchange = *exchangeFor(dot);
  device::AddApartOp::create(b, loc, exchange.ring, exchange.cursor, ring, scalars.lookupOrDefault(right.getCursor()), parameters.pointer(tensor, b.getF32Type()), offset, parameters.stride(tensor, rowDimension), rows,
                             parameters.length(tensor, columnDimension), b.getI64IntegerAttr(widthAlong(dot.getResult(), columnAxis.getValue())), right.getColumns() != dot.getAxis() ? b.getUnitAttr() : UnitAttr());
  return success();
}

} // namespace tw::distribution
