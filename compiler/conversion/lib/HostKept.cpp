// Which tiles a fold visits: the list of kept tiles, and the extremes of tables by which they are told.
#include "HostLowering.h"
#include <limits>
using namespace mlir;

namespace tw::host {
namespace {

/// Integers of any width as i64, floats as f32 or f64.
Value asWide(OpBuilder &b, Location loc, Value x, Type type) {
  if (x.getType() == type)
    return x;
  return isa<FloatType>(type) ? arith::ExtFOp::create(b, loc, type, x).getResult() : arith::ExtSIOp::create(b, loc, type, x).getResult();
}

Value lesser(OpBuilder &b, Location loc, Value x, Value y) {
  return isa<FloatType>(x.getType()) ? arith::MinimumFOp::create(b, loc, x, y).getResult() : arith::MinSIOp::create(b, loc, x, y).getResult();
}
Value greater(OpBuilder &b, Location loc, Value x, Value y) {
  return isa<FloatType>(x.getType()) ? arith::MaximumFOp::create(b, loc, x, y).getResult() : arith::MaxSIOp::create(b, loc, x, y).getResult();
}

/// What lesser (greater) starts from.
Value furthest(OpBuilder &b, Location loc, Type type, bool above) {
  if (auto floating = dyn_cast<FloatType>(type))
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, APFloat::getInf(floating.getFloatSemantics(), !above)));
  return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(above ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min()));
}

} // namespace

/// One loop over the tiles of the range. The place of the next partial tile counts up from the list's begin, that of the next full one down from
/// its end: as there are as many places as tiles, they never meet before the last tile, and a tile that is left out may be written too.
LogicalResult Lowering::lowerKept(tile::KeptOp op) {
  if (listOffset)
    return op.emitError() << "a kernel for the host has room for one list of tiles; this is its second";
  Location loc = op.getLoc();
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); };
  Value begin = scalars.lookup(op.getBegin()), end = scalars.lookup(op.getEnd()), zero = number(0), one = number(1), step = number(int64_t(op.getStep()));
  Value length = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, end, begin), zero);
  Value all = arith::CeilDivSIOp::create(b, loc, length, step);
  listOffset = arith::ConstantIndexOp::create(b, loc, 0);
  Value list = memref::ViewOp::create(b, loc, cast<MemRefType>(op.getList().getType()), scratchMemory, listOffset, ValueRange(toIndex(all)));
  auto loop = scf::ForOp::create(b, loc, begin, end, step, ValueRange{zero, all});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scalars.map(op.getTile(), loop.getInductionVar());
    for (Operation &inner : op.getClassify().front().without_terminator())
      lowerScalar(&inner);
    auto classes = cast<tile::ClassesOp>(op.getClassify().front().getTerminator());
    Value empty = arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), full = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto [isEmpty, isFull] : llvm::zip(classes.getEmpty(), classes.getFull())) {
      empty = arith::OrIOp::create(b, loc, empty, scalars.lookup(isEmpty));
      full = arith::AndIOp::create(b, loc, full, scalars.lookup(isFull));
    }
    Value partialAt = loop.getRegionIterArg(0), fullAt = loop.getRegionIterArg(1), before = arith::SubIOp::create(b, loc, fullAt, one);
    Value place = arith::SelectOp::create(b, loc, full, before, partialAt);
    memref::StoreOp::create(b, loc, loop.getInductionVar(), list, toIndex(place));
    Value nextPartial = arith::SelectOp::create(b, loc, full, partialAt, arith::AddIOp::create(b, loc, partialAt, one));
    Value nextFull = arith::SelectOp::create(b, loc, full, before, fullAt);
    scf::YieldOp::create(b, loc, ValueRange{arith::SelectOp::create(b, loc, empty, partialAt, nextPartial), arith::SelectOp::create(b, loc, empty, fullAt, nextFull)});
  }
  scalars.map(op.getList(), list);
  scalars.map(op.getPartial(), loop.getResult(0));
  scalars.map(op.getFull(), loop.getResult(1));
  scalars.map(op.getAll(), all);
  return success();
}

void Lowering::lowerKeptAt(tile::KeptAtOp op) {
  scalars.map(op.getResult(), memref::LoadOp::create(b, op.getLoc(), scalars.lookup(op.getList()), toIndex(scalars.lookup(op.getAt()))).getResult());
}

/// A loop over the part of the box that lies inside; what lies outside holds 0.
void Lowering::lowerExtremes(tile::ExtremesOp op) {
  if (op.getAmong())
    return lowerSearch(op);
  Location loc = op.getLoc();
  Value memory = scalars.lookup(op.getMemory());
  Type type = op.getLeast().getType();
  SmallVector<Value> low, high;
  bool isPoint = true;
  for (auto [from, to] : llvm::zip(op.getLow(), op.getHigh())) {
    isPoint &= from == to;
    low.push_back(toIndex(scalars.lookup(from)));
    high.push_back(toIndex(scalars.lookup(to)));
  }
  if (isPoint) {
    Value only = asWide(b, loc, loadOne(loc, memory, low), type);
    scalars.map(op.getLeast(), only);
    scalars.map(op.getMost(), only);
    return;
  }
  Value inside = arith::AndIOp::create(b, loc, insideAt(loc, memory, low), insideAt(loc, memory, high));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type)), first = index(loc, 0), one = index(loc, 1);
  SmallVector<Value> ends{arith::SelectOp::create(b, loc, inside, furthest(b, loc, type, true), zero),
                          arith::SelectOp::create(b, loc, inside, furthest(b, loc, type, false), zero)};
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> places;
  SmallVector<scf::ForOp> loops;
  for (auto [from, to, size] : llvm::zip(low, high, memories[memory].sizes)) {
    Value begin = arith::MaxSIOp::create(b, loc, from, first), end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, to, one), size);
    loops.push_back(scf::ForOp::create(b, loc, begin, end, one, ends));
    b.setInsertionPointToStart(loops.back().getBody());
    places.push_back(loops.back().getInductionVar());
    ends.assign(loops.back().getRegionIterArgs().begin(), loops.back().getRegionIterArgs().end());
  }
  Value element = asWide(b, loc, memref::LoadOp::create(b, loc, memories[memory].flat, linear(loc, memory, places)), type);
  ends = {lesser(b, loc, ends[0], element), greater(b, loc, ends[1], element)};
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, ends);
    ends.assign(loop.getResults().begin(), loop.getResults().end());
  }
  scalars.map(op.getLeast(), ends[0]);
  scalars.map(op.getMost(), ends[1]);
}

} // namespace tw::host
