// Scratch: where the tiles of one item lie in the memory that the caller lends.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace tw::host {

/// A piece of scratch, in bytes.
struct Extent {
  int64_t offset = 0, bytes = 0;
};

/// A tile in scratch: rows of `length` elements, whole vectors, of which the tile fills `columns`. A tile
/// of one dimension is one row.
struct Buffer {
  mlir::Value memory;   // memref<rows x length x T>
  int64_t rows = 0, columns = 0, length = 0;
  Extent extent;
  explicit operator bool() const { return bool(memory); }
};

/// Hands out pieces of scratch in the order in which the function is written, which is the order in
/// which it runs; so a piece may be handed out again as soon as its last reader has been written.
class Scratch {
public:
  /// The lowest free piece of that size, 64-byte aligned.
  Extent allocate(int64_t bytes);
  void release(Extent extent);
  /// The most that was in use at once.
  int64_t bytes() const { return most; }

private:
  llvm::SmallVector<Extent> used;   // by offset
  int64_t most = 0;
};

} // namespace tw::host
