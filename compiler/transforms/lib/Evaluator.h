// What values are known to be under assumptions: a number, or equal to another value.
//
// Sound for IEEE numbers under one promise about memory, used only where an exact 0 or an infinity
// meets a value:
//
//   Inputs are finite, and arithmetic on finite numbers does not overflow.
//
// It justifies 0 · x = 0, -inf + x = -inf and x - x = 0. Where the promise is broken, the program as written gives
// NaN at that element (0 · inf, inf - inf, any operation on NaN); a result of this analysis gives
// what the element would be without the NaN. So a transformation by it can only make results
// cleaner: a tile that a mask excludes is skipped even if its memory holds NaN. Nothing else follows
// from the promise; in particular comparisons are decided only for values that are finite whatever
// memory holds (`certainlyFinite`), as -inf in memory is a legal way to exclude an element.
//
// Carried values of a fold are finite if the caller assumes so: it has to look at their start too
// (see MaskedTiles.h). One that is already NaN or infinite stays so, whether or not a tile that adds
// nothing is skipped.
//
// The sign of a zero is not tracked and nothing is concluded from it.
#pragma once
#include "mlir/IR/Builders.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tw {

/// Every element of a value is `number`; or else it equals the element of `same` (a value along at
/// most the same axes) at its place.
struct Known {
  std::optional<double> number;
  mlir::Value same;

  static Known constant(double number) { return {number, {}}; }
  static Known equal(mlir::Value value) { return {std::nullopt, value}; }
  [[nodiscard]] bool is(double n) const { return number && *number == n; }
  bool operator==(const Known &other) const { return number ? other.number && *number == *other.number : !other.number && same && same == other.same; }
};

/// The number in an attribute: a float, an integer, a splat; nothing for others and for huge integers.
[[nodiscard]] std::optional<double> numberOf(mlir::Attribute attribute);
/// The number that every element of a constant (or of a broadcast constant) is.
[[nodiscard]] std::optional<double> uniformConstant(mlir::Value value);

/// Is a value positive and finite? Literals, scalars promised so (tile.positive), lengths of inner axes, and sums, products, quotients
/// and roots of those. An exponential is not: it may underflow, and -inf · 0 is NaN.
[[nodiscard]] bool isPositive(mlir::Value value);

class Evaluator {
public:
  /// `inRange`: exponentials of finite numbers are finite. False for elements past the end of an axis,
  /// which nothing keeps in range.
  explicit Evaluator(bool inRange = true) : inRange(inRange) {}

  /// Takes a value to be a number, another value, or opaque (equal to itself), whatever computes it.
  void assume(mlir::Value value, Known known);
  /// Takes all elements of a value to be finite, certainly.
  void assumeFinite(mlir::Value value);

  /// What is known of a value; at least that it equals itself.
  [[nodiscard]] Known evaluate(mlir::Value value);
  /// Finite, if memory is.
  [[nodiscard]] bool finite(mlir::Value value);
  /// Finite, whatever memory holds.
  [[nodiscard]] bool certainlyFinite(mlir::Value value);

private:
  bool inRange;
  llvm::DenseMap<mlir::Value, Known> assumed, memo;
  llvm::DenseSet<mlir::Value> finiteValues;
  llvm::DenseMap<mlir::Value, bool> finiteMemo;

  Known compute(mlir::Value value, mlir::Operation *op);
  bool isFinite(mlir::Value value);
  bool isFiniteSelect(mlir::Operation *op);
  std::optional<Known> multiply(mlir::Value a, mlir::Value b);
  std::optional<Known> add(std::optional<Known> a, bool finiteA, std::optional<Known> b, bool finiteB);
  std::optional<Known> compare(mlir::Operation *op);
};

/// Copies computations as they are under an evaluator's assumptions: a value that is a number becomes a
/// constant, one that equals another becomes that one, and what nothing reads any more is not copied.
/// Values from outside `body` stay.
class Rebuilder {
public:
  Rebuilder(Evaluator &evaluator, mlir::Block *body, mlir::OpBuilder &builder) : evaluator(evaluator), body(body), builder(builder) {}
  /// The value's copy, built at the builder's place together with all it needs.
  [[nodiscard]] mlir::Value operator()(mlir::Value value);
  /// Takes `copy` for `value`: for the arguments of the body, and for what is copied already.
  void map(mlir::Value value, mlir::Value copy) { copies[value] = copy; }

private:
  Evaluator &evaluator;
  mlir::Block *body;
  mlir::OpBuilder &builder;
  llvm::DenseMap<mlir::Value, mlir::Value> copies;

  mlir::Value rebuild(mlir::Value value);
};

} // namespace tw
