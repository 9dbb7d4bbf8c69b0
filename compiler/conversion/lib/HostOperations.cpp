// Elementwise operations of tiles as the same operations on vectors.
#include "HostLowering.h"
using namespace mlir;

namespace tw::host {
namespace {

Value splat(OpBuilder &b, Location loc, Type type, Attribute element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, element);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
}

/// A divisor with which the processor's division cannot trap: lanes past a tile's end may hold anything.
Value harmlessDivisor(OpBuilder &b, Location loc, Value dividend, Value divisor) {
  Type type = divisor.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  auto constant = [&](const llvm::APInt &value) { return splat(b, loc, type, b.getIntegerAttr(getElementTypeOrSelf(type), value)); };
  auto equals = [&](Value x, const llvm::APInt &value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, constant(value));
  };
  Value overflow = arith::AndIOp::create(b, loc, equals(divisor, llvm::APInt::getAllOnes(width)), equals(dividend, llvm::APInt::getSignedMinValue(width)));
  Value bad = arith::OrIOp::create(b, loc, equals(divisor, llvm::APInt::getZero(width)), overflow);
  return arith::SelectOp::create(b, loc, bad, constant(llvm::APInt(width, 1)), divisor);
}
} // namespace

Type laneType(Type element, int64_t lanes) { return lanes == 1 ? element : Type(VectorType::get({lanes}, element)); }

Type storedType(Type element) { return element.isInteger(1) ? Type(IntegerType::get(element.getContext(), 8)) : element; }

Value computeOperation(OpBuilder &b, Operation *op, ValueRange operands, int64_t lanes) {
  Location loc = op->getLoc();
  Type element = getElementTypeOrSelf(op->getResult(0).getType()), type = laneType(element, lanes);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto everywhere = dyn_cast<SplatElementsAttr>(constant.getValue());
    return splat(b, loc, type, everywhere ? everywhere.getSplatValue<Attribute>() : Attribute(constant.getValue()));
  }
  SmallVector<Value> given(operands);
  if (isa<arith::DivSIOp, arith::RemSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivUIOp, arith::RemUIOp>(op))
    given[1] = harmlessDivisor(b, loc, given[0], given[1]);
  OperationState state(loc, op->getName(), given, {type}, op->getAttrs());
  Operation *result = b.create(state);
  // a multiplication and an addition may become one operation
  if (auto flagged = dyn_cast<arith::ArithFastMathInterface>(result); flagged && isa<FloatType>(element)) {
    auto given = flagged.getFastMathFlagsAttr();
    auto flags = arith::FastMathFlags::contract | (given ? given.getValue() : arith::FastMathFlags::none);
    result->setAttr(flagged.getFastMathAttrName(), arith::FastMathFlagsAttr::get(b.getContext(), flags));
  }
  return result->getResult(0);
}

} // namespace tw::host
