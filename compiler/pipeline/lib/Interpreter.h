// Interprets scalar code of a tile module, by the folders of its operations.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/DenseMap.h"

namespace tw {

class Interpreter {
public:
  /// Arguments of the kernel that are lengths, scalars and tensors come from `inputs`, whose `extents` list all axes; coordinates from `item`.
  Interpreter(mlir::func::FuncOp kernel, const Evaluation &inputs, const std::map<std::string, std::int64_t> &item);

  /// Takes the argument of an inner region to be that number; what was computed there before is forgotten.
  void bind(mlir::Value value, std::int64_t number);
  [[nodiscard]] mlir::Attribute evaluate(mlir::Value value);
  [[nodiscard]] std::int64_t integer(mlir::Value value);

private:
  mlir::func::FuncOp kernel;
  const Evaluation &inputs;
  mlir::Builder builder;
  llvm::DenseMap<mlir::Value, mlir::Attribute> bound, outer, inner;   // outer: of the kernel's own block

  const Array &tensor(mlir::Value memory) const;
  bool isInside(mlir::Value memory, llvm::ArrayRef<std::int64_t> place) const;
  double element(mlir::Value memory, llvm::ArrayRef<std::int64_t> place) const;
  mlir::Attribute number(double value, mlir::Type type);
  mlir::Attribute compute(mlir::Value value);
  mlir::Attribute extreme(tile::ExtremesOp op, bool least);
  /// Of the numbers from low to high: whether all, or some, are among the first `count` elements of the list.
  bool search(mlir::Value memory, llvm::SmallVector<std::int64_t> list, std::int64_t low, std::int64_t high, std::int64_t count, bool all) const;
};

} // namespace tw
