// BlockPlan: levels, stored values, readings, and which carried values are updated in place.
#include "HostPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"
#include <climits>
using namespace mlir;

namespace tw::host {
namespace {
constexpr int dear = 12;   // from this cost on, a value used in two levels is stored rather than computed twice

int weight(Operation *op) {
  return llvm::TypeSwitch<Operation *, int>(op)
      .Case<arith::ConstantOp, tile::PositionsOp, tile::BroadcastOp>([](auto) { return 0; })
      .Case<tile::MaskOp>([](auto) { return 3; })
      .Case<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp>([](auto) { return 6; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp>([](auto) { return 20; })
      .Case<math::AbsFOp, math::FmaOp, math::FloorOp, math::CeilOp, math::AbsIOp>([](auto) { return 1; })
      .Default([](Operation *o) { return isa_and_nonnull<math::MathDialect>(o->getDialect()) ? dear : 1; });
}

/// Calls `found` on every value from outside an operation that its regions use.
void captured(Operation *outer, llvm::function_ref<void(OpOperand &)> found) {
  for (Region &region : outer->getRegions())
    region.walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (!region.isAncestor(operand.get().getParentRegion()))
          found(operand);
    });
}
} // namespace

RankedTensorType domainOf(Value value) {
  auto type = tileOf(value);
  return type ? cast<RankedTensorType>(tile::withElement(type, IntegerType::get(type.getContext(), 1))) : nullptr;
}

bool isElementwise(Operation *op) {
  return op && (isa<tile::BroadcastOp, tile::PositionsOp, tile::MaskOp, memref::DimOp>(op) ||
                isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()));
}

tile::LoadOp loadBehind(Value value) {
  if (auto extended = value.getDefiningOp<arith::ExtFOp>())
    value = extended.getIn();
  return isTile(value) ? value.getDefiningOp<tile::LoadOp>() : nullptr;
}

BlockPlan::BlockPlan(Block &block) : block(block) {
  findSums();
  findLevels();
  findStored();
  fillLevels();
  findReadings();
  findInPlace();
}

int BlockPlan::levelOf(Value value) const { return level.lookup(value); }

bool BlockPlan::isLeaf(Value value) const {
  Operation *op = value.getDefiningOp();
  return stored.contains(value) || !isElementwise(op) || sums.count(op);
}

void BlockPlan::leaves(Value value, llvm::function_ref<void(Value)> found) const {
  if (!isTile(value))
    return;
  if (isLeaf(value))
    return found(value);
  for (Value operand : value.getDefiningOp()->getOperands())
    leaves(operand, found);
}

// other + dot: the dot starts from the other operand instead of zero.
void BlockPlan::findSums() {
  for (auto dot : block.getOps<tile::DotOp>()) {
    if (!dot->hasOneUse())
      continue;
    auto add = dyn_cast<arith::AddFOp>(*dot->user_begin());
    if (add && add->getBlock() == &block && !sums.count(add))
      sums[add] = dot;
  }
}

void BlockPlan::findLevels() {
  for (Operation &op : block.without_terminator()) {
    if (auto dot = dyn_cast<tile::DotOp>(op); dot && llvm::any_of(sums, [&](auto &sum) { return sum.second == dot; }))
      continue;
    int in = 0;
    auto consider = [&](Value value) { in = std::max(in, level.lookup(value)); };
    if (auto dot = sums.lookup(&op))
      llvm::for_each(dot->getOperands(), consider);
    llvm::for_each(op.getOperands(), consider);
    captured(&op, [&](OpOperand &operand) { consider(operand.get()); });
    runs[&op] = in;
    bool later = isa<tile::DotOp, tile::ReduceOp, scf::ForOp, tile::KeptOp>(op) || sums.count(&op) ||
                 (isa<tile::GatherOp>(op) && isTile(op.getResult(0)));
    for (Value result : op.getResults())
      level[result] = in + later;
  }
}

int BlockPlan::cost(Value value, int limit) const {
  if (!isTile(value))
    return 0;
  if (isLeaf(value))
    return 1;
  Operation *op = value.getDefiningOp();
  int sum = weight(op);
  for (Value operand : op->getOperands()) {
    if (sum >= limit)
      break;
    sum += cost(operand, limit - sum);
  }
  return sum;
}

void BlockPlan::findStored() {
  for (Operation &op : block.without_terminator()) {
    if (!isElementwise(&op) || sums.count(&op) || !isTile(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    bool store = false;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<tile::DotOp>(user))
        store |= !loadBehind(value);
      else if (user->getBlock() != &block)
        store |= cost(value, dear) >= 2;
      else if (isa<tile::StoreOp, tile::AccumulateOp, scf::YieldOp>(user))
        store = true;
      else if (sums.count(user))
        store |= !value.hasOneUse() && cost(value, dear) >= dear;
      else if (auto broadcast = dyn_cast<tile::BroadcastOp>(user))
        store |= broadcast.getResult().getType().getRank() > tileOf(value).getRank() && cost(value, dear) >= 3;
      else
        store |= runs.lookup(user) > level.lookup(value) && !isa<scf::ForOp>(user) && cost(value, dear) >= dear;
    }
    if (store)
      stored.insert(value);
  }
}

