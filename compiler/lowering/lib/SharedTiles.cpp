// Operands of dots and vectors along the fold axis: what shared memory holds.
#include "SharedTiles.h"
#include "Divisors.h"
#include "NestedFolds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
namespace tw {
namespace {

class Finder {
public:
  Finder(func::FuncOp function, bool byEngine) : function(function), kernel(tile::kernelOf(function)), byEngine(byEngine) {}

  FailureOr<SmallVector<SharedTile>> run() {
    WalkResult walked = function.walk([&](Block *block) {
      llvm::SmallMapVector<StringRef, int, 4> ordinals;   // of the loads of a tensor in this block
      for (Operation &op : *block)
        if (auto load = dyn_cast<tile::LoadOp>(op))
          if (failed(visit(load, ordinals)))
            return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (walked.wasInterrupted())
      return failure();
    return std::move(tiles);
  }

private:
  func::FuncOp function;
  tile::KernelAttr kernel;
  bool byEngine;                    // that copies from multiples of 16 bytes on
  SmallVector<SharedTile> tiles;

  StringRef nameOf(tile::LoadOp load) {
    auto argument = cast<BlockArgument>(load.getMemory());
    return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), tile::tensorAttrName).getValue();
  }
  bool hasRole(Value value, tile::Role role) {
    auto axis = kernel.withRole(role);
    return axis && tile::runsAlong(value, axis.getName().getValue());
  }

  static constexpr int64_t engineBytes = 16;
  /// Bytes, a power of two up to 16, that divide where the tile's rows start in those of the tensor.
  static int64_t divisorOfStart(tile::LoadOp load) {
    if (load.getOffsets().empty())
      return engineBytes;
    const int64_t elements = load->hasAttr(tile::alignedAttrName) ? cast<RankedTensorType>(load.getType()).getDimSize(unsigned(load.getDims().back())) : divisorOf(load.getOffsets().back());
    return std::gcd(engineBytes, elements * int64_t(tile::elementOf(load.getType()).getIntOrFloatBitWidth()) / 8);
  }

