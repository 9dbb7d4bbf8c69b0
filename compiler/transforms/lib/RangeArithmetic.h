// Arithmetic on ranges of numbers, as scalar operations: integers in i64, floats in f32 or f64, conditions in i1.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include <initializer_list>
#include <optional>

namespace tw {

/// Every element lies between `least` and `most`, both included; see TileRanges.h.
struct TileRange {
  mlir::Value least, most;
  /// No tile has more than this between its ends, or -1 where that is not known. Integers only.
  int64_t span = -1;
};

class RangeArithmetic {
public:
  using Value = mlir::Value;
  RangeArithmetic(mlir::OpBuilder &builder, mlir::Location location) : b(builder), loc(location) {}

  /// A number of the type of `like`; the type of a range is i64, f32, f64 or i1.
  Value number(double n, mlir::Type type);
  Value integer(int64_t n);
  Value truth(bool holds);
  /// A scalar of any type as one of a range.
  Value widened(Value scalar);
  TileRange point(Value scalar) { Value x = widened(scalar); return {x, x, 0}; }

  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value add(Value x, Value y);
  Value subtract(Value x, Value y);
  Value multiply(Value x, Value y);
  Value both(Value x, Value y);
  Value either(Value x, Value y);
  Value negate(Value condition);
  Value choose(Value condition, Value x, Value y);
  Value floorDivide(Value x, Value y);
  /// x ≤ y, x < y, x = y; false if one is NaN.
  Value atMost(Value x, Value y);
  Value below(Value x, Value y);
  Value equal(Value x, Value y);

  TileRange sum(const TileRange &x, const TileRange &y);
  TileRange difference(const TileRange &x, const TileRange &y);
  TileRange product(const TileRange &x, const TileRange &y);
  TileRange negative(const TileRange &x);
  TileRange absolute(const TileRange &x);
  TileRange smaller(const TileRange &x, const TileRange &y);
  TileRange larger(const TileRange &x, const TileRange &y);
  /// floor(x / d), d any single number but 0.
  TileRange floorQuotient(const TileRange &x, Value d, std::optional<int64_t> constant);
  /// x - d · floor(x / d)
  TileRange remainder(const TileRange &x, Value d, std::optional<int64_t> constant);
  TileRange hull(const TileRange &x, const TileRange &y);
  TileRange choice(const TileRange &condition, const TileRange &x, const TileRange &y);
  /// What elements of so many bits can be.
  TileRange whole(unsigned bits);
  /// The part of a range that elements of so many bits can be in.
  TileRange within(const TileRange &x, unsigned bits);
  /// The result where all operands' ends lie within ±limit, so that it did not overflow, else everything.
  TileRange ifSmall(const TileRange &result, std::initializer_list<TileRange> operands, int64_t limit);
  /// Outwards by more than elements' rounding.
  TileRange rounded(const TileRange &x, double relative = 0x1p-20);

  TileRange lessThan(const TileRange &x, const TileRange &y);
  TileRange lessOrEqual(const TileRange &x, const TileRange &y);
  TileRange equals(const TileRange &x, const TileRange &y);
  TileRange conjunction(const TileRange &x, const TileRange &y) { return {both(x.least, y.least), both(x.most, y.most)}; }
  TileRange disjunction(const TileRange &x, const TileRange &y) { return {either(x.least, y.least), either(x.most, y.most)}; }
  TileRange opposite(const TileRange &x) { return {negate(x.most), negate(x.least)}; }
  TileRange undecided() { return {truth(false), truth(true)}; }

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  template <class Integer, class Float> Value make(Value x, Value y);
  bool isFloat(Value x) const { return mlir::isa<mlir::FloatType>(x.getType()); }
};

} // namespace tw
