// Blocks level by level, folds, and the memory of carried values.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {

Lowering::Lowering(func::FuncOp kernel, func::FuncOp host, Shape shape)
    : kernel(kernel), host(host), shape(shape), b(kernel.getContext()) {}

LogicalResult Lowering::run() {
  Block *entry = host.addEntryBlock();
  b.setInsertionPointToStart(entry);
  for (auto [given, own] : llvm::zip(kernel.getArguments(), entry->getArguments())) {
    scalars.map(given, own);
    if (isa<MemRefType>(own.getType()))
      describeMemory(own);
  }
  scratchMemory = entry->getArguments().back();
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  func::ReturnOp::create(b, kernel.getLoc());
  if (listOffset)
    listOffset->setAttr("value", b.getIndexAttr(scratch.bytes()));
  return success();
}

Value Lowering::index(Location loc, int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

Value Lowering::toIndex(Value integer) { return arith::IndexCastOp::create(b, integer.getLoc(), b.getIndexType(), integer); }

Value Lowering::view(Location loc, Extent extent, ArrayRef<int64_t> dims, Type element) {
  return memref::ViewOp::create(b, loc, MemRefType::get(dims, element), scratchMemory, index(loc, extent.offset), ValueRange());
}

Buffer Lowering::allocate(Type type, Location loc) {
  auto tile = cast<RankedTensorType>(type);
  Type element = storedType(tile.getElementType());
  Buffer buffer;
  buffer.rows = tile.getRank() == 2 ? tile.getDimSize(0) : 1;
  buffer.columns = tile.getShape().back();
  buffer.length = padded(buffer.columns);
  buffer.extent = scratch.allocate(buffer.rows * buffer.length * element.getIntOrFloatBitWidth() / 8);
  buffer.memory = view(loc, buffer.extent, {buffer.rows, buffer.length}, element);
  return buffer;
}

void Lowering::own(Value value, Buffer buffer) {
  buffers[value] = buffer;
  owned.back().push_back(value);
}

Buffer Lowering::disown(Value value) {
  Buffer buffer = buffers.lookup(value);
  buffers.erase(value);
  llvm::erase(owned.back(), value);
  return buffer;
}

void Lowering::makeAvailable(Value value, const BlockPlan &plan) {
  plan.leaves(value, [&](Value leaf) {
    if (auto load = leaf.getDefiningOp<tile::LoadOp>(); load && !buffers.count(leaf))
      own(leaf, loadRows(load, tileOf(leaf).getElementType()));
  });
}

void Lowering::lowerScalar(Operation *op) {
  Location loc = op->getLoc();
  if (auto extremes = dyn_cast<tile::ExtremesOp>(op))
    return lowerExtremes(extremes);
  if (auto at = dyn_cast<tile::KeptAtOp>(op))
    return lowerKeptAt(at);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalars.lookup(operand));
  Value result;
  if (auto gather = dyn_cast<tile::GatherOp>(op); gather && gather.getAmong())
    result = isAmong(loc, operands[0], ValueRange(operands).drop_front());
  else if (isa<tile::LoadOp, tile::GatherOp>(op)) {
    SmallVector<Value> places;
    for (Value place : llvm::drop_begin(operands))
      places.push_back(toIndex(place));
    result = loadOne(loc, operands[0], places);
  } else if (isa<memref::DimOp>(op))
    result = memref::DimOp::create(b, loc, operands[0], operands[1]);
  else
    result = computeOperation(b, op, operands, 1);
  scalars.map(op->getResult(0), result);
}

void Lowering::copy(Location loc, Value value, Buffer target, const BlockPlan &plan) {
  makeAvailable(value, plan);
  targets[value] = target;
  emitNest(loc, tileOf(value), Sink{value, nullptr});
}

