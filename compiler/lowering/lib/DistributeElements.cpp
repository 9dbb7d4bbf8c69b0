// device-distribute-tiles: loops over rows and elements.
#include "Distribution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace tw::distribution {

/// What a thread computes with: 16-bit floats are f32 in registers.
Type Distributor::scalarType(Type type) {
  Type element = tile::elementOf(type);
  return element.isF16() || element.isBF16() ? Type(b.getF32Type()) : element;
}

Value Distributor::constant(Attribute value, Location loc) {
  if (auto number = dyn_cast<FloatAttr>(value))
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(number.getValueAsDouble())));
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
}

Value Distributor::integer(int64_t n, Location loc) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); }

/// The coordinate of the present row, where the tile starts at `first`.
Value Distributor::rowPosition(Value first, Location loc) {
  Value thread = arith::AddIOp::create(b, loc, first, device::RowOffsetOp::create(b, loc, b.getI32Type()));
  return arith::AddIOp::create(b, loc, thread, device::RowOp::create(b, loc, b.getI32Type()));
}

//===--- events ------------------------------------------------------------------------------------===//

LogicalResult Distributor::writeRows(const Event &event) {
  Location loc = event.ops.front()->getLoc();
  // Masks first: their intervals are registers of their own.
  for (Operation *op : event.ops)
    if (auto mask = dyn_cast<tile::MaskOp>(op); mask && spaceOf(mask.getResult()) == Space::element)
      if (failed(writeInterval(mask)))
        return failure();
  SmallVector<Operation *> ops;
  for (Operation *op : event.ops)
    if (!isa<tile::MaskOp>(op) || spaceOf(op->getResult(0)) == Space::row)
      ops.push_back(op);
  if (ops.empty())
    return success();
  auto rows = device::EachRowOp::create(b, loc);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&rows.getBody());
  local.clear();
  for (Operation *op : ops) {
    auto value = compute(op);
    if (failed(value))
      return failure();
    local[op->getResult(0)] = *value;
  }
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (!needsRegisters(result))
      continue;
    Value &target = registers[result];         // there already where a step is repeated
    if (!target)
      target = declare(device::RowsType::get(b.getContext(), local[result].getType()), result, "r");
    device::SetOp::create(b, op->getLoc(), local[result], target);
  }
  local.clear();
  return success();
}

LogicalResult Distributor::writeElements(const Event &event) {
  auto loop = device::EachElementOp::create(b, event.ops.front()->getLoc(), b.getI64IntegerAttr(event.width));
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBody());
  local.clear();
  for (Operation *op : event.ops) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
      auto source = resolve(reduce.getSource());
      if (failed(source))
        return failure();
      Value target = registers.lookup(reduce.getResult());
      if (!target)
        target = registers[reduce.getResult()] = declare(device::RowsType::get(b.getContext(), source->getType()), reduce.getResult(), "reduced");
      const bool lanes = isSumOfLanes(reduce);
      device::CombineOp::create(b, op->getLoc(), device::CombineAttr::get(b.getContext(), device::Combine(reduce.getKind())), *source, target, lanes ? b.getUnitAttr() : UnitAttr());
      continue;
    }
    auto value = compute(op);
    if (failed(value))
      return failure();
    local[op->getResult(0)] = *value;
  }
  for (Operation *op : event.ops) {
    if (isa<tile::ReduceOp>(op) || !needsRegisters(op->getResult(0)))
      continue;
    Value result = op->getResult(0);
    Value written = local[result], target = registers.lookup(result);
    device::SetOp::create(b, op->getLoc(), written, target ? target : fragmentFor(result));
  }
  local.clear();
  return success();
}

/// Lanes keep parts of what only adds to a carried sum: they meet when the fold has ended. A guard may look at the parts: none
/// is above the whole, whose terms are not negative, and each term is below its part.
bool Distributor::isSumOfLanes(tile::ReduceOp reduce) const {
  if (reduce.getKind() != tile::Combine::Sum)
    return false;
  if (sums.contains(carriers.lookup(reduce.getResult())))
    return true;
  bool adds = false, other = false;
  for (Operation *user : reduce->getUsers()) {
    if (isa<arith::MulFOp>(user) && user->hasOneUse())
      user = *user->getUsers().begin();
    if (user->getNumResults() == 1 && sums.contains(carriers.lookup(user->getResult(0))))
      adds = true;
    else
      other |= !(isa<arith::CmpFOp>(user) && reduce->getParentOp()->hasTrait<OpTrait::SingleBlock>() && isa<tile::AttemptOp>(reduce->getParentOp()));
  }
  return adds && !other;
}

//===--- values ------------------------------------------------------------------------------------===//

