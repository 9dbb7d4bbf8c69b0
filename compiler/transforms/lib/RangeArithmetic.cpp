// Arithmetic on ranges of numbers, as scalar operations.
#include "RangeArithmetic.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <algorithm>
using namespace mlir;

namespace tw {

//===--- numbers ---------------------------------------------------------------------------------===//

Value RangeArithmetic::number(double n, Type type) {
  TypedAttr attribute = isa<FloatType>(type) ? TypedAttr(b.getFloatAttr(type, n)) : TypedAttr(b.getIntegerAttr(type, int64_t(n)));
  return arith::ConstantOp::create(b, loc, attribute);
}

Value RangeArithmetic::integer(int64_t n) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(n)); }
Value RangeArithmetic::truth(bool holds) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(holds)); }

Value RangeArithmetic::widened(Value scalar) {
  Type type = scalar.getType();
  if (type.isInteger(1) || type.isInteger(64) || type.isF32() || type.isF64())
    return scalar;
  if (isa<FloatType>(type))
    return b.createOrFold<arith::ExtFOp>(loc, b.getF32Type(), scalar);
  return b.createOrFold<arith::ExtSIOp>(loc, b.getI64Type(), scalar);
}

template <class Integer, class Float> Value RangeArithmetic::make(Value x, Value y) {
  return isFloat(x) ? b.createOrFold<Float>(loc, x, y) : b.createOrFold<Integer>(loc, x, y);
}

Value RangeArithmetic::min(Value x, Value y) { return x == y ? x : x.getType().isInteger(1) ? both(x, y) : make<arith::MinSIOp, arith::MinimumFOp>(x, y); }
Value RangeArithmetic::max(Value x, Value y) { return x == y ? x : x.getType().isInteger(1) ? either(x, y) : make<arith::MaxSIOp, arith::MaximumFOp>(x, y); }
Value RangeArithmetic::add(Value x, Value y) { return make<arith::AddIOp, arith::AddFOp>(x, y); }
Value RangeArithmetic::subtract(Value x, Value y) { return make<arith::SubIOp, arith::SubFOp>(x, y); }
Value RangeArithmetic::multiply(Value x, Value y) { return make<arith::MulIOp, arith::MulFOp>(x, y); }
Value RangeArithmetic::both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(loc, x, y); }
Value RangeArithmetic::either(Value x, Value y) { return b.createOrFold<arith::OrIOp>(loc, x, y); }
Value RangeArithmetic::negate(Value condition) { return b.createOrFold<arith::XOrIOp>(loc, condition, truth(true)); }
Value RangeArithmetic::choose(Value condition, Value x, Value y) { return x == y ? x : b.createOrFold<arith::SelectOp>(loc, condition, x, y); }
Value RangeArithmetic::floorDivide(Value x, Value y) { return b.createOrFold<arith::FloorDivSIOp>(loc, x, y); }

Value RangeArithmetic::atMost(Value x, Value y) {
  return isFloat(x) ? b.createOrFold<arith::CmpFOp>(loc, arith::CmpFPredicate::OLE, x, y) : b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, x, y);
}
Value RangeArithmetic::below(Value x, Value y) {
  return isFloat(x) ? b.createOrFold<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, y) : b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, y);
}
Value RangeArithmetic::equal(Value x, Value y) {
  return isFloat(x) ? b.createOrFold<arith::CmpFOp>(loc, arith::CmpFPredicate::OEQ, x, y) : b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, x, y);
}

//===--- ranges ----------------------------------------------------------------------------------===//

static int64_t spanOfBoth(const TileRange &x, const TileRange &y) { return x.span < 0 || y.span < 0 ? -1 : x.span + y.span; }
static int64_t widerSpan(const TileRange &x, const TileRange &y) { return x.span < 0 || y.span < 0 ? -1 : std::max(x.span, y.span); }

TileRange RangeArithmetic::sum(const TileRange &x, const TileRange &y) { return {add(x.least, y.least), add(x.most, y.most), spanOfBoth(x, y)}; }
TileRange RangeArithmetic::difference(const TileRange &x, const TileRange &y) { return {subtract(x.least, y.most), subtract(x.most, y.least), spanOfBoth(x, y)}; }

TileRange RangeArithmetic::product(const TileRange &x, const TileRange &y) {
  if (y.least == y.most && x.least == x.most) {
    Value only = multiply(x.least, y.least);
    return {only, only, 0};
  }
  Value corners[] = {multiply(x.least, y.least), multiply(x.least, y.most), multiply(x.most, y.least), multiply(x.most, y.most)};
  return {min(min(corners[0], corners[1]), min(corners[2], corners[3])), max(max(corners[0], corners[1]), max(corners[2], corners[3]))};
}

