// The half planes of a fold's masks as its tiles see them.
#pragma once
#include "FoldBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Tile.h"
#include <string>

namespace tw {

/// The arithmetic of FoldBounds.h as i32 operations.
struct ScalarOps {
  mlir::OpBuilder &builder;
  mlir::Location location;

  mlir::Value constant(int64_t n) { return mlir::arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(int32_t(n))); }
  mlir::Value add(mlir::Value x, mlir::Value y) { return builder.createOrFold<mlir::arith::AddIOp>(location, x, y); }
  mlir::Value subtract(mlir::Value x, mlir::Value y) { return builder.createOrFold<mlir::arith::SubIOp>(location, x, y); }
  mlir::Value times(mlir::Value x, int64_t n) {
    return n == 1 ? x : builder.createOrFold<mlir::arith::MulIOp>(location, x, constant(n));
  }
  mlir::Value floorDivide(mlir::Value x, int64_t n) { return builder.createOrFold<mlir::arith::FloorDivSIOp>(location, x, constant(n)); }
  mlir::Value min(mlir::Value x, mlir::Value y) { return x == y ? x : builder.createOrFold<mlir::arith::MinSIOp>(location, x, y); }
  mlir::Value max(mlir::Value x, mlir::Value y) { return x == y ? x : builder.createOrFold<mlir::arith::MaxSIOp>(location, x, y); }
  mlir::Value ifPositive(mlir::Value x, mlir::Value then, mlir::Value otherwise) {
    mlir::Value positive = builder.createOrFold<mlir::arith::CmpIOp>(location, mlir::arith::CmpIPredicate::sgt, x, constant(0));
    return builder.createOrFold<mlir::arith::SelectOp>(location, positive, then, otherwise);
  }
};

/// One fold that is not split yet, and what its masks say about it. Values that it makes are placed where the builder stands, before the loop.
class FoldPlanes {
public:
  FoldPlanes(mlir::scf::ForOp loop, mlir::OpBuilder &builder);

  /// Why the loop cannot be bounded at all, or nothing.
  [[nodiscard]] std::optional<std::string> obstacle() const;
  /// A half plane as the fold sees it; nothing if it does not move with the fold's tiles. `bounds`: see FoldPlane.
  [[nodiscard]] std::optional<FoldPlane<mlir::Value>> planeOf(tile::MaskOp mask, unsigned plane, bool bounds);

  /// Does the mask differ along the fold's axis at all?
  [[nodiscard]] bool movesAlongFold(tile::MaskOp mask) const;

  mlir::scf::ForOp loop;
  llvm::StringRef axis;
  ScalarOps scalars;
  int64_t width = 0;
  tile::KernelAttr kernel;
  tile::AxisAttr block;
  bool rowsMeet = false;      // the step reduces over the block axis: rows past its end count
  llvm::SmallVector<tile::MaskOp> masks;

private:
  mlir::Value lastRow;        // last row of the item that counts, once computed
  std::optional<Term<mlir::Value>> termOf(tile::MaskOp mask, unsigned dimension, int64_t coefficient);
};

} // namespace tw
