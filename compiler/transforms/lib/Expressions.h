// Builds the operations of a kernel anew: over as few axes as their operands have, each one once, and
// outside the loops where its operands allow it.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/DenseSet.h"
#include <optional>

namespace tw {

/// Number of axes of a value: 0 a scalar, 1 a row or a column, 2 an element value.
inline size_t rankOf(mlir::Value value) { return value ? tile::axesOf(value).size() : 0; }

/// The value of a scalar float constant.
std::optional<double> constantOf(mlir::Value value);

/// Makes values *narrow*: a value runs along its operands' axes and no others, so a repetition along
/// further axes (tile.broadcast) stands only in front of an operation that needs it. Values over at most one axis that
/// do not vary in a loop are made before it; element values stay where they are asked for, for a
/// tile kept over a whole loop costs more than making it.
class Expressions {
public:
  /// Builds in a block of `function`, which must be a kernel.
  Expressions(mlir::func::FuncOp function, mlir::Block *block);

  /// Where the next operations come from in the user's program.
  mlir::Location where;

  /// Makes `block`, whose operation stands at the end of the present block, the present one.
  void enter(mlir::Block *block);
  /// Goes back to the block around the present one.
  void leave();
  /// Is the value made outside the present block?
  bool outside(mlir::Value value) const;

  /// A scalar of the element type of `type`.
  mlir::Value constant(double number, mlir::Type type);
  /// 0, 1, 2, … along an axis, as floats.
  mlir::Value ramp(mlir::StringAttr axis, int64_t width, mlir::Type element);
  /// The value repeated (and its dimensions reordered) to `type`; itself if it has that type.
  mlir::Value broadcast(mlir::Value value, mlir::Type type);
  /// `element` over all axes of the values: ordered as in one of them that has all, else block, fold, inner axes.
  mlir::Type joined(mlir::ValueRange values, mlir::Type element) const;
  /// Number of axes that the values have together; a missing value has none.
  size_t joinedRank(mlir::ValueRange values) const;

  // Float arithmetic. Constants fold; scalar factors of a product meet: (x·s)·t = x·(s·t).
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  mlir::Value divide(mlir::Value a, mlir::Value b);
  mlir::Value negate(mlir::Value a);
  mlir::Value reciprocal(mlir::Value a);
  /// a·b + c
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);

  /// An elementwise operation on narrow operands; the result's elements are of type `element`, or of the operands' type.
  template <class Op, class... Rest> mlir::Value make(mlir::ValueRange operands, mlir::Type element = {}) {
    mlir::Type own = tile::elementOf(operands.back().getType());
    llvm::SmallVector<mlir::Value> alike = widened(operands);
    mlir::OperationState state(where, Op::getOperationName(), alike, joined(operands, element ? element : own), {});
    return placed(mlir::Operation::create(state))->getResult(0);
  }
  /// A copy of an elementwise operation, on narrow operands instead of its own.
  mlir::Value copy(mlir::Operation *op, mlir::ValueRange operands);
  /// Inserts an operation that stands nowhere yet, or erases it and returns an equal one.
  mlir::Operation *placed(mlir::Operation *op);

  mlir::func::FuncOp function;
  tile::KernelAttr kernel;

private:
  struct SameOperation;
  struct Scope {
    mlir::Block *block;
    mlir::Operation *before = nullptr;   // operations are inserted before it; null: at the end
    llvm::DenseSet<mlir::Operation *, SameOperation> known;
  };
  struct SameOperation : llvm::DenseMapInfo<mlir::Operation *> {
    static unsigned getHashValue(const mlir::Operation *op);
    static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
  };
  llvm::SmallVector<mlir::Value> widened(mlir::ValueRange operands);
  /// a = x·s with a scalar s.
  std::optional<std::pair<mlir::Value, mlir::Value>> scaled(mlir::Value a);
  size_t depthOf(mlir::Value value) const;

  std::vector<Scope> scopes;   // from the function's body inwards
};

} // namespace tw
