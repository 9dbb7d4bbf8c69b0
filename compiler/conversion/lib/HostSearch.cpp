// Lists that numbers are looked for in: tile.gather and tile.extremes with `among`.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {
namespace {

Value wide(OpBuilder &b, Location loc, Value x) {
  return x.getType().isInteger(64) ? x : arith::ExtSIOp::create(b, loc, b.getI64Type(), x).getResult();
}

} // namespace

/// One loop over the list: whether some of the numbers was met, and a bit for each of the first 64 that was.
Lowering::Found Lowering::lookThrough(Location loc, Value memory, ArrayRef<Value> list, Value low, Value high, Value few, Value many) {
  using P = arith::CmpIPredicate;
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)); };
  auto compare = [&](P how, Value x, Value y) -> Value { return arith::CmpIOp::create(b, loc, how, x, y); };
  auto both = [&](Value x, Value y) -> Value { return arith::AndIOp::create(b, loc, x, y); };
  auto choose = [&](Value c, Value x, Value y) -> Value { return arith::SelectOp::create(b, loc, c, x, y); };
  Value size = memories[memory].sizes.back(), nothing = index(loc, 0), none = number(0), never = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value count = arith::MinSIOp::create(b, loc, arith::MaxSIOp::create(b, loc, toIndex(many), nothing), size);
  count = choose(insideAt(loc, memory, list), count, nothing);
  auto loop = scf::ForOp::create(b, loc, nothing, count, index(loc, 1), ValueRange{none, never});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> place(list);
    place.push_back(loop.getInductionVar());
    Value element = wide(b, loc, memref::LoadOp::create(b, loc, memories[memory].flat, linear(loc, memory, place)));
    Value isMet = both(compare(P::sle, low, element), compare(P::sle, element, high));
    Value at = arith::SubIOp::create(b, loc, element, low), counts = both(isMet, compare(P::slt, loop.getInductionVar(), toIndex(few)));
    Value isNear = both(counts, compare(P::ult, at, number(64)));
    Value bit = arith::ShLIOp::create(b, loc, number(1), choose(isNear, at, none));
    Value bits = arith::OrIOp::create(b, loc, loop.getRegionIterArg(0), choose(isNear, bit, none));
    scf::YieldOp::create(b, loc, ValueRange{bits, arith::OrIOp::create(b, loc, loop.getRegionIterArg(1), isMet)});
  }
  Value span = arith::SubIOp::create(b, loc, high, low), isNear = compare(P::ult, span, number(64));
  Value wanted = arith::ShRUIOp::create(b, loc, number(-1), choose(isNear, arith::SubIOp::create(b, loc, number(63), span), none));
  return {both(isNear, compare(P::eq, loop.getResult(0), wanted)), loop.getResult(1)};
}

Value Lowering::isAmong(Location loc, Value memory, ValueRange indices) {
  SmallVector<Value> list;
  for (Value place : indices.drop_back(2))
    list.push_back(toIndex(place));
  Value sought = wide(b, loc, indices.drop_back().back()), count = indices.back();
  return lookThrough(loc, memory, list, sought, sought, count, count).some;
}

void Lowering::lowerSearch(tile::ExtremesOp op) {
  Location loc = op.getLoc();
  Value memory = scalars.lookup(op.getMemory());
  SmallVector<Value> low, high;
  for (auto [from, to] : llvm::zip(op.getLow(), op.getHigh())) {
    low.push_back(scalars.lookup(from));
    high.push_back(scalars.lookup(to));
  }
  const std::size_t lists = low.size() - 2;   // dimensions of lists
  auto truth = [&](bool holds) -> Value { return arith::ConstantOp::create(b, loc, b.getBoolAttr(holds)); };
  SmallVector<Value> found{truth(true), truth(false)};
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Value> places;
  SmallVector<scf::ForOp> loops;
  for (std::size_t d = 0; d < lists; ++d) {
    Value begin = toIndex(low[d]), end = arith::AddIOp::create(b, loc, toIndex(high[d]), index(loc, 1));
    loops.push_back(scf::ForOp::create(b, loc, begin, end, index(loc, 1), found));
    b.setInsertionPointToStart(loops.back().getBody());
    places.push_back(loops.back().getInductionVar());
    found.assign(loops.back().getRegionIterArgs().begin(), loops.back().getRegionIterArgs().end());
  }
  const Found here = lookThrough(loc, memory, places, low[lists], high[lists], low[lists + 1], high[lists + 1]);
  found = {arith::AndIOp::create(b, loc, found[0], here.all), arith::OrIOp::create(b, loc, found[1], here.some)};
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, found);
    found.assign(loop.getResults().begin(), loop.getResults().end());
    b.setInsertionPointAfter(loop);
  }
  auto asNumber = [&](Value truth) { return arith::ExtUIOp::create(b, loc, b.getI64Type(), truth).getResult(); };
  scalars.map(op.getLeast(), asNumber(found[0]));
  scalars.map(op.getMost(), asNumber(found[1]));
}

} // namespace tw::host
