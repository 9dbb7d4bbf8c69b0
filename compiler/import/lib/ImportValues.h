// Values of the DSL as operations of a kernel.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/dsl/Schedule.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <string>

namespace tw {

/// The arguments of the kernel, by name.
struct KernelArguments {
  std::map<std::string, mlir::Value> tensors, extents, scalars;
  std::map<std::string, mlir::Value> starts;   // by axis: first coordinate of the item's tile
};

struct ImportContext {
  const Roles &roles;
  const Schedule &schedule;
  KernelArguments &arguments;
};

/// The width of a tile along an axis; throws ProgramError where the schedule does not say.
[[nodiscard]] int widthOf(const Roles &roles, const Schedule &schedule, const Axis &axis);
/// A type of the DSL as an element of a value, and in memory, where a bool takes a byte.
[[nodiscard]] mlir::Type elementType(mlir::Builder &builder, Type type);
[[nodiscard]] mlir::Type memoryType(mlir::Builder &builder, Type type);

/// Imports nodes on demand, each once: what does not depend on the fold before the loop, the rest of a
/// step in it, results after it.
class ImportValues {
public:
  ImportValues(mlir::OpBuilder &builder, ImportContext context) : b(builder), roles(context.roles), schedule(context.schedule), arguments(context.arguments) {}

  /// The node in element type `type`, over exactly `axes` (those that are not free).
  mlir::Value atAxes(const Tile &tile, Type type, const Axes &axes);
  /// Converts a value of type `type` to what memory holds.
  mlir::Value toMemory(mlir::Value value, Type type, mlir::Location where);

  /// Goes into the loop of a fold, inside those entered before.
  void enter(const Fold &fold, mlir::scf::ForOp loop);
  /// Ends the innermost loop's body and goes behind the loop.
  void leave(mlir::ValueRange yields);

  mlir::Value tensor(const std::string &name) { return arguments.tensors.at(name); }
  mlir::Value extent(const Axis &axis) { return arguments.extents.at(axis.name()); }
  /// The first coordinate of the present tile of an axis; the coordinate itself of a free one.
  mlir::Value startOf(const Axis &axis, mlir::Location where);
  mlir::Value integer(std::int64_t value, mlir::Location where);

  /// Block axis first, then the fold, then inner axes; free axes are dropped.
  [[nodiscard]] Axes inTileOrder(const Axes &axes) const;
  /// The dimension of `axis` in a tile over `tiled`, -1 for a free one.
  [[nodiscard]] static std::int64_t dimensionOf(const Axes &tiled, const Axis &axis);
  /// The user's line under the name of what is made there.
  static mlir::Location location(mlir::Builder &builder, tw::Location where, llvm::StringRef name);

private:
  mlir::Value get(const Tile &tile);                               // as imported: own type, own axes
  mlir::Value get(const Tile &tile, Type type, const Axes &axes);  // converted and broadcast
  mlir::Value compute(const Tile &tile);
  mlir::Value load(const Tile &tile);
  mlir::Value search(const Tile &tile);
  mlir::Value reduce(const Tile &tile);
  mlir::Value dot(const Tile &tile);
  mlir::Value elementwise(const Tile &tile);
  mlir::Value integerArithmetic(Op op, mlir::Value a, mlir::Value c, mlir::Location where);
  mlir::Value floatArithmetic(Op op, mlir::Value a, mlir::Value c, mlir::Location where);
  mlir::Value compare(Op op, mlir::Value a, mlir::Value c, mlir::Location where);
  mlir::Value function(Op op, mlir::Value a, mlir::Location where);
  mlir::Value convert(mlir::Value value, Type from, Type to, mlir::Location where);
  mlir::Value constant(double value, mlir::Type type, mlir::Location where);
  mlir::Value nonzero(mlir::Value divisor, mlir::Location where);
  mlir::Value placesWithin(mlir::Value places, mlir::Location where);
  mlir::Value randomNumbers(const Tile &tile);
  mlir::Type typeOver(Type type, const Axes &axes);
  /// How many of the loops a value stands in: as many as it depends on the axes or carried values of.
  std::size_t depthOf(const Tile &tile);
  bool uniform(const Tile &tile) const;                            // over free axes only
  mlir::Location locationOf(const Tile &tile);

  mlir::OpBuilder &b;
  const Roles &roles;
  const Schedule &schedule;
  KernelArguments &arguments;
  llvm::DenseMap<const Node *, mlir::Value> values;
  llvm::DenseMap<const Node *, std::size_t> depths;
  std::map<const Node *, std::pair<std::string, tw::Location>> names;   // given by `named` nodes
  struct Loop {
    const Fold &fold;
    mlir::scf::ForOp op;
  };
  std::vector<Loop> loops;                                         // entered and not left, the outermost first
  llvm::SmallVector<mlir::Value> results;                          // of the outermost loop, once it is left
};

} // namespace tw