TileRange RangeArithmetic::negative(const TileRange &x) {
  if (isFloat(x.least))
    return {b.createOrFold<arith::NegFOp>(loc, x.most), b.createOrFold<arith::NegFOp>(loc, x.least)};
  return {subtract(integer(0), x.most), subtract(integer(0), x.least), x.span};
}

TileRange RangeArithmetic::absolute(const TileRange &x) {
  TileRange minus = negative(x);
  Value zero = number(0, x.least.getType());
  return {max(max(x.least, minus.least), zero), max(x.most, minus.most), x.span};
}

TileRange RangeArithmetic::smaller(const TileRange &x, const TileRange &y) { return {min(x.least, y.least), min(x.most, y.most), widerSpan(x, y)}; }
TileRange RangeArithmetic::larger(const TileRange &x, const TileRange &y) { return {max(x.least, y.least), max(x.most, y.most), widerSpan(x, y)}; }

TileRange RangeArithmetic::floorQuotient(const TileRange &x, Value d, std::optional<int64_t> constant) {
  Value low = floorDivide(x.least, d), high = x.least == x.most ? low : floorDivide(x.most, d);
  if (constant && *constant > 0)
    return {low, high, x.span < 0 ? -1 : (x.span + *constant - 1) / *constant};
  return {min(low, high), max(low, high), x.span};       // a negative divisor turns the order round
}

TileRange RangeArithmetic::remainder(const TileRange &x, Value d, std::optional<int64_t> constant) {
  Value low = floorDivide(x.least, d), high = x.least == x.most ? low : floorDivide(x.most, d), start = multiply(low, d);
  Value zero = integer(0), one = integer(1);
  TileRange any = constant && *constant > 0 ? TileRange{zero, integer(*constant - 1)} : TileRange{min(zero, add(d, one)), max(zero, subtract(d, one))};
  Value same = equal(low, high);                         // one quotient: remainders ascend with x
  return {choose(same, subtract(x.least, start), any.least), choose(same, subtract(x.most, start), any.most), constant && *constant > 0 ? *constant - 1 : -1};
}

TileRange RangeArithmetic::hull(const TileRange &x, const TileRange &y) { return {min(x.least, y.least), max(x.most, y.most)}; }

TileRange RangeArithmetic::choice(const TileRange &condition, const TileRange &x, const TileRange &y) {
  TileRange either = hull(x, y);
  return {choose(condition.least, x.least, choose(condition.most, either.least, y.least)), choose(condition.least, x.most, choose(condition.most, either.most, y.most))};
}

TileRange RangeArithmetic::whole(unsigned bits) {
  return {integer(bits < 64 ? -(int64_t(1) << (bits - 1)) : INT64_MIN), integer(bits < 64 ? (int64_t(1) << (bits - 1)) - 1 : INT64_MAX)};
}

TileRange RangeArithmetic::within(const TileRange &x, unsigned bits) {
  if (bits >= 64)
    return x;
  TileRange all = whole(bits);
  return {min(max(x.least, all.least), all.most), min(max(x.most, all.least), all.most), x.span};
}

TileRange RangeArithmetic::ifSmall(const TileRange &result, std::initializer_list<TileRange> operands, int64_t limit) {
  Value small = truth(true);
  for (const TileRange &operand : operands)
    small = both(small, both(atMost(integer(-limit), operand.least), atMost(operand.most, integer(limit))));
  TileRange all = whole(64);
  return {choose(small, result.least, all.least), choose(small, result.most, all.most), result.span};
}

TileRange RangeArithmetic::rounded(const TileRange &x, double relative) {
  auto outwards = [&](Value end, bool down) {
    Type type = end.getType();
    Value magnitude = b.createOrFold<math::AbsFOp>(loc, end);
    Value margin = add(multiply(magnitude, number(relative, type)), number(0x1p-100, type));
    return down ? subtract(end, margin) : add(end, margin);
  };
  return {outwards(x.least, true), outwards(x.most, false)};
}

//===--- conditions ------------------------------------------------------------------------------===//

TileRange RangeArithmetic::lessThan(const TileRange &x, const TileRange &y) { return {below(x.most, y.least), negate(atMost(y.most, x.least))}; }
TileRange RangeArithmetic::lessOrEqual(const TileRange &x, const TileRange &y) { return {atMost(x.most, y.least), negate(below(y.most, x.least))}; }
TileRange RangeArithmetic::equals(const TileRange &x, const TileRange &y) {
  return {both(equal(x.least, y.most), equal(x.most, y.least)), negate(either(below(x.most, y.least), below(y.most, x.least)))};
}

} // namespace tw
