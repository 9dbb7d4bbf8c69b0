// Elementwise operations: arithmetic, comparisons, functions, conversions.
#include "ImportValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tw {
namespace {

/// The type in which an operation on these operands is done; numbers written bare adapt to the others.
Type commonType(const Node &node, unsigned first) {
  Type type = node.operands[first].type();
  for (unsigned i = first + 1; i < node.operands.size(); ++i)
    type = arithmeticType(type, node.operands[i].type());
  return isFloat(type) ? arithmeticType(type, type) : type;
}

bool isComparison(Op op) { return op >= Op::lt && op <= Op::ne; }

} // namespace

Value ImportValues::elementwise(const Tile &tile) {
  const Node &node = tile.node();
  mlir::Location where = locationOf(tile);
  auto operand = [&](unsigned i, Type type) { return get(node.operands[i], type, node.axes); };
  switch (node.op) {
  case Op::cast:
    return convert(operand(0, node.operands[0].type()), node.operands[0].type(), node.type, where);
  case Op::logicalNot: {
    Value a = operand(0, Type::boolean);
    return arith::XOrIOp::create(b, where, a, constant(1, a.getType(), where));
  }
  case Op::logicalAnd:
    return arith::AndIOp::create(b, where, operand(0, Type::boolean), operand(1, Type::boolean));
  case Op::logicalOr:
    return arith::OrIOp::create(b, where, operand(0, Type::boolean), operand(1, Type::boolean));
  case Op::random:
    return randomNumbers(tile);
  case Op::select:
    return arith::SelectOp::create(b, where, operand(0, Type::boolean), operand(1, node.type), operand(2, node.type));
  default:
    break;
  }
  if (isComparison(node.op)) {
    Type type = commonType(node, 0);
    return compare(node.op, operand(0, type), operand(1, type), where);
  }
  Value a = operand(0, node.type);
  if (node.operands.size() == 1)
    return function(node.op, a, where);
  Value c = operand(1, node.type);
  return isFloat(node.type) ? floatArithmetic(node.op, a, c, where) : integerArithmetic(node.op, a, c, where);
}

/// Integer division by zero must not trap: a divisor of 0 divides as 1.
Value ImportValues::nonzero(Value divisor, mlir::Location where) {
  Attribute known;
  if (matchPattern(divisor, m_Constant(&known))) {
    auto splat = dyn_cast<SplatElementsAttr>(known);
    APInt value = splat ? splat.getSplatValue<APInt>() : cast<IntegerAttr>(known).getValue();
    if (!value.isZero() && !value.isAllOnes())
      return divisor;
  }
  Value zero = constant(0, divisor.getType(), where), one = constant(1, divisor.getType(), where);
  Value isZero = arith::CmpIOp::create(b, where, arith::CmpIPredicate::eq, divisor, zero);
  return arith::SelectOp::create(b, where, isZero, one, divisor);
}

/// A shift by too many places is undefined even where nothing reads it: the places are taken modulo the width.
Value ImportValues::placesWithin(Value places, mlir::Location where) {
  return arith::AndIOp::create(b, where, places, constant(tile::elementOf(places.getType()).getIntOrFloatBitWidth() - 1, places.getType(), where));
}

Value ImportValues::integerArithmetic(Op op, Value a, Value c, mlir::Location where) {
  switch (op) {
  case Op::add: return arith::AddIOp::create(b, where, a, c);
  case Op::sub: return arith::SubIOp::create(b, where, a, c);
  case Op::mul: return arith::MulIOp::create(b, where, a, c);
  case Op::min: return arith::MinSIOp::create(b, where, a, c);
  case Op::max: return arith::MaxSIOp::create(b, where, a, c);
  case Op::bitAnd: return arith::AndIOp::create(b, where, a, c);
  case Op::bitOr: return arith::OrIOp::create(b, where, a, c);
  case Op::bitXor: return arith::XOrIOp::create(b, where, a, c);
  case Op::shiftLeft: return arith::ShLIOp::create(b, where, a, placesWithin(c, where));
  case Op::shiftRight: return arith::ShRSIOp::create(b, where, a, placesWithin(c, where));
  case Op::div: case Op::floorDiv: return arith::FloorDivSIOp::create(b, where, a, nonzero(c, where));
  case Op::mod: {
    Value divisor = nonzero(c, where), quotient = arith::FloorDivSIOp::create(b, where, a, divisor);
    return arith::SubIOp::create(b, where, a, arith::MulIOp::create(b, where, quotient, divisor));
  }
  default: llvm_unreachable("an operation on two integers");
  }
}

Value ImportValues::floatArithmetic(Op op, Value a, Value c, mlir::Location where) {
  switch (op) {
  case Op::add: return arith::AddFOp::create(b, where, a, c);
  case Op::sub: return arith::SubFOp::create(b, where, a, c);
  case Op::mul: return arith::MulFOp::create(b, where, a, c);
  case Op::div: return arith::DivFOp::create(b, where, a, c);
  case Op::min: return arith::MinimumFOp::create(b, where, a, c);
  case Op::max: return arith::MaximumFOp::create(b, where, a, c);
  case Op::pow: return math::PowFOp::create(b, where, a, c);
  case Op::floorDiv: return math::FloorOp::create(b, where, arith::DivFOp::create(b, where, a, c));
  case Op::mod: {
    Value quotient = math::FloorOp::create(b, where, arith::DivFOp::create(b, where, a, c));
    return arith::SubFOp::create(b, where, a, arith::MulFOp::create(b, where, quotient, c));
  }
  default: llvm_unreachable("an operation on two floats");
  }
}