void Lowering::lowerNest(ArrayRef<Sink> sinks, int level, const BlockPlan &plan) {
  llvm::SetVector<Value> read, taken;
  for (Sink sink : sinks) {
    auto note = [&](Value value) {
      makeAvailable(value, plan);
      plan.leaves(value, [&](Value leaf) { read.insert(leaf); });
    };
    if (sink.reduction)
      note(sink.value);
    else
      llvm::for_each(sink.value.getDefiningOp()->getOperands(), note);
  }
  SmallVector<Value> results;
  for (Sink sink : sinks) {
    Value result = sink.reduction ? sink.reduction.getResult() : sink.value;
    if (!isTile(result))
      continue;
    results.push_back(result);
    if (Value carried = plan.inPlace.lookup(result)) {
      targets[result] = buffers.lookup(carried);
      continue;
    }
    auto old = llvm::find_if(read, [&](Value leaf) {
      return !sink.reduction && !taken.contains(leaf) && llvm::is_contained(owned.back(), leaf) && plan.mayTakeOver(result, leaf, level);
    });
    if (old == read.end()) {
      targets[result] = allocate(result.getType(), result.getLoc());
      continue;
    }
    taken.insert(*old);
    Buffer buffer = buffers.lookup(*old);
    Type element = storedType(tileOf(result).getElementType());
    buffer.memory = view(result.getLoc(), buffer.extent, {buffer.rows, buffer.length}, element);
    targets[result] = buffer;
  }
  emitNest(sinks.front().value.getLoc(), tileOf(sinks.front().value), sinks);
  for (Value old : taken)
    disown(old);
  for (Value result : results) {
    if (plan.inPlace.count(result))
      buffers[result] = targets.lookup(result);
    else
      own(result, targets.lookup(result));
  }
}

LogicalResult Lowering::lowerBlock(Block &block) {
  BlockPlan plan(block);
  owned.emplace_back();
  for (auto [number, level] : llvm::enumerate(plan.levels)) {
    llvm::for_each(level.scalars, [&](Operation *op) { lowerScalar(op); });
    for (int64_t rank : {1, 2}) {
      llvm::MapVector<Type, SmallVector<Sink>> nests;
      for (const Sink &sink : level.sinks)
        if (tileOf(sink.value).getRank() == rank)
          nests[domainOf(sink.value)].push_back(sink);
      for (auto &[domain, sinks] : nests)
        lowerNest(sinks, int(number), plan);
    }
    for (Operation *op : level.actions)
      if (failed(lowerAction(op, plan)))
        return failure();
    for (Value value : SmallVector<Value>(owned.back()))
      if (auto last = plan.lastRead.find(value); last == plan.lastRead.end() || last->second <= int(number))
        scratch.release(disown(value).extent);
  }
  if (auto fold = dyn_cast<scf::ForOp>(block.getParentOp()))
    finishStep(fold, plan);
  for (Value value : SmallVector<Value>(owned.back()))
    scratch.release(disown(value).extent);
  owned.pop_back();
  for (Operation &op : block)
    for (Value result : op.getResults())
      buffers.erase(result);
  return success();
}

LogicalResult Lowering::lowerAction(Operation *op, BlockPlan &plan) {
  Location loc = op->getLoc();
  auto product = [&](tile::DotOp dot, Value added) {
    Value result = op->getResult(0);
    for (Value operand : dot->getOperands())
      if (!loadBehind(operand))
        makeAvailable(operand, plan);
    if (added)
      makeAvailable(added, plan);
    Value carried = plan.inPlace.lookup(result);
    Buffer target = carried ? buffers.lookup(carried) : allocate(result.getType(), loc);
    lowerDot(dot, result, added, target);
    if (carried)
      buffers[result] = target;
    else
      own(result, target);
  };
  if (tile::DotOp dot = plan.sums.lookup(op))
    product(dot, op->getOperand(op->getOperand(0) == dot.getResult()));
  else if (auto dot = dyn_cast<tile::DotOp>(op))
    product(dot, nullptr);
  else if (auto gather = dyn_cast<tile::GatherOp>(op)) {
    for (Value place : gather.getIndices())
      makeAvailable(place, plan);
    own(gather.getResult(), lowerGather(gather));
  } else if (auto fold = dyn_cast<scf::ForOp>(op))
    return lowerFold(fold, plan);
  else if (auto kept = dyn_cast<tile::KeptOp>(op))
    return lowerKept(kept);
  else if (auto write = dyn_cast<tile::StoreOp>(op)) {
    Value value = write.getValue();
    if (!isTile(value)) {
      lowerScalarStore(write);
      return success();
    }
    makeAvailable(value, plan);
    store(loc, buffers.lookup(value), rectangle(write.getMemory(), write.getOffsets(), write.getDims(), tileOf(value), false));
  } else if (auto sum = dyn_cast<tile::AccumulateOp>(op)) {
    Value value = sum.getValue();
    makeAvailable(value, plan);
    accumulate(loc, buffers.lookup(value), rectangle(sum.getMemory(), sum.getOffsets(), sum.getDims(), tileOf(value), false));
  } else
    return op->emitError() << "the host lowering does not know this operation; expected tile, arith, math operations, scf.for or their results";
  return success();
}

