// How device-distribute-tiles goes about it: the consumers' tile program is walked block by block. A block is first planned as a
// list of events, then each event is written.
#pragma once
#include "Parameters.h"
#include "SharedTiles.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Device.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>
#include <array>
#include <vector>

namespace tw::distribution {

/// Where a value over axes lives in a thread block.
enum class Space { scalar, row, column, element };

/// One thing that a thread does, in order.
struct Event {
  enum class Kind { scalar, rows, elements, dots0, tiles, dots1, publish, exchanged, wait, control, attempt, load, store, add } kind;   // tiles: reductions of shared tiles
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t width = 0;            // elements: columns of the loop
  bool inFlight = false;        // dots: a wait of its own follows
  bool ends = false;            // wait: the step's tiles are given back
};

/// A block of the tile program as events.
struct Plan {
  std::vector<Event> events;
  llvm::DenseMap<mlir::Operation *, int> eventOf;
};

/// A group of tiles that one cursor walks, and when a step uses it.
struct CursorUse {
  mlir::Value cursor;
  bool ofFold = false;
  llvm::StringRef nested = {};                 // the axis of the fold inside the step that uses it, which awaits and releases it by itself
  mlir::Operation *around = nullptr;   // a loop around the fold, if the tiles serve all of its turns
  Moment first = Moment::dots1, last = Moment::dots0;
};

/// column <predicate> bound + offset, of coordinates that a tile's columns have; the bound is the same for all columns, the offset not positive.
struct ColumnBound {
  mlir::arith::CmpIPredicate predicate;
  mlir::Value column, bound;
  int64_t offset = 0;
  bool isDifference = false;                   // elements would subtract first

  bool isAbove() const { return predicate == mlir::arith::CmpIPredicate::slt || predicate == mlir::arith::CmpIPredicate::sle; }
  bool isBelow() const { return predicate == mlir::arith::CmpIPredicate::sge; }
};

class Distributor {
public:
  /// How many slots there are of what passes between warpgroups, and of what leaves.
  struct Buffers {
    int64_t exchange = 1, outbox = 1;
  };
  Distributor(device::KernelOp kernel, bool interleave, Buffers buffers);
  mlir::LogicalResult run();

private:
  mutable device::KernelOp kernel;
  bool interleave;
  Buffers buffers;
  device::ConsumersOp before;                  // the tile program
  mlir::OpBuilder b;                           // where the distributed one grows
  mlir::Block *body = nullptr;                 // of the new consumers
  Parameters parameters;
  mlir::IRMapping scalars;                     // scalars, cursors, rings
  llvm::DenseMap<mlir::Value, mlir::Value> registers;   // tile values to the registers that hold them
  llvm::DenseMap<mlir::Value, mlir::Value> carriers;    // values to the registers that they must end up in
  llvm::DenseSet<mlir::Value> sums, accumulators;       // registers of carried values of these kinds
  llvm::SmallVector<CursorUse> cursorUses;
  mlir::StringAttr foldAxis;

  //--- planning (DistributionPlan.cpp)
  Space spaceOf(mlir::Value value) const;
  int64_t widthOf(mlir::Value value) const;    // columns of an element or column value
  mlir::FailureOr<Plan> plan(mlir::Block &block);
  /// How the dots of a step follow each other: all of a stage together, each by itself, or each by itself and waited for at once,
  /// because tiles are changed between them.
  enum class Order { byStage, interleaved, serial };
  Order orderOf(mlir::Block &step) const;
  void findCursorUses();
  /// Calls `visit` with every operation that uses the value, looking through broadcasts.
  static void forEachUser(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit);

  //--- control flow and carried values (DistributeTiles.cpp)
  struct Frame {
    mlir::Block *block;
    Plan plan;
    int now = 0;                               // the event being written
  };
  std::vector<Frame> frames;             // of the blocks that enclose the present place, innermost last
  mlir::LogicalResult writeBlock(mlir::Block &block);
  mlir::LogicalResult writeEvent(const Event &event);
  mlir::LogicalResult writeControl(mlir::Operation *op);
  //--- attempts (DistributeAttempt.cpp)
  mlir::LogicalResult writeAttempt(tile::AttemptOp attempt);
  /// Writes a way of an attempt but for its accumulating dots, which are returned; leaves its frame.
  mlir::FailureOr<Event> writeWay(mlir::Block &way);
  /// Computes anew what registers held before the quick way overwrote them.
  mlir::LogicalResult repeatStep(tile::AttemptOp attempt);
  void dropUnrepeatable();
  /// Before an item's fold: no vote has failed yet.
  void startVotes(mlir::Operation *fold);
  mlir::Value warned, spent;             // rows of i1, the same in all of a warp: whether one vote of the item failed, and whether two did
  bool onQuickWay = false;
  llvm::DenseMap<mlir::Operation *, std::array<mlir::Value, 4>> repeatable;   // dots of stage 0: left ring and cursor, right ring and cursor

