// Which loads of a tile kernel the producer copies into shared memory, and how.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"

namespace tw {

/// When something happens in a step of the fold: its first dots, its elementwise work, its accumulating dots.
enum class Moment { dots0, work, dots1 };

/// A tile (or a column vector) that lies in shared memory. The loads of several loops may stand for it.
struct SharedTile {
  llvm::SmallVector<tile::LoadOp> loads;
  std::string name;                 // of the tensor, and what tells it from others of that tensor
  llvm::StringRef tensor;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape; // rows and columns as in shared memory; columns of a vector
  int rowDimension = -1, columnDimension = -1;   // of the tensor
  bool ofFold = false;              // a new one for each step, or for each chunk
  llvm::StringRef nested;           // the axis of the fold inside the step whose chunks it holds, or empty
  int64_t divisor = 16;             // bytes that are known to divide where its rows start in those of the tensor
  int64_t columnLength = 0;         // the columns there are, where the build fixes it; 0: as long as the tensor
  Moment first = Moment::dots1, last = Moment::dots0;

  bool isVector() const { return shape.size() == 1; }
};

/// Tiles that a loop around the fold reads stay for all of its rounds, unless some of them change with the rounds: then all are copied in each.
void sinkBlockTiles(mlir::func::FuncOp function);

/// Finds them; an error where a dot's operand cannot lie in shared memory. `byEngine`: a copy engine copies, which starts at multiples of 16 bytes; a vector
/// that may start elsewhere is left to the threads that use it.
mlir::FailureOr<llvm::SmallVector<SharedTile>> findSharedTiles(mlir::func::FuncOp kernel, bool byEngine);

} // namespace tw