FailureOr<Value> Distributor::resolve(Value value) {
  if (!isa<RankedTensorType>(value.getType())) {
    Value scalar = scalars.lookupOrDefault(value);
    return scalar.getType() == scalarType(scalar.getType()) ? scalar : arith::ExtFOp::create(b, value.getLoc(), scalarType(scalar.getType()), scalar).getResult();
  }
  if (Value known = local.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto broadcast = dyn_cast_if_present<tile::BroadcastOp>(op))
    return resolve(broadcast.getSource());
  Location loc = op ? op->getLoc() : value.getLoc();
  if (auto splat = dyn_cast_if_present<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<SplatElementsAttr>(splat.getValue());
    if (!dense)
      return op->emitError() << "a constant tile must hold one value everywhere; pass a table as a tensor", failure();
    return constant(dense.getSplatValue<Attribute>(), loc);
  }
  if (Value held = registers.lookup(value))
    return local[value] = device::GetOp::create(b, loc, device::elementOf(held.getType()), held);
  if (op && spaceOf(value) == Space::column) {
    auto column = resolveColumn(value);
    if (succeeded(column))
      local[value] = *column;
    return column;
  }
  return emitError(loc) << "the value " << value.getType() << " is used where it is not held", failure();
}

/// The tile's coordinates that the quotient or rest by a whole number is of, and that number; null if it is neither.
static std::pair<tile::PositionsOp, int64_t> dividedPositions(Operation *op) {
  auto quotient = dyn_cast<arith::FloorDivSIOp>(op);
  APInt divisor;
  if (!quotient || !matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)) || !divisor.isStrictlyPositive())
    return {};
  auto positions = quotient.getLhs().getDefiningOp<tile::PositionsOp>();
  return {positions && positions->hasAttr(tile::alignedAttrName) ? positions : tile::PositionsOp(), divisor.getSExtValue()};
}

/// Of a tile that starts at s, a multiple of its width w, the column c has
///
///   (s + c) / n = s / n + c / n     and  (s + c) mod n = c mod n           where n divides w,
///   (s + c) / n = s / n             and  (s + c) mod n = s mod n + c       where w divides n,
///
/// which is less for each element: c / n is the same for runs of columns, s / n for all of them.
Value Distributor::partedQuotient(Operation *op) {
  Location loc = op->getLoc();
  auto rest = dyn_cast<arith::SubIOp>(op);
  auto product = rest ? rest.getRhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  APInt factor;
  if (rest && (!product || !matchPattern(product.getRhs(), m_ConstantInt(&factor))))
    return {};
  Operation *divided = rest ? product.getLhs().getDefiningOp() : op;
  if (!divided)
    return {};
  auto [positions, n] = dividedPositions(divided);
  if (!positions || (rest && (rest.getLhs() != positions.getResult() || factor.getSExtValue() != n)))
    return {};
  const int64_t width = positions.getResult().getType().getDimSize(0);
  if (width % n && n % width)
    return {};
  Value start = scalars.lookupOrDefault(positions.getStart()), by = integer(n, loc);
  auto column = [&]() -> Value { return arith::AddIOp::create(b, loc, device::ColumnOffsetOp::create(b, loc, b.getI32Type()), device::ColumnOp::create(b, loc, b.getI32Type())); };
  auto quotientOf = [&](Value x) -> Value { return arith::FloorDivSIOp::create(b, loc, x, by); };
  auto restOf = [&](Value x) -> Value { return arith::SubIOp::create(b, loc, x, arith::MulIOp::create(b, loc, quotientOf(x), by)); };
  if (width % n == 0)
    return rest ? restOf(column()) : arith::AddIOp::create(b, loc, quotientOf(start), quotientOf(column())).getResult();
  return rest ? arith::AddIOp::create(b, loc, restOf(start), column()).getResult() : quotientOf(start);
}