/// Where a carried value starts: in its initial value's own memory if that is not used otherwise.
Buffer Lowering::startCarried(Value init, const BlockPlan &plan) {
  if (init.hasOneUse() && llvm::is_contained(owned.back(), init))
    return disown(init);
  Buffer buffer = allocate(init.getType(), init.getLoc());
  copy(init.getLoc(), init, buffer, plan);
  return buffer;
}

/// Operands of dots inside that come from outside are packed once; other tiles from outside are loaded.
void Lowering::packForInside(scf::ForOp fold, const BlockPlan &plan, SmallVectorImpl<Extent> &extents) {
  fold.getBodyRegion().walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isTile(value) || fold.getBodyRegion().isAncestor(value.getParentRegion()))
        continue;
      auto dot = dyn_cast<tile::DotOp>(op);
      if (!dot || !loadBehind(value))
        makeAvailable(value, plan);
      if (!dot)
        continue;
      Type element = tileOf(dot.getResult()).getElementType();
      if (operand.getOperandNumber() == 0) {
        if (tile::LoadOp behind = loadBehind(value); behind && !widened.count(value)) {
          widened[value] = loadRows(behind, element);
          extents.push_back(widened[value].extent);
        }
      } else if (auto key = std::make_pair(value, Attribute(dot.getAxisAttr())); !packed.count(key)) {
        packed[key] = pack(value, dot.getAxis(), element);
        extents.push_back(packed[key].extent);
      }
    }
  });
}

LogicalResult Lowering::lowerFold(scf::ForOp fold, BlockPlan &plan) {
  Location loc = fold.getLoc();
  SmallVector<Extent> extents;
  auto widenedBefore = widened;
  auto packedBefore = packed;
  packForInside(fold, plan, extents);
  SmallVector<Value> starts;
  for (auto [carried, init] : llvm::zip(fold.getRegionIterArgs(), fold.getInitArgs())) {
    if (isTile(init))
      buffers[carried] = startCarried(init, plan);
    else
      starts.push_back(scalars.lookup(init));
  }
  auto loop = scf::ForOp::create(b, loc, scalars.lookup(fold.getLowerBound()), scalars.lookup(fold.getUpperBound()),
                                 scalars.lookup(fold.getStep()), starts);
  scalars.map(fold.getInductionVar(), loop.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    unsigned next = 0;
    for (Value carried : fold.getRegionIterArgs())
      if (!isTile(carried))
        scalars.map(carried, loop.getRegionIterArg(next++));
    if (failed(lowerBlock(*fold.getBody())))
      return failure();
    SmallVector<Value> yielded;
    for (Value value : fold.getYieldedValues())
      if (!isTile(value))
        yielded.push_back(scalars.lookup(value));
    if (!starts.empty())
      scf::YieldOp::create(b, loc, yielded);
  }
  unsigned next = 0;
  for (auto [carried, result] : llvm::zip(fold.getRegionIterArgs(), fold.getResults())) {
    if (!isTile(result)) {
      scalars.map(result, loop.getResult(next++));
      continue;
    }
    own(result, buffers.lookup(carried));
    buffers.erase(carried);
  }
  widened = widenedBefore;
  packed = packedBefore;
  for (Extent extent : extents)
    scratch.release(extent);
  return success();
}

/// Brings what a step yields to where the carried values live, unless it has been written there. What stands
/// in the memory of another carried value is put aside first.
void Lowering::finishStep(scf::ForOp fold, const BlockPlan &plan) {
  struct Move { Value value; Buffer from, target; };
  SmallVector<Move> moves;
  for (auto [carried, next] : llvm::zip(fold.getRegionIterArgs(), fold.getYieldedValues()))
    if (isTile(next) && next != carried && plan.inPlace.lookup(next) != carried)
      moves.push_back({next, {}, buffers.lookup(carried)});
  SmallVector<Extent> aside;
  for (Move &move : moves) {
    Buffer source = buffers.lookup(move.value);
    bool overwritten = source && llvm::any_of(moves, [&](const Move &other) { return other.target.extent.offset == source.extent.offset; });
    if (!overwritten)
      continue;
    move.from = allocate(move.value.getType(), fold.getLoc());
    aside.push_back(move.from.extent);
    copy(fold.getLoc(), move.value, move.from, plan);
  }
  for (Move &move : moves) {
    Buffer before = buffers.lookup(move.value);
    if (move.from)
      buffers[move.value] = move.from;
    copy(fold.getLoc(), move.value, move.target, plan);
    if (move.from)
      buffers[move.value] = before;
  }
  for (Extent extent : aside)
    scratch.release(extent);
}

} // namespace tw::host
