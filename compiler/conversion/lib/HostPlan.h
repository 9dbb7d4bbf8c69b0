// BlockPlan: in which order a block's operations run, which of its tiles must be in memory, and until when.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <functional>

namespace tw::host {

inline mlir::RankedTensorType tileOf(mlir::Value value) { return mlir::dyn_cast<mlir::RankedTensorType>(value.getType()); }
inline bool isTile(mlir::Value value) { return bool(tileOf(value)); }

/// The axes and widths of a tile, whatever its elements.
mlir::RankedTensorType domainOf(mlir::Value value);

/// Is the operation computed element by element, wherever its value is asked for?
bool isElementwise(mlir::Operation *op);
/// The load behind a tile that memory holds as it is, or as a narrower float that is extended; else null.
tile::LoadOp loadBehind(mlir::Value value);

/// What a nest makes of a tile: it is put into scratch, or reduced.
struct Sink {
  mlir::Value value;           // evaluated at each element
  tile::ReduceOp reduction;    // or null: the value is stored
};

/// A level of a block holds what needs no reduction, dot or fold of the same level or a later one. It
/// runs scalars, then nests over one axis, then nests over two, then actions in the order of the program.
struct Level {
  llvm::SmallVector<mlir::Operation *> scalars;
  llvm::SmallVector<Sink> sinks;
  llvm::SmallVector<mlir::Operation *> actions;   // dots (or the sum that a dot is part of), gathers, folds, stores
};

struct BlockPlan {
  explicit BlockPlan(mlir::Block &block);

  llvm::SmallVector<Level> levels;
  llvm::DenseMap<mlir::Operation *, tile::DotOp> sums;   // arith.addf -> the dot that takes the other operand as its start
  llvm::SetVector<mlir::Value> stored;                   // elementwise values that get memory
  llvm::DenseMap<mlir::Value, int> lastRead;             // the level after which a tile's memory is free
  llvm::DenseMap<mlir::Value, mlir::Value> inPlace;      // a yielded value -> the carried value whose memory it takes over

  int levelOf(mlir::Value value) const;
  /// Has the value memory of its own (as opposed to being computed where it is asked for)?
  bool isLeaf(mlir::Value value) const;
  /// May `next`, stored by a nest of this level, take over the memory of `old`, which that nest reads?
  bool mayTakeOver(mlir::Value next, mlir::Value old, int level) const;
  /// Calls `found` on the leaves of an expression.
  void leaves(mlir::Value value, llvm::function_ref<void(mlir::Value)> found) const;

private:
  struct Time {   // when something reads: level, then 0 or 1 for nests over one or two axes, 2 + i for action i
    int level, phase;
    auto operator<=>(const Time &) const = default;
  };
  struct Reading { Time time; mlir::Type domain; };

  void findSums();
  void findLevels();
  void findStored();
  void fillLevels();
  void findReadings();
  void findInPlace();
  int cost(mlir::Value value, int limit) const;
  void needInside(mlir::scf::ForOp fold);
  void read(mlir::Value expression, Time time, mlir::Type domain);
  Level &at(int level);

  mlir::Block &block;
  llvm::DenseMap<mlir::Value, int> level;
  llvm::DenseMap<mlir::Operation *, int> runs;     // the level in which an operation runs
  llvm::DenseMap<mlir::Operation *, int> phase;    // of an action
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Reading>> readings;
};

} // namespace tw::host
