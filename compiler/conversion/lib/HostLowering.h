// HostLowering: how one kernel becomes a host function; the parts are in the Host*.cpp beside it.
#pragma once
#include "HostPlan.h"
#include "HostScratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Tile.h"

namespace tw::host {

/// Vectors that a nest over two axes works on at once. A processor keeps few steps of a long chain of operations in flight,
/// such as an exponential's: of four chains side by side it keeps four times as many.
constexpr int64_t nestVectors = 4;
/// Steps of a product's loop written out: what counts and branches then takes little of what two threads of a core share.
constexpr int64_t depthSteps = 4;

/// What the loops are shaped by.
struct Shape {
  int64_t vectorBytes = 32;
  int64_t registerRows = 6;
  int64_t registerVectors = 2;
};

/// Where in a domain an element, or a vector of elements along its last axis, stands.
struct Point {
  llvm::ArrayRef<mlir::StringAttr> axes;       // of the domain
  llvm::SmallVector<mlir::Value, 2> indices;   // one index each
  int64_t lanes = 1;                           // elements along the last axis
  /// Already computed here; the second map for what does not run along the last axis.
  llvm::DenseMap<mlir::Value, mlir::Value> *elements = nullptr, *rows = nullptr;
  mlir::Operation *rowCodeBefore = nullptr;    // where row code goes: before this loop
};

/// The right operand of a dot: [panel][contracted][column of the panel].
struct Panels {
  mlir::Value memory;
  mlir::Value finite;   // i1: no element is NaN or infinite
  Extent extent;        // of scratch
};

/// A rectangle of some memory, rows by columns, of which parts may lie outside.
struct Rectangle {
  mlir::Value memory;                          // a memref of any strides
  llvm::SmallVector<mlir::Value> offsets;      // indices, one a dimension
  int64_t rowDimension = -1, columnDimension = -1;   // of the memory; -1 for a single row or column
  int64_t rows = 1, columns = 1;
};

class Lowering {
public:
  Lowering(mlir::func::FuncOp kernel, mlir::func::FuncOp host, Shape shape);
  /// Fills the host function in; an error has been emitted where it fails.
  mlir::LogicalResult run();
  /// Bytes of scratch that the function needs, once it has run.
  int64_t scratchBytes() const { return scratch.bytes(); }

private:
  using Value = mlir::Value;
  using Location = mlir::Location;
  /// A memref's facts, as indices, and its elements in one row.
  struct Memory {
    Value flat, offset;
    llvm::SmallVector<Value> sizes, strides;
  };
  struct Placed;
  struct Product;

  // HostBlocks.cpp: blocks, levels, folds
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerAction(mlir::Operation *op, BlockPlan &plan);
  mlir::LogicalResult lowerFold(mlir::scf::ForOp fold, BlockPlan &plan);
  void lowerScalar(mlir::Operation *op);
  void lowerNest(llvm::ArrayRef<Sink> sinks, int level, const BlockPlan &plan);
  void packForInside(mlir::scf::ForOp fold, const BlockPlan &plan, llvm::SmallVectorImpl<Extent> &extents);
  Buffer startCarried(Value init, const BlockPlan &plan);
  void finishStep(mlir::scf::ForOp fold, const BlockPlan &plan);
  void copy(Location loc, Value value, Buffer target, const BlockPlan &plan);
  void makeAvailable(Value value, const BlockPlan &plan);

  // HostKept.cpp: which tiles a fold visits
  mlir::LogicalResult lowerKept(tile::KeptOp op);
  void lowerExtremes(tile::ExtremesOp op);
  void lowerKeptAt(tile::KeptAtOp op);

  // HostSearch.cpp: lists that numbers are looked for in
  struct Found {
    Value all, some;   // i1
  };
  /// Whether all of the numbers from low to high, i64, are among the list's first `few` elements (false of more than 64), and whether some is among its first `many`.
  Found lookThrough(Location loc, Value memory, llvm::ArrayRef<Value> list, Value low, Value high, Value few, Value many);
  Value isAmong(Location loc, Value memory, mlir::ValueRange indices);
  void lowerSearch(tile::ExtremesOp op);

  // HostNests.cpp: loop nests over a domain
  void emitNest(Location loc, mlir::RankedTensorType domain, llvm::ArrayRef<Sink> sinks);
  void emitColumns(Location loc, mlir::RankedTensorType domain, llvm::ArrayRef<Sink> sinks, Value row);
  void emitElements(Location loc, mlir::RankedTensorType domain, llvm::ArrayRef<Sink> sinks, Point &point, int64_t valid,
                    llvm::SmallVectorImpl<Value> &partials);
  Value neutral(Location loc, tile::Combine kind, mlir::Type type);
  Value combine(Location loc, tile::Combine kind, Value x, Value y);
  Value acrossLanes(Location loc, tile::Combine kind, Value vector, int64_t left);
  Buffer lowerGather(tile::GatherOp op);