  mlir::LogicalResult writeFor(mlir::Operation *op);
  mlir::LogicalResult writeIf(mlir::Operation *op);
  /// The careful way of a fold's items and the usual one, which end in the same registers.
  mlir::LogicalResult writeWays(mlir::scf::IfOp ways);
  mlir::LogicalResult makeCarriers(mlir::Operation *op);
  void setCarrier(mlir::Value value, mlir::Value registers);
  mlir::LogicalResult assign(mlir::Value registers, mlir::Value value, mlir::Location loc);
  void joinSums(mlir::Operation *op);

  //--- registers
  struct Pooled {
    mlir::Value registers, occupant;
  };
  llvm::SmallVector<Pooled> pool;
  llvm::SmallVector<mlir::Value> operandPool;
  mlir::Value declare(mlir::Type type, mlir::Value named, llvm::StringRef otherwise);
  /// Registers for an element value made by the present event: those of a value that dies here, if there are any.
  mlir::Value fragmentFor(mlir::Value value) { return fragmentFor(value, widthOf(value)); }
  mlir::Value fragmentFor(mlir::Value value, int64_t width);
  bool isLive(mlir::Value occupant) const;
  int lastUse(mlir::Value value, const Frame &frame) const;
  bool needsRegisters(mlir::Value value) const;

  //--- rows and elements (DistributeElements.cpp, DistributeMasks.cpp)
  llvm::DenseMap<mlir::Value, mlir::Value> local;   // tile values to scalars of the present row or element
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::Value, mlir::Value>> intervals;   // masks to the columns lo and hi that stay, by row
  mlir::LogicalResult writeRows(const Event &event);
  mlir::LogicalResult writeElements(const Event &event);
  /// Reductions of shared tiles along their rows, into vectors that warpgroups make for themselves.
  mlir::LogicalResult writeTileReductions(const Event &event);
  llvm::DenseMap<mlir::Value, mlir::Value> vectors;   // what was reduced to the vector that holds it
  llvm::SmallVector<mlir::Value> vectorPool;
  bool isSumOfLanes(tile::ReduceOp reduce) const;
  mlir::FailureOr<mlir::Value> resolve(mlir::Value value);
  mlir::FailureOr<mlir::Value> resolveColumn(mlir::Value value);
  mlir::Value partedQuotient(mlir::Operation *op);     // null if it is none
  mlir::FailureOr<mlir::Value> compute(mlir::Operation *op);
  mlir::Value loadAt(mlir::Value memory, llvm::ArrayRef<mlir::Value> indices, mlir::Type type, mlir::Location loc);
  mlir::FailureOr<mlir::Value> loadElement(tile::LoadOp load);
  mlir::FailureOr<mlir::Value> gatherElement(tile::GatherOp gather);
  mlir::LogicalResult writeInterval(tile::MaskOp mask);
  std::optional<ColumnBound> columnBound(mlir::Operation *comparison) const;
  bool boundsColumns(mlir::Value condition, mlir::Value start) const;
  mlir::LogicalResult writeBounds(mlir::Value condition, mlir::Value first, llvm::function_ref<mlir::Value(mlir::Value)> keep, mlir::Value &lo, mlir::Value &hi, llvm::SmallVectorImpl<mlir::Value> &held);
  mlir::Value holdsColumn(mlir::Value condition, llvm::ArrayRef<mlir::Value> &held, mlir::Location loc);
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> bounds;   // masks whose conditions are bounds of columns to what of these lo and hi do not say, by row
  mlir::FailureOr<mlir::Value> writeMask(tile::MaskOp mask);
  mlir::Value constant(mlir::Attribute value, mlir::Location loc);
  mlir::Value integer(int64_t n, mlir::Location loc);
  mlir::Value rowPosition(mlir::Value first, mlir::Location loc);
  mlir::Type scalarType(mlir::Type type);