  /// Is nothing made of the value but reductions along `columns`, of it or of what is made of it element by element?
  static bool isReduced(Value value, StringRef columns) {
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) { return isReducing(user, columns); });
  }
  static bool isReducing(Operation *user, StringRef columns) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(user))
      return reduce.getAxis() == columns;
    return isa<arith::ArithDialect, math::MathDialect>(user->getDialect()) && user->getNumResults() == 1 && isReduced(user->getResult(0), columns);
  }
  /// Is nothing made of the tile but dots and such reductions?
  static bool isReducedByRow(Value tile, StringRef columns) {
    return !tile.use_empty() && llvm::all_of(tile.getUsers(), [&](Operation *user) { return isa<tile::DotOp>(user) || isReducing(user, columns); });
  }

  LogicalResult visit(tile::LoadOp load, llvm::SmallMapVector<StringRef, int, 4> &ordinals) {
    bool multiplied = llvm::any_of(load->getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); });
    auto axes = tile::axesOf(load.getResult());
    bool vector = axes.size() == 1 && hasRole(load.getResult(), tile::Role::Fold);
    const int64_t last = load.getDims().empty() ? -1 : load.getDims().back();   // of the tensor, among the tile's
    const int64_t divisor = divisorOfStart(load);
    const bool reduced = axes.size() == 2 && last >= 0 && !hasRole(load.getResult(), tile::Role::Block) &&
                         isReducedByRow(load.getResult(), axes[unsigned(last)].getValue());
    if (!multiplied && !vector && !reduced) {
      // Rows, scalars and an element of each score are read from global memory where they are used.
      if (axes.size() < 2 || hasRole(load.getResult(), tile::Role::Block))
        return success();
      return load.emitError() << "reads tensor \"" << nameOf(load) << "\" element by element over two axes of which none is the block axis; on a GPU such a tile is an operand of a dot: make it of values along one axis each, or of coordinates, or run on the CPU (target host)";
    }
    if (multiplied && !reduced && llvm::any_of(load->getUsers(), [](Operation *user) { return !isa<tile::DotOp>(user); }))
      return load.emitError() << "reads tensor \"" << nameOf(load)
                              << "\" both for a dot and for elementwise work; on a GPU nothing is made of the elements of such a tile but reductions "
                                 "along its last dimension: reduce them, or run on the CPU (target host)";
    const bool startsAnywhere = byEngine && last >= 0 && divisor < engineBytes;
    if (startsAnywhere && vector && !multiplied)
      return success();                 // each thread reads the elements that it works on
    if (startsAnywhere)
      return load.emitError() << "reads rows of tensor \"" << nameOf(load) << "\" from an element on of which only multiples of " << divisor
                              << " bytes are known, and the copy engine starts at multiples of 16; take a target that copies without it (h200-sm80), or shift the tensor itself";
    StringRef tensor = nameOf(load);
    int ordinal = ordinals[tensor]++;
    SharedTile *tile = nullptr;
    for (SharedTile &known : tiles)
      if (known.tensor == tensor && known.loads.front().getType() == load.getType() && known.loads.front().getDims() == load.getDims() && known.nested == nestedAxisOf(load) && ordinalOf(known) == ordinal)
        tile = &known;
    if (!tile) {
      auto made = describe(load, tensor, ordinal);
      if (failed(made))
        return failure();
      tile = &tiles.emplace_back(std::move(*made));
    }
    tile->loads.push_back(load);
    tile->divisor = std::min(tile->divisor, divisor);
    for (Operation *user : load->getUsers()) {
      auto dot = dyn_cast<tile::DotOp>(user);
      Moment moment = !dot ? Moment::work : dot.getStage().value_or(0) ? Moment::dots1 : Moment::dots0;
      tile->first = std::min(tile->first, moment);
      tile->last = std::max(tile->last, moment);
    }
    return success();
  }

  static int ordinalOf(const SharedTile &tile) {
    auto at = StringRef(tile.name).rfind('#');
    int ordinal = 0;
    if (at != StringRef::npos)
      (void)StringRef(tile.name).substr(at + 1).getAsInteger(10, ordinal);
    return ordinal;
  }

  FailureOr<SharedTile> describe(tile::LoadOp load, StringRef tensor, int ordinal) {
    SharedTile tile;
    tile.tensor = tensor;
    tile.name = tensor.str() + (ordinal ? "#" + std::to_string(ordinal) : "");
    auto type = cast<RankedTensorType>(load.getType());
    tile.element = type.getElementType();
    tile.nested = nestedAxisOf(load);
    tile.ofFold = !tile.nested.empty() || hasRole(load.getResult(), tile::Role::Fold);
    ArrayRef<int64_t> dims = load.getDims();
    for (int m = 0; m < int(dims.size()); ++m)
      if (dims[m] >= 0) {
        tile.rowDimension = tile.columnDimension;   // the last one is contiguous: it gives the columns
        tile.columnDimension = m;
      }
    auto refuse = [&](const Twine &what) { return load.emitError() << "tensor \"" << tensor << "\" " << what; };
    if (tile.columnDimension != int(dims.size()) - 1)
      return refuse("is copied along axes of which none is its last dimension; the copy engine needs neighbours in memory: store the tensor with one of these axes last"), failure();
    if (dims.size() > 5)
      return refuse("has ") << dims.size() << " dimensions; the copy engine takes at most 5", failure();
    if (type.getRank() == 1) {
      tile.shape = {type.getDimSize(0)};
      constexpr int64_t pieceBytes = 16, mostElements = 256;
      const int64_t bytes = type.getDimSize(0) * int64_t(tile.element.getIntOrFloatBitWidth()) / 8;
      if (bytes % pieceBytes || type.getDimSize(0) > mostElements)
        return refuse("is read by ") << type.getDimSize(0) << " elements, " << bytes << " bytes, a step; a copy takes a multiple of 16 bytes and at most 256 elements: give axis \""
                                     << tile::axesOf(load.getResult()).front().getValue() << "\" such a width in the schedule", failure();
      return tile;
    }
    if (!tile.element.isF16() && !tile.element.isBF16())
      return refuse("holds ") << tile.element << "; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)", failure();
    int64_t rows = type.getDimSize(dims[tile.rowDimension]), columns = type.getDimSize(dims[tile.columnDimension]);
    tile.shape = {rows, columns};
    auto column = kernel.find(tile::axesOf(load.getResult())[dims[tile.columnDimension]].getValue());
    bool whole = column && column.getRole() == tile::Role::Inner && matchPattern(load.getOffsets()[unsigned(tile.columnDimension)], m_Zero());
    if (whole && columns % 64 == 0 && columns > 64 && dims.size() < 5)
      tile.columnLength = columns;                  // may be: the exact length is the binding's business
    if (rows % 8 || rows > 256)
      return refuse("has tiles ") << rows << " rows high; a copy takes a multiple of 8, at most 256: give axis \"" << tile::axesOf(load.getResult())[unsigned(dims[unsigned(tile.rowDimension)])].getValue()
                                  << "\" such a width in the schedule", failure();
    return tile;
  }
};

} // namespace

void sinkBlockTiles(func::FuncOp function) {
  const tile::AxisAttr fold = tile::kernelOf(function).withRole(tile::Role::Fold);
  auto isBlockTile = [&](tile::LoadOp load) {
    return !(fold && tile::runsAlong(load.getResult(), fold.getName().getValue())) && llvm::any_of(load->getUsers(), [](Operation *user) { return isa<tile::DotOp>(user); });
  };
  SmallVector<scf::ForOp> around;
  function.walk([&](scf::ForOp loop) {
    if (!loop->hasAttr("tile.fold") && !loop->hasAttr(nestedAxisAttr) && !loop->getParentOfType<scf::ForOp>())
      around.push_back(loop);
  });
  for (scf::ForOp outer : around) {
    scf::ForOp inner = outer;
    for (auto next = inner.getBody()->getOps<scf::ForOp>(); !next.empty() && !(*next.begin())->hasAttr("tile.fold"); next = inner.getBody()->getOps<scf::ForOp>())
      inner = *next.begin();
    const bool varies = outer.walk([&](tile::LoadOp load) { return isBlockTile(load) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    if (!varies)
      continue;                              // they stay for all turns
    for (auto load : llvm::make_early_inc_range(outer->getBlock()->getOps<tile::LoadOp>()))
      if (llvm::all_of(load->getUsers(), [&](Operation *user) { return isa<tile::DotOp>(user) && outer->isProperAncestor(user); }))
        load->moveBefore(&inner.getBody()->front());
  }
}

FailureOr<SmallVector<SharedTile>> findSharedTiles(func::FuncOp kernel, bool byEngine) { return Finder(kernel, byEngine).run(); }

} // namespace tw