Value ImportValues::compare(Op op, Value a, Value c, mlir::Location where) {
  if (isa<FloatType>(tile::elementOf(a.getType()))) {
    using P = arith::CmpFPredicate;
    P predicate = op == Op::lt ? P::OLT : op == Op::le ? P::OLE : op == Op::gt ? P::OGT : op == Op::ge ? P::OGE : op == Op::eq ? P::OEQ : P::UNE;
    return arith::CmpFOp::create(b, where, predicate, a, c);
  }
  using P = arith::CmpIPredicate;
  bool isBool = tile::elementOf(a.getType()).isInteger(1);
  P predicate = op == Op::lt ? (isBool ? P::ult : P::slt) : op == Op::le ? (isBool ? P::ule : P::sle) : op == Op::gt ? (isBool ? P::ugt : P::sgt)
              : op == Op::ge ? (isBool ? P::uge : P::sge) : op == Op::eq ? P::eq : P::ne;
  return arith::CmpIOp::create(b, where, predicate, a, c);
}

Value ImportValues::function(Op op, Value a, mlir::Location where) {
  bool floating = isa<FloatType>(tile::elementOf(a.getType()));
  Value zero = constant(0, a.getType(), where);
  switch (op) {
  case Op::neg: return floating ? arith::NegFOp::create(b, where, a).getResult() : arith::SubIOp::create(b, where, zero, a).getResult();
  case Op::abs: return floating ? math::AbsFOp::create(b, where, a).getResult() : arith::MaxSIOp::create(b, where, a, arith::SubIOp::create(b, where, zero, a)).getResult();
  case Op::exp: return math::ExpOp::create(b, where, a);
  case Op::exp2: return math::Exp2Op::create(b, where, a);
  case Op::expm1: return math::ExpM1Op::create(b, where, a);
  case Op::log: return math::LogOp::create(b, where, a);
  case Op::log2: return math::Log2Op::create(b, where, a);
  case Op::log1p: return math::Log1pOp::create(b, where, a);
  case Op::tanh: return math::TanhOp::create(b, where, a);
  case Op::tanhApproximate: return math::TanhOp::create(b, where, a, arith::FastMathFlags::afn);
  case Op::sqrt: return math::SqrtOp::create(b, where, a);
  case Op::rsqrt: return math::RsqrtOp::create(b, where, a);
  case Op::sin: return math::SinOp::create(b, where, a);
  case Op::cos: return math::CosOp::create(b, where, a);
  case Op::erf: return math::ErfOp::create(b, where, a);
  case Op::floor: return math::FloorOp::create(b, where, a);
  case Op::ceil: return math::CeilOp::create(b, where, a);
  case Op::round: return math::RoundOp::create(b, where, a);
  case Op::trunc: return math::TruncOp::create(b, where, a);
  case Op::sigmoid: {
    Value one = constant(1, a.getType(), where), e = math::ExpOp::create(b, where, arith::NegFOp::create(b, where, a));
    return arith::DivFOp::create(b, where, one, arith::AddFOp::create(b, where, one, e));
  }
  default: llvm_unreachable("a function of one value");
  }
}

Value ImportValues::convert(Value value, Type from, Type to, mlir::Location where) {
  if (from == to)
    return value;
  mlir::Type type = tile::withElement(value.getType(), elementType(b, to));
  if (to == Type::boolean) {
    Value zero = constant(0, value.getType(), where);
    return isFloat(from) ? arith::CmpFOp::create(b, where, arith::CmpFPredicate::UNE, value, zero).getResult()
                         : arith::CmpIOp::create(b, where, arith::CmpIPredicate::ne, value, zero).getResult();
  }
  if (isFloat(from) && isFloat(to)) {
    if (bytes(from) < bytes(to))
      return arith::ExtFOp::create(b, where, type, value);
    if (bytes(from) > bytes(to))
      return arith::TruncFOp::create(b, where, type, value);
    return convert(convert(value, from, Type::f32, where), Type::f32, to, where);   // f16 and bf16
  }
  if (isFloat(from))
    return arith::FPToSIOp::create(b, where, type, value);
  if (isFloat(to) && bytes(to) == 2)     // no instruction, nor a library's function, converts integers to 16 bits at once
    return convert(convert(value, from, Type::f32, where), Type::f32, to, where);
  if (from == Type::boolean)
    return isFloat(to) ? arith::UIToFPOp::create(b, where, type, value).getResult() : arith::ExtUIOp::create(b, where, type, value).getResult();
  if (isFloat(to))
    return arith::SIToFPOp::create(b, where, type, value);
  return bytes(from) < bytes(to) ? arith::ExtSIOp::create(b, where, type, value).getResult() : arith::TruncIOp::create(b, where, type, value).getResult();
}

Value ImportValues::toMemory(Value value, Type type, mlir::Location where) {
  if (type != Type::boolean)
    return value;
  return arith::ExtUIOp::create(b, where, tile::withElement(value.getType(), b.getI8Type()), value);
}

} // namespace tw
