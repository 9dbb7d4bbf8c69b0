// i32 values as integer linear forms of coordinates, scalars and a constant.
#pragma once
#include "mlir/IR/Builders.h"
#include "tilewright/ir/Tile.h"
#include <optional>
#include <utility>

namespace tw {

/// The value  Σ coordinates[a] · x_a  +  Σ scalars[s] · s  +  constant, where x_a is the coordinate
/// along axis a: for the element i of a tile, the origin of the axis (`originOf`) + i.
/// No coefficient that is listed is 0.
struct AffineForm {
  llvm::SmallVector<std::pair<mlir::StringAttr, int64_t>> coordinates;
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> scalars;
  int64_t constant = 0;

  static AffineForm of(mlir::Value scalar) { return {{}, {{scalar, 1}}, 0}; }
  /// Adds factor · other.
  void add(const AffineForm &other, int64_t factor = 1);
  [[nodiscard]] int64_t along(mlir::StringRef axis) const;
  [[nodiscard]] int64_t times(mlir::Value scalar) const;
  [[nodiscard]] bool isConstant() const { return coordinates.empty() && scalars.empty(); }
  /// Σ |coefficients|: no evaluation leaves i32 while that many times the largest operand, plus
  /// |constant|, stays below 2^31.
  [[nodiscard]] int64_t weight() const;
};

/// The form of an i32 value (a scalar or a tile) as `at` sees it, or nothing if it is not affine. A scalar
/// that is no sum of others stands for itself; a tile must be made of tile.positions and scalars.
[[nodiscard]] std::optional<AffineForm> affineForm(mlir::Value value, mlir::Operation *at);

/// The first coordinate of the tiles along an axis, as `at` sees it: the induction variable of the
/// fold around it, the item's argument of the block axis, 0 along an inner axis. Nothing if the
/// kernel does not say.
[[nodiscard]] std::optional<AffineForm> originForm(mlir::Operation *at, mlir::StringRef axis);
/// The same as a value; `originForm` must have given something.
[[nodiscard]] mlir::Value originOf(mlir::OpBuilder &builder, mlir::Operation *at, mlir::StringRef axis);

/// The argument that holds the length of an axis, or null.
[[nodiscard]] mlir::Value extentOf(mlir::Operation *at, mlir::StringRef axis);

/// Is a scalar of the form made in the loop?
[[nodiscard]] bool variesIn(const AffineForm &form, mlir::Operation *loop);

/// Computes a form without coordinates, before `before` and outside of every loop around it in which
/// it does not change.
[[nodiscard]] mlir::Value materialise(mlir::OpBuilder &builder, mlir::Location location, const AffineForm &form, mlir::Operation *before);

/// A value without its tile.broadcast's: equal wherever it runs.
[[nodiscard]] mlir::Value withoutBroadcasts(mlir::Value value);

} // namespace tw