/// A value along columns only, for the present element.
FailureOr<Value> Distributor::resolveColumn(Value value) {
  Operation *op = value.getDefiningOp();
  Location loc = op->getLoc();
  auto threadColumn = [&](Value start) -> Value {
    return arith::AddIOp::create(b, loc, scalars.lookupOrDefault(start), device::ColumnOffsetOp::create(b, loc, b.getI32Type()));
  };
  auto column = [&]() -> Value { return device::ColumnOp::create(b, loc, b.getI32Type()); };
  auto asFloat = [&](Value x) -> Value { return arith::SIToFPOp::create(b, loc, b.getF32Type(), x); };
  if (auto tile = dyn_cast<device::TileOp>(op)) {
    Type element = tile::elementOf(value.getType());
    Type loaded = scalarType(element);
    return Value(device::LoadColumnOp::create(b, loc, loaded, scalars.lookupOrDefault(tile.getRing()), scalars.lookupOrDefault(tile.getCursor())));
  }
  if (Value vector = vectors.lookup(value))
    return Value(device::LoadColumnOp::create(b, loc, b.getF32Type(), vector, Value()));
  if (auto positions = dyn_cast<tile::PositionsOp>(op))
    return Value(arith::AddIOp::create(b, loc, threadColumn(positions.getStart()), column()));
  if (Value parted = partedQuotient(op))
    return parted;
  // A coordinate as a number: a constant for each element, and the thread's own part, converted once.
  if (auto number = dyn_cast<arith::SIToFPOp>(op))
    if (auto positions = number.getIn().getDefiningOp<tile::PositionsOp>())
      return Value(arith::AddFOp::create(b, loc, asFloat(threadColumn(positions.getStart())), asFloat(column())));
  // Times a factor: one multiply-add an element.
  if (auto product = dyn_cast<arith::MulFOp>(op))
    for (auto [x, y] : {std::pair{product.getLhs(), product.getRhs()}, std::pair{product.getRhs(), product.getLhs()}}) {
      auto number = x.getDefiningOp<arith::SIToFPOp>();
      auto positions = number ? number.getIn().getDefiningOp<tile::PositionsOp>() : tile::PositionsOp();
      auto factor = y.getDefiningOp<tile::BroadcastOp>();
      if (!positions || !factor || isa<RankedTensorType>(factor.getSource().getType()))
        continue;
      Value f = scalars.lookupOrDefault(factor.getSource());
      Value own = arith::MulFOp::create(b, loc, asFloat(threadColumn(positions.getStart())), f);
      return Value(math::FmaOp::create(b, loc, asFloat(column()), f, own));
    }
  return compute(op);
}

/// The element at these places, i32 or i64, of a tensor in global memory; 0 where one of them is outside.
Value Distributor::loadAt(Value memory, ArrayRef<Value> indices, Type type, Location loc) {
  StringRef tensor = memory.getDefiningOp<device::MemoryOp>().getTensor();
  return parameters.load(b, loc, tensor, cast<MemRefType>(memory.getType()).getElementType(), indices, scalarType(type));
}

/// An element of a rectangle that global memory holds, for the present row, column or both.
FailureOr<Value> Distributor::loadElement(tile::LoadOp load) {
  Location loc = load.getLoc();
  SmallVector<Value> indices;
  for (auto [m, at] : llvm::enumerate(load.getOffsets())) {
    Value index = scalars.lookupOrDefault(at);
    if (int64_t dim = load.getDims()[m]; dim >= 0 && tile::axesOf(load.getResult())[unsigned(dim)] == kernel.getBlockAttr())
      index = rowPosition(index, loc);
    else if (dim >= 0)
      index = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, index, device::ColumnOffsetOp::create(b, loc, b.getI32Type())), device::ColumnOp::create(b, loc, b.getI32Type()));
    indices.push_back(index);
  }
  return loadAt(load.getMemory(), indices, load.getType(), loc);
}

FailureOr<Value> Distributor::gatherElement(tile::GatherOp gather) {
  SmallVector<Value> indices;
  for (Value index : gather.getIndices()) {
    auto resolved = resolve(index);
    if (failed(resolved))
      return failure();
    indices.push_back(*resolved);
  }
  if (!gather.getAmong())
    return loadAt(gather.getMemory(), indices, gather.getType(), gather.getLoc());
  StringRef tensor = gather.getMemory().getDefiningOp<device::MemoryOp>().getTensor();
  return parameters.isAmong(b, gather.getLoc(), tensor, cast<MemRefType>(gather.getMemory().getType()).getElementType(), indices);
}

FailureOr<Value> Distributor::compute(Operation *op) {
  Location loc = op->getLoc();
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return loadElement(load);
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return gatherElement(gather);
  if (auto positions = dyn_cast<tile::PositionsOp>(op))
    return rowPosition(scalars.lookupOrDefault(positions.getStart()), loc);
  if (auto mask = dyn_cast<tile::MaskOp>(op))
    return writeMask(mask);
  if (auto promise = dyn_cast<tile::StabiliserOp>(op))
    return resolve(promise.getSource());
  if (isa<arith::ExtFOp>(op))
    return resolve(op->getOperand(0));
  if (isa<arith::TruncFOp>(op)) {
    bool rounds = false;      // stores and dots round by themselves
    forEachUser(op->getResult(0), [&](Operation *user) { rounds |= !isa<tile::StoreOp, tile::DotOp>(user); });
    auto source = resolve(op->getOperand(0));
    if (failed(source) || !rounds)
      return source;
    Value rounded = arith::TruncFOp::create(b, loc, tile::elementOf(op->getResult(0).getType()), *source);
    return Value(arith::ExtFOp::create(b, loc, b.getF32Type(), rounded));
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return op->emitError() << "'" << op->getName() << "' has no form on a GPU yet; expected tile, arith and math operations", failure();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    auto resolved = resolve(operand);
    if (failed(resolved))
      return failure();
    operands.push_back(*resolved);
  }
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  state.addTypes(scalarType(op->getResult(0).getType()));
  state.addAttributes(op->getAttrs());
  return b.create(state)->getResult(0);
}

} // namespace tw::distribution