Level &BlockPlan::at(int level) {
  if (int(levels.size()) <= level)
    levels.resize(level + 1);
  return levels[level];
}

void BlockPlan::fillLevels() {
  at(0);
  for (Operation &op : block.without_terminator()) {
    auto found = runs.find(&op);
    if (found == runs.end())
      continue;   // a dot that is part of a sum
    Level &here = at(found->second);
    Value result = op.getNumResults() ? op.getResult(0) : Value();
    if (auto reduce = dyn_cast<tile::ReduceOp>(op))
      here.sinks.push_back({reduce.getSource(), reduce});
    else if (result && !isTile(result) && (isElementwise(&op) || isa<tile::LoadOp, tile::GatherOp, tile::ExtremesOp, tile::KeptAtOp>(op)))
      here.scalars.push_back(&op);
    else if (isElementwise(&op) && !sums.count(&op)) {
      if (stored.contains(result))
        here.sinks.push_back({result, nullptr});
    } else if (!isa<tile::LoadOp>(op)) {
      phase[&op] = 2 + int(here.actions.size());
      here.actions.push_back(&op);
    }
  }
}

void BlockPlan::read(Value expression, Time time, Type domain) {
  leaves(expression, [&](Value leaf) {
    readings[leaf].push_back({time, domain});
    int &last = lastRead.try_emplace(leaf, time.level).first->second;
    last = std::max(last, time.level);
  });
}

void BlockPlan::findReadings() {
  for (auto [number, here] : llvm::enumerate(levels)) {
    int l = int(number);
    for (Sink &sink : here.sinks) {
      Time time{l, int(tileOf(sink.value).getRank()) - 1};
      if (sink.reduction)
        read(sink.value, time, domainOf(sink.value));
      else
        for (Value operand : sink.value.getDefiningOp()->getOperands())
          read(operand, time, domainOf(operand));
    }
    for (Operation *op : here.actions) {
      Time time{l, phase[op]};
      if (tile::DotOp dot = sums.lookup(op)) {
        for (Value operand : op->getOperands())
          if (operand != dot.getResult())
            read(operand, time, domainOf(operand));
        read(dot.getLhs(), time, nullptr);
        read(dot.getRhs(), time, nullptr);
        continue;
      }
      for (Value operand : op->getOperands())
        read(operand, time, nullptr);
      captured(op, [&](OpOperand &operand) { read(operand.get(), time, nullptr); });
    }
  }
  if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator()))
    for (Value value : yield.getOperands())
      if (isTile(value))
        lastRead[value] = INT_MAX;
}

// A yielded value may be written over the carried one if nothing reads the old value afterwards, and what reads it at
// the same time reads the very element that is written.
void BlockPlan::findInPlace() {
  auto fold = dyn_cast<scf::ForOp>(block.getParentOp());
  if (!fold)
    return;
  for (auto [carried, next] : llvm::zip(fold.getRegionIterArgs(), fold.getYieldedValues())) {
    Operation *op = next.getDefiningOp();
    if (!isTile(next) || !op || op->getBlock() != &block || inPlace.count(next))
      continue;
    if (llvm::is_contained(fold.getYieldedValues(), carried))   // the old value goes on in another place
      continue;
    Time written;
    if (stored.contains(next))
      written = {levelOf(next), int(tileOf(next).getRank()) - 1};
    else if (isa<tile::DotOp>(op) || sums.count(op))
      written = {runs.lookup(op), phase.lookup(op)};
    else
      continue;
    if (llvm::all_of(readings.lookup(carried), [&](const Reading &reading) {
          return reading.time < written || (reading.time == written && reading.domain == domainOf(next));
        }))
      inPlace[next] = carried;
  }
}

bool BlockPlan::mayTakeOver(Value next, Value old, int level) const {
  Operation *op = old.getDefiningOp();
  auto last = lastRead.find(old);
  if (!op || op->getBlock() != &block || last == lastRead.end() || last->second != level ||
      domainOf(old) != domainOf(next) ||
      tileOf(old).getElementType().getIntOrFloatBitWidth() != tileOf(next).getElementType().getIntOrFloatBitWidth())
    return false;
  int phase = int(tileOf(next).getRank()) - 1;
  return llvm::all_of(readings.lookup(old), [&](const Reading &reading) {
    return reading.time.level < level || (reading.time.phase == phase && reading.domain == domainOf(next));
  });
}

} // namespace tw::host
