// device-tabulate-distances: which values depend on the distance between row and column alone.
#include "Distances.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tw::lowering {
using namespace mlir;
namespace {

/// Is it made of its operands alone, whatever else there is?
bool isElementwise(Operation *op) { return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<device::LoadOp>(op); }

Place sum(const Place &first, const Place &second, int64_t times) {
  return {first.rowOffset + times * second.rowOffset, first.row + times * second.row, first.columnOffset + times * second.columnOffset,
          first.column + times * second.column};
}

/// Does it stand in the body of a loop over rows or elements?
bool isInLoop(Operation *op) { return op->getParentOfType<device::EachRowOp>() || op->getParentOfType<device::EachElementOp>(); }

} // namespace

// What a thread's place reaches differs: by operands, and, as one control flow has many values, by whatever leaves it.
Distances::Distances(device::ConsumersOp consumers) {
  bool grows = true;
  auto differs = [&](ValueRange values) {
    for (Value value : values)
      grows |= differing.insert(value).second;
  };
  while (grows) {
    grows = false;
    consumers.walk([&](Operation *op) {
      if (isa<device::AnyOp>(op))   // a vote, which all lanes know
        return;
      const bool isPlace =
          isa<device::RowOffsetOp, device::RowOp, device::ColumnOffsetOp, device::ColumnOp, device::GetOp, device::LoadColumnOp, device::LookUpOp>(
              op);
      if (!isPlace && llvm::none_of(op->getOperands(), [&](Value operand) { return differing.contains(operand); }))
        return;
      differs(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          differs(block.getArguments());
      if (op->hasTrait<OpTrait::IsTerminator>() && isa<scf::SCFDialect>(op->getDialect())) {
        Operation *parent = op->getParentOp();
        differs(parent->getResults());
        for (Region &region : parent->getRegions())
          for (Block &block : region)
            differs(block.getArguments());
      }
    });
  }
}

Value Distances::written(device::GetOp get, device::EachElementOp loop) {
  device::SetOp only;
  for (Operation *user : get.getRegisters().getUsers()) {
    if (isa<device::GetOp>(user))
      continue;
    auto set = dyn_cast<device::SetOp>(user);
    if (!set || only)
      return {};
    only = set;
  }
  auto rows = only ? only->getParentOfType<device::EachRowOp>() : device::EachRowOp();
  return rows && only->getParentOp() == rows && dominance.properlyDominates(rows.getOperation(), loop.getOperation()) ? only.getValue() : Value();
}

std::optional<Place> Distances::placeOf(Value value, device::EachElementOp loop) {
  if (isUniform(value))
    return Place();
  Operation *op = value.getDefiningOp();
  if (!op || !value.getType().isInteger(32))
    return {};
  if (isa<device::RowOffsetOp>(op))
    return Place{.rowOffset = 1};
  if (isa<device::RowOp>(op))
    return Place{.row = 1};
  if (isa<device::ColumnOffsetOp>(op))
    return Place{.columnOffset = 1};
  if (isa<device::ColumnOp>(op))
    return Place{.column = 1};
  if (auto get = dyn_cast<device::GetOp>(op)) {
    Value held = written(get, loop);
    return held ? placeOf(held, loop) : std::nullopt;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    const auto first = placeOf(op->getOperand(0), loop), second = placeOf(op->getOperand(1), loop);
    if (!first || !second)
      return {};
    return sum(*first, *second, isa<arith::SubIOp>(op) ? -1 : 1);
  }
  return {};
}

std::optional<Place> Distances::comparedPlace(arith::CmpIOp compare, device::EachElementOp loop) {
  const auto first = placeOf(compare.getLhs(), loop), second = placeOf(compare.getRhs(), loop);
  if (!first || !second)
    return {};
  const Place between = sum(*first, *second, -1);
  return between.isDistance() && between != Place() ? std::optional(between) : std::nullopt;
}

// A value may be read by many: each is looked at once.
bool Distances::isOfDistance(Value value, device::EachElementOp loop) {
  const std::pair<Value, Operation *> key{value, loop.getOperation()};
  if (auto found = known.find(key); found != known.end())
    return found->second;
  const bool is = isMadeOfDistance(value, loop);
  known[key] = is;
  return is;
}

bool Distances::isMadeOfDistance(Value value, device::EachElementOp loop) {
  if (isUniform(value))
    return false;
  if (auto compare = value.getDefiningOp<arith::CmpIOp>(); compare && compare->getParentOp() == loop.getOperation() && comparedPlace(compare, loop))
    return true;
  if (auto place = placeOf(value, loop))
    return place->isDistance() && *place != Place();
  Operation *op = value.getDefiningOp();
  return op && op->getParentOp() == loop.getOperation() && isElementwise(op) && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isUniform(operand) || isOfDistance(operand, loop); });
}

/// A value that is the same for all, from outside of the loops, or made once more.
Value Distances::copied(Value value, OpBuilder &b, IRMapping &made) {
  Operation *op = value.getDefiningOp();
  if (!op || !isInLoop(op))
    return value;
  if (Value known = made.lookupOrNull(value))
    return known;
  for (Value operand : op->getOperands())
    made.map(operand, copied(operand, b, made));
  return b.clone(*op, made)->getResult(0);
}

Value Distances::withoutPlace(Value value, device::EachElementOp loop, OpBuilder &b, IRMapping &made) {
  if (isUniform(value))
    return copied(value, b, made);
  Operation *op = value.getDefiningOp();
  if (auto get = dyn_cast<device::GetOp>(op))
    return withoutPlace(written(get, loop), loop, b, made);
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    Value first = withoutPlace(op->getOperand(0), loop, b, made), second = withoutPlace(op->getOperand(1), loop, b, made);
    return isa<arith::AddIOp>(op) ? arith::AddIOp::create(b, op->getLoc(), first, second).getResult()
                                  : arith::SubIOp::create(b, op->getLoc(), first, second).getResult();
  }
  return arith::ConstantOp::create(b, value.getLoc(), b.getI32IntegerAttr(0));
}

Value Distances::at(Value value, Value distance, device::EachElementOp loop, OpBuilder &b, IRMapping &made) {
  if (isUniform(value))
    return copied(value, b, made);
  if (Value known = made.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  Value result;
  // Of two places that are compared only the difference counts, so that each may take its rows for distances.
  if (auto place = placeOf(value, loop)) {
    Value times = distance;
    if (place->row != 1)
      times =
          arith::MulIOp::create(b, value.getLoc(), distance, arith::ConstantOp::create(b, value.getLoc(), b.getI32IntegerAttr(int32_t(place->row))));
    result = arith::AddIOp::create(b, value.getLoc(), times, withoutPlace(value, loop, b, made));
  } else {
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, at(operand, distance, loop, b, made));
    result = b.clone(*op, operands)->getResult(0);
  }
  made.map(value, result);
  return result;
}

} // namespace tw::lowering
