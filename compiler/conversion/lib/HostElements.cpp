// The value of an expression at a point of a domain: a vector along the domain's last axis, or one
// element where the value does not run along it.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {

Value Lowering::spread(Location loc, Value scalar, int64_t lanes) {
  if (lanes == 1)
    return scalar;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, scalar.getType()), scalar);
}

Value Lowering::evaluate(Value value, Point &point) {
  if (!isTile(value))
    return scalars.lookup(value);
  bool rowOnly = point.rowCodeBefore && !tile::runsAlong(value, point.axes.back());
  auto &known = rowOnly ? *point.rows : *point.elements;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  Value result;
  if (rowOnly) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(point.rowCodeBefore);
    result = compute(value, point);
  } else
    result = compute(value, point);
  return known[value] = result;
}

Value Lowering::compute(Value value, Point &point) {
  if (auto found = buffers.find(value); found != buffers.end())
    return read(found->second, value, point);
  Operation *op = value.getDefiningOp();
  Location loc = op->getLoc();
  bool along = tile::runsAlong(value, point.axes.back());
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Value source = evaluate(broadcast.getSource(), point);
    return along && !tile::runsAlong(broadcast.getSource(), point.axes.back()) ? spread(loc, source, point.lanes) : source;
  }
  if (auto positions = dyn_cast<tile::PositionsOp>(op))
    return coordinates(loc, scalars.lookup(positions.getStart()), tile::axesOf(value)[0], point);
  if (auto mask = dyn_cast<tile::MaskOp>(op))
    return computeMask(mask, point);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(evaluate(operand, point));
  return computeOperation(b, op, operands, along ? point.lanes : 1);
}

Value Lowering::coordinates(Location loc, Value start, StringAttr axis, Point &point) {
  size_t dimension = llvm::find(point.axes, axis) - point.axes.begin();
  Value at = arith::IndexCastOp::create(b, loc, b.getI32Type(), point.indices[dimension]);
  at = arith::AddIOp::create(b, loc, start, at);
  if (dimension + 1 != point.axes.size() || point.lanes == 1)
    return at;
  SmallVector<int32_t> steps(point.lanes);
  std::iota(steps.begin(), steps.end(), 0);
  Value lanes = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(VectorType::get({point.lanes}, b.getI32Type()), ArrayRef<int32_t>(steps)));
  return arith::AddIOp::create(b, loc, spread(loc, at, point.lanes), lanes);
}

// A plane  Σ c_j x_j + rest ≤ 0  is  c x ≤ limit  along the last axis, with a limit for each row.
Value Lowering::computeMask(tile::MaskOp op, Point &point) {
  Location loc = op.getLoc();
  Value source = evaluate(op.getSource(), point), inside;
  auto axes = tile::axesOf(op.getSource());
  bool along = tile::runsAlong(op.getSource(), point.axes.back());
  int64_t lanes = along ? point.lanes : 1;
  auto constant = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value))); };
  for (auto [plane, given] : llvm::enumerate(op.getRest())) {
    Value limit, last;
    int64_t lastCoefficient = 0;
    {
      OpBuilder::InsertionGuard guard(b);
      if (point.rowCodeBefore)
        b.setInsertionPoint(point.rowCodeBefore);
      limit = arith::SubIOp::create(b, loc, constant(0), scalars.lookup(given));
      for (auto [j, axis] : llvm::enumerate(axes)) {
        int64_t coefficient = op.getCoefficients()[plane * axes.size() + j];
        if (axis == point.axes.back()) {
          lastCoefficient = coefficient;
          continue;
        }
        Value x = coordinates(loc, scalars.lookup(op.getOrigin()[j]), axis, point);
        limit = arith::SubIOp::create(b, loc, limit, arith::MulIOp::create(b, loc, constant(coefficient), x));
      }
    }
    for (auto [j, axis] : llvm::enumerate(axes))
      if (axis == point.axes.back())
        last = coordinates(loc, scalars.lookup(op.getOrigin()[j]), axis, point);
    Value scaled = last && lastCoefficient ? last : spread(loc, constant(0), lanes);
    if (lastCoefficient != 1 && lastCoefficient != 0)
      scaled = arith::MulIOp::create(b, loc, scaled, spread(loc, constant(lastCoefficient), lanes));
    Value kept = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, scaled, spread(loc, limit, lanes));
    inside = inside ? arith::AndIOp::create(b, loc, inside, kept).getResult() : kept;
  }
  if (Value condition = op.getCondition()) {
    Value holds = evaluate(condition, point);
    inside = inside ? arith::AndIOp::create(b, loc, inside, holds).getResult() : holds;
  }
  if (!inside)
    return source;
  Value otherwise = spread(loc, arith::ConstantOp::create(b, loc, cast<TypedAttr>(op.getOtherwise())), lanes);
  return arith::SelectOp::create(b, loc, inside, source, otherwise);
}

Value Lowering::read(const Buffer &buffer, Value value, Point &point) {
  Location loc = value.getLoc();
  auto axes = tile::axesOf(value);
  SmallVector<Value, 2> indices;
  if (axes.size() == 1)
    indices.push_back(index(loc, 0));
  for (StringAttr axis : axes)
    indices.push_back(point.indices[llvm::find(point.axes, axis) - point.axes.begin()]);
  Type stored = cast<MemRefType>(buffer.memory.getType()).getElementType();
  Value result;
  if (point.lanes == 1 || !tile::runsAlong(value, point.axes.back()))
    result = memref::LoadOp::create(b, loc, buffer.memory, indices);
  else if (axes.back() == point.axes.back())
    result = vector::LoadOp::create(b, loc, cast<VectorType>(laneType(stored, point.lanes)), buffer.memory, indices);
  else {   // the domain turns this tile round: its elements stand in a column of scratch
    SmallVector<Value> elements;
    Value first = indices[0];
    for (int64_t lane = 0; lane < point.lanes; ++lane) {
      // a vector may reach past the tile's last row, which its readers do not mind but memory does
      indices[0] = arith::AddIOp::create(b, loc, first, index(loc, lane));
      indices[0] = arith::MinUIOp::create(b, loc, indices[0], index(loc, buffer.rows - 1));
      elements.push_back(memref::LoadOp::create(b, loc, buffer.memory, indices));
    }
    result = vector::FromElementsOp::create(b, loc, cast<VectorType>(laneType(stored, point.lanes)), elements);
  }
  if (!tileOf(value).getElementType().isInteger(1))
    return result;
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(result.getType()));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, result, zero);
}

} // namespace tw::host
