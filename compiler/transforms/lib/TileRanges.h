// Between which numbers the elements of a value lie in one tile of a fold: interval arithmetic, built as scalar code.
//
// Ends are computed for the tile whose first coordinate is given, over those of its elements that lie before the ends of
// the fold axis and of the block axis (all rows count where the step reduces over the block axis). An end may lie
// further out than any element, never further in:
//   - Integers are i64. Elements of i32 stay within i32, as the language promises, so no sum or product of ends leaves i64.
//   - Float ends move outwards by 2^-20 of themselves after every operation that rounds, since elements may be computed with
//     other roundings (contracted, say). A NaN among the elements makes both ends NaN, and then every comparison is undecided.
//   - Conditions are i1: the least is "all elements hold", the most is "some element may hold".
#pragma once
#include "AffineForms.h"
#include "FoldPlanes.h"
#include "RangeArithmetic.h"
#include "llvm/ADT/DenseMap.h"

namespace tw {

class TileRanges {
public:
  /// Code goes to where the builder stands. `tile`: the tile's first coordinate, i32. Boxes of tables with more than `mostElements`
  /// elements are not looked at.
  TileRanges(const FoldPlanes &fold, mlir::OpBuilder &builder, mlir::Value tile, int64_t mostElements);

  /// The range of a value of the loop's step, or nothing if none is known.
  [[nodiscard]] std::optional<TileRange> of(mlir::Value value);
  /// The range of "the mask keeps the element"; nothing of its condition may be known.
  [[nodiscard]] TileRange kept(tile::MaskOp mask);
  /// Does the tile end before its axis does?
  [[nodiscard]] mlir::Value endsInside();

  /// The first value of which no range is known, or null.
  mlir::Value unknown;

private:
  using Value = mlir::Value;
  using Range = std::optional<TileRange>;

  const FoldPlanes &fold;
  mlir::scf::ForOp loop;
  mlir::OpBuilder &builder;
  RangeArithmetic arithmetic;
  Value tile;
  int64_t mostElements;
  mlir::Operation *step;                                  // some operation of the loop's step
  llvm::DenseMap<Value, Range> known;
  llvm::DenseMap<Value, Value> scalars;                   // scalars of the step, as the code here computes them
  llvm::DenseMap<mlir::StringAttr, Value> lengths;        // lastOffset by axis

  Value scalar(Value value);
  /// The number of the last element of the tile along an axis that counts, i64.
  Value lastOffset(mlir::StringAttr axis, int64_t width);
  int64_t widthOf(mlir::StringAttr axis) const;
  Range compute(Value value);
  Range ofForm(const AffineForm &form);
  Range ofConstant(Value value);
  Range ofOperation(mlir::Operation *op);
  Range ofLoad(tile::LoadOp load);
  Range ofGather(tile::GatherOp gather);
  Range ofSearch(tile::GatherOp gather, llvm::ArrayRef<TileRange> places);
  Range box(Value memory, llvm::ArrayRef<TileRange> places);
  Range comparison(mlir::arith::CmpIOp op);
  Range remainder(mlir::Operation *op);
  Range pointwise(mlir::Operation *op);
};

} // namespace tw
