// How tile-to-device goes about it: what the roles of a thread block share, then each role's copy of the kernel's function.
#pragma once
#include "ItemLoop.h"
#include "SharedTiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tw::outline {

inline constexpr llvm::StringLiteral foldAxisAttr = "tile.fold";
inline constexpr int64_t chunkColumns = 64, warpsOfWarpgroup = 4;

struct Options {
  llvm::StringRef arch;
  int64_t warpgroups, stages, blockBuffers;
  bool overlap, grouped;
  int64_t blocksPerSM;
  bool strided;
};

/// A shared tile's declarations in the kernel.
struct Ring {
  const SharedTile *tile;
  mlir::Value map, ring;
  unsigned group;      // of tiles that share barriers and cursors
};

/// Tiles that become full and empty together, in the same loops.
struct Group {
  bool ofFold;
  Moment first, last;
  llvm::StringRef nested;    // the axis whose chunks they hold, or empty
  int64_t slots;
  std::string name;
  llvm::SmallVector<mlir::Block *> blocks;
  mlir::Value barriers;
  int64_t bytes = 0;   // of one slot of all its rings
};

/// Does the operation compute scalars of scalars?
[[nodiscard]] bool isScalar(mlir::Operation &op);

class Outline {
public:
  Outline(mlir::func::FuncOp function, Options options);

  llvm::LogicalResult run();

private:
  mlir::func::FuncOp function;
  Options options;
  tile::KernelAttr kernelAttr;
  device::KernelOp kernel;
  int64_t warpgroups = 0, rowsOfWarp = 16;
  llvm::SmallVector<SharedTile> tiles;
  llvm::SmallVector<Ring> rings;
  llvm::SmallVector<Group> groups;
  llvm::DenseMap<mlir::Operation *, unsigned> ringOf;           // by load
  llvm::DenseSet<mlir::Operation *> servingLists;
  bool follows = false;                             // the producer copies tiles of stage 1 one step late
  llvm::SmallVector<std::pair<unsigned, unsigned>> varying;   // of tiles that follow: ring, and a dimension of its tensor along which steps differ

  llvm::LogicalResult check();
  void splitBlockTiles();
  void declareRings();
  int64_t slotsOf(const SharedTile &tile);
  mlir::Value declareMap(mlir::OpBuilder &b, const SharedTile &tile);
  llvm::StringRef tensorOf(mlir::Value memref) {
    return function.getArgAttrOfType<mlir::StringAttr>(llvm::cast<mlir::BlockArgument>(memref).getArgNumber(), tile::tensorAttrName).getValue();
  }

  /// A role's own copy: values of the function to those of the role.
  struct Role {
    mlir::OpBuilder builder;
    mlir::IRMapping mapping;
    llvm::SmallVector<mlir::Value> cursors;   // by group
  };
  void mapArguments(Role &role, const ItemCoordinates &item);
  mlir::Value scalarLoad(Role &role, mlir::Value memory, mlir::ValueRange places, mlir::Type element, mlir::Location loc);
  llvm::LogicalResult copyScalar(Role &role, mlir::Operation &op);
  /// All that a step computes of scalars, but for the loads of tiles.
  llvm::LogicalResult copyScalars(Role &role, mlir::Block &step);
  void makeCursors(Role &role, int64_t phase);

  llvm::LogicalResult makeProducer();
  /// `own`: the block with the tiles that all steps of `block` need. `holdsStep`: the block begins with a step of its own, the first one of a fold.
  llvm::LogicalResult produce(Role &role, mlir::Block &block, mlir::Block &own, bool holdsStep);
  /// Copies the chunks of the folds inside a step.
  llvm::LogicalResult produceNested(Role &role, mlir::Block &step);
  /// `before`: the places of the step before it, of tiles that follow, where these come one step late. Returns those of the last step.
  llvm::FailureOr<llvm::SmallVector<mlir::Value>> produceLoop(Role &role, mlir::scf::ForOp loop, bool late, llvm::ArrayRef<mlir::Value> before);
  /// Copies of the loads of a block; `places` are in place of what `varying` names.
  void copyTiles(Role &role, mlir::Block &block, bool ofFold, llvm::function_ref<bool(const SharedTile &)> which, llvm::ArrayRef<mlir::Value> places = {});
  void copyTile(Role &role, tile::LoadOp load, mlir::Value cursor, llvm::ArrayRef<mlir::Value> places);
  void findVarying(mlir::Block &first);
  tile::LoadOp loadIn(mlir::Block &step, unsigned ring);
  /// Where this step's tiles that follow lie, as `varying` names it.
  llvm::SmallVector<mlir::Value> placesIn(Role &role, mlir::Block &step);

  llvm::LogicalResult makeConsumers();
  llvm::LogicalResult consume(Role &role, mlir::Block &block);
};

} // namespace tw::outline