  //--- dots and stores (DistributeDots.cpp)
  struct Accumulation {
    tile::DotOp dot;
    mlir::Value accumulator, factor;           // factor: a row value or scalar, null for 1
  };
  mlir::FailureOr<Accumulation> accumulationOf(tile::DotOp dot);
  mlir::LogicalResult writeRescale(const Accumulation &accumulation);
  mlir::LogicalResult writeDots(const Event &event, Moment moment);
  /// What a dot multiplies. The left operand runs along the block axis.
  struct Operands {
    mlir::Value left;
    device::TileOp leftTile, rightTile;        // leftTile: null where the left operand is computed
    int64_t length = 0;                        // of the contracted axis
    bool transposed = false;                   // the right one is contracted along its rows
    int64_t depth() const { return (length + deepest - 1) / deepest * deepest; }
    static constexpr int64_t deepest = 16;     // elements that one instruction contracts
  };
  mlir::FailureOr<Operands> operandsOf(tile::DotOp dot);
  std::string widthFor(llvm::StringRef axis) const;
  //--- folds inside a step (DistributeNested.cpp)
  mlir::LogicalResult writeNested(mlir::scf::ForOp loop);
  struct Group {
    mlir::Operation *dot;
    Moment moment;
    llvm::SmallVector<mlir::Value> held;       // registers that the dot owns until it is waited for
  };
  llvm::SmallVector<Group> inFlight;           // dots that were issued by themselves, oldest first
  /// Waits for the event's dots, and for those issued before them.
  void writeWait(const Event &event);
  bool isInFlight(mlir::Value registers) const;
  mlir::LogicalResult writeStore(tile::StoreOp store);
  /// Is it read as a whole, many elements at once? Only where nothing multiplies: else registers are too dear.
  bool loadsWhole(tile::LoadOp load);
  mlir::LogicalResult writeLoad(tile::LoadOp load);
  /// Where each of a thread's rows of a rectangle begins, and whether it is inside; and how many of its columns are.
  struct RowPlaces {
    mlir::Value offsets, insides, columns;
  };
  /// `anywhere`: the places may lie outside in other dimensions too.
  RowPlaces rowPlaces(llvm::StringRef tensor, mlir::ValueRange places, int rowDimension, int columnDimension, mlir::Location loc, bool anywhere);
  /// What a left operand is rounded from, and the registers of the right type to round it into that nothing in flight reads.
  mlir::Value sourceOf(mlir::Value operand) const;
  mlir::Value operandRegisters(mlir::Type type, std::size_t first);
  llvm::DenseMap<mlir::Value, mlir::Value> rounded;   // of this step: sources that are packed already
  //--- dots over the block axis, and what is added to tensors (DistributeSums.cpp)
  struct Exchange {
    mlir::Value ring, cursor;
  };
  llvm::SmallVector<Exchange> exchanges;     // of the dots of a step that contract the block axis, in their order
  struct Sum {
    mlir::Value map, outbox;
  };
  llvm::StringMap<Sum> addedTo;              // by tensor
  llvm::DenseMap<mlir::Value, mlir::Value> spoiledTiles;   // rings of right operands of such dots to whether they hold a NaN or an infinity, where a mask hides elements
  /// Looks at such tiles once for an item, when they have come.
  void scanForSums(mlir::Value cursor, mlir::Location loc);
  /// Of an item that may be done again: what is being written.
  enum class Way { only, usual, careful } way = Way::only;
  /// Has the item done again, by the careful way, if such a tile is spoiled: the usual way has added nothing then.
  void sendBackSpoiled(mlir::Operation *fold);
  void releaseExchanges();
  mlir::FailureOr<Exchange> exchangeFor(tile::DotOp dot);
  /// Does each warpgroup make columns of its own of such a dot's result, not rows?
  bool sharesColumns(tile::DotOp dot);
  mlir::LogicalResult writePublish(tile::DotOp dot);
  mlir::LogicalResult writeExchanged(tile::DotOp dot);
  mlir::LogicalResult writeAdd(tile::AccumulateOp sum);
  /// Looks at the tiles of stage 1 that `step` is to isolate, at the present place.
  void scanEarly(mlir::Block &step);
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, mlir::Value> scans;   // what was found, by ring and cursor
  void await(Moment moment);
  void release(Moment moment);
  device::TileOp sharedOperand(mlir::Value operand);
};

/// May weights of this step be 0 because a mask of the program says so?
bool hidesElements(mlir::Block &step, mlir::StringAttr foldAxis);
/// Is it a reduction of a tile that lacks the block axis?
bool isTileReduction(mlir::Operation *op, mlir::StringAttr block);

/// The dot that a sum accumulates, with the sum's other part; null if the value is no such sum.
tile::DotOp accumulatedDot(mlir::Value value);

} // namespace tw::distribution