  // HostElements.cpp: the value of an expression at a point
  Value evaluate(Value value, Point &point);
  Value compute(Value value, Point &point);
  Value computeMask(tile::MaskOp op, Point &point);
  Value read(const Buffer &buffer, Value value, Point &point);
  Value spread(Location loc, Value scalar, int64_t lanes);
  Value coordinates(Location loc, Value start, mlir::StringAttr axis, Point &point);

  // HostMemory.cpp: rectangles of memory to and from scratch
  void describeMemory(Value memory);
  Rectangle rectangle(Value memory, mlir::ValueRange offsets, llvm::ArrayRef<int64_t> dims, mlir::RankedTensorType tile, bool turned);
  Placed place(Location loc, const Rectangle &from);
  /// Into memref<panels x rows x width>; `finite`, if asked for, becomes an i1.
  void load(Location loc, const Rectangle &from, Value into, Value *finite);
  Value loadPlaced(Location loc, const Placed &at, Value into, bool watched);
  void store(Location loc, const Buffer &from, const Rectangle &into);
  /// Adds instead, each element at once: other items may be adding there.
  void accumulate(Location loc, const Buffer &from, const Rectangle &into);
  Value insideAt(Location loc, Value memory, mlir::ValueRange indices);
  Value linear(Location loc, Value memory, mlir::ValueRange indices);
  Value loadOne(Location loc, Value memory, mlir::ValueRange indices);
  void lowerScalarStore(tile::StoreOp op);
  /// Puts a loaded tile (extended, where `element` is wider) into scratch as rows.
  Buffer loadRows(tile::LoadOp op, mlir::Type element);

  // HostDot.cpp: products
  void lowerDot(tile::DotOp dot, Value result, Value added, Buffer target);
  Panels pack(Value operand, llvm::StringRef contracted, mlir::Type element);
  void emitPanel(const Product &product, Value panel, int64_t vectors);
  void emitBlock(const Product &product, Value firstRow, Value panel, int64_t rows, int64_t vectors);
  void emitCareful(const Product &product);
  Value startAt(const Product &product, Value row, Value column);

  // scratch
  Buffer allocate(mlir::Type tile, Location loc);
  Value view(Location loc, Extent extent, llvm::ArrayRef<int64_t> dims, mlir::Type element);
  /// From here on the block being lowered holds the value there, until its last reader.
  void own(Value value, Buffer buffer);
  Buffer disown(Value value);

  Value index(Location loc, int64_t value);
  Value toIndex(Value integer);
  int64_t lanes(mlir::Type element) const { return shape.vectorBytes * 8 / std::max(32u, element.getIntOrFloatBitWidth()); }
  int64_t nestLanes() const { return shape.vectorBytes / 4; }
  int64_t padded(int64_t width) const { return (width + nestLanes() - 1) / nestLanes() * nestLanes(); }
  int64_t panelWidth(mlir::Type element) const { return shape.registerVectors * lanes(element); }

  mlir::func::FuncOp kernel, host;
  Shape shape;
  mlir::OpBuilder b;
  Value scratchMemory;
  Scratch scratch;
  mlir::arith::ConstantIndexOp listOffset;                // where the list of kept tiles begins in scratch: behind everything else
  mlir::IRMapping scalars;                                // values over no axes, and memory
  llvm::DenseMap<Value, Memory> memories;
  llvm::DenseMap<Value, Buffer> buffers;                  // tiles that are in scratch now
  llvm::SmallVector<llvm::SmallVector<Value>> owned;      // of each block being lowered, whose memory it gives back
  llvm::DenseMap<Value, Buffer> targets;                  // where a nest's sinks go
  llvm::DenseMap<Value, Buffer> widened;                  // left operands loaded before a fold
  llvm::DenseMap<std::pair<Value, mlir::Attribute>, Panels> packed;   // right operands packed before a fold
};

/// HostOperations.cpp: an elementwise operation on vectors of its operands' elements, or on scalars.
mlir::Value computeOperation(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands, int64_t lanes);
/// The type of `lanes` elements: a vector, or for one lane the element itself.
mlir::Type laneType(mlir::Type element, int64_t lanes);
/// An element type as it is in scratch: i8 for i1.
mlir::Type storedType(mlir::Type element);

} // namespace tw::host
