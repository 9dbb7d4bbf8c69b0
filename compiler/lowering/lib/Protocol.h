// What device-check-protocol follows along a path through a role: where cursors stand, which dots are in flight, whose turn it is.
#pragma once
#include "tilewright/ir/Device.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetOperations.h"
#include "llvm/ADT/SetVector.h"

namespace tw::protocol {

/// Who fills what and who waits where: the same on every path.
struct Wiring {
  llvm::DenseMap<mlir::Value, mlir::Value> filledUnder;   // rings and mailboxes to the barriers under which the producer fills them
  llvm::DenseMap<mlir::Value, mlir::Value> leading;       // barriers to the consumers' cursor that waits
  llvm::DenseMap<mlir::Value, mlir::Value> trailing;      // barriers to the one that only releases
  llvm::DenseMap<mlir::Value, mlir::Value> publishing;    // barriers to the one at which consumers fill slots, where they read them at another
};

/// Reads it off the kernel; an error where barriers do not fit the roles.
mlir::FailureOr<Wiring> wiringOf(device::KernelOp kernel);

/// A condition, and whether it is to hold.
struct Condition {
  mlir::Value value;
  bool holds = true;
  /// Looks through negations.
  static Condition of(mlir::Value value);
  Condition negated() const { return {value, !holds}; }
  bool operator==(const Condition &other) const { return value == other.value && holds == other.holds; }
};

/// A slot that was read: its number in the sequence of a barrier pair's slots, all rounds counted.
struct Slot {
  mlir::Value barriers;
  int64_t number;
};

/// Where the cursors of a role stand.
class Slots {
public:
  explicit Slots(const Wiring &wiring) : wiring(&wiring) {}

  mlir::LogicalResult acquire(device::AcquireOp op);
  mlir::LogicalResult copy(device::CopyOp op);
  mlir::LogicalResult post(device::PostOp op);
  mlir::LogicalResult list(device::ListTilesOp op);
  mlir::LogicalResult answer(device::SentBackOp op);
  mlir::LogicalResult reserve(device::ReserveOp op);
  mlir::LogicalResult publish(device::PublishOp op);
  mlir::LogicalResult await(device::AwaitOp op);
  mlir::LogicalResult lookAhead(device::LookAheadOp op);
  mlir::LogicalResult advance(device::AdvanceOp op);
  /// The slot that is given back.
  mlir::FailureOr<Slot> release(device::ReleaseOp op);
  /// Slots that may be read at a cursor that looks ahead: its own cursor's, or the next.
  llvm::SmallVector<Slot> readAhead(mlir::Operation *op, mlir::Value memory, device::LookAheadOp ahead);
  /// The slot that is read of a ring or mailbox; `waits`: the operation waits for it by itself.
  mlir::FailureOr<Slot> read(mlir::Operation *op, mlir::Value memory, mlir::Value cursor, bool waits = false);

  /// On a path where `condition` holds, slots that were released under it are, and those released under its opposite are not.
  void assume(Condition condition);
  /// The first difference of two paths that meet, for a message; empty if there is none.
  std::string difference(const Slots &other, llvm::StringRef first, llvm::StringRef second) const;
  /// What is not done, for a message; empty if every cursor rests.
  std::string unfinished() const;

private:
  enum class At { rest, acquired, held, released, perhapsReleased };
  struct Place {
    device::CursorOp cursor;
    At at = At::rest;
    int64_t number = 0;                  // of the slot
    Condition released = {};             // perhapsReleased: where this holds
    int64_t armed = 0, copied = 0;       // bytes
    bool posted = false;
    mlir::Value lookout = {};            // what looks ahead from here, until this advances
  };
  const Wiring *wiring;
  llvm::MapVector<mlir::Value, Place> places;   // by cursor

  Place &placeOf(mlir::Value cursor);
  const Place *find(mlir::Value cursor) const;
  /// Slots that the leading cursor has passed and the trailing one has not.
  int64_t behind(mlir::Value barriers) const;
  /// Slots that this role has published at a cursor of its own, and not left at the reading one.
  int64_t published(mlir::Value barriers) const;
  std::string describe(mlir::Value cursor) const;
};

/// Dots between issue and wait, and which registers a fence has ordered.
class Dots {
public:
  mlir::LogicalResult multiply(device::MultiplyOp op, llvm::ArrayRef<Slot> reads);
  void commit();
  mlir::LogicalResult wait(device::WaitOp op);
  mlir::LogicalResult fence(device::FenceOp op);
  /// Any other operation on registers.
  mlir::LogicalResult touch(mlir::Operation *op);
  /// Refuses an operation that `does` something to a slot which a dot in flight reads.
  mlir::LogicalResult leaveSlot(mlir::Operation *op, Slot slot, llvm::StringRef does) const;

  /// A dot that is not waited for; null if there is none.
  device::MultiplyOp inFlight() const;
  bool isCommitted(device::MultiplyOp op) const { return !llvm::is_contained(issued, op); }
  bool sameInFlight(const Dots &other) const { return issued == other.issued && groups == other.groups; }
  /// Registers that a fence has ordered on both paths.
  void meet(const Dots &other) { llvm::set_intersect(fenced, other.fenced); }

private:
  using Group = llvm::SmallVector<device::MultiplyOp>;
  Group issued;                          // since the last commit
  llvm::SmallVector<Group> groups;       // committed, oldest first
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<Slot>> reads;   // of dots
  llvm::DenseSet<mlir::Value> fenced;    // registers that nothing has touched since a fence that names them

  device::MultiplyOp userOf(mlir::Value registers) const;
  llvm::SetVector<mlir::Value> registersInFlight() const;
};

/// Turns of the warpgroups.
class Turns {
public:
  mlir::LogicalResult turn(device::TurnOp op);
  bool operator==(const Turns &) const = default;
  bool taken() const { return mine; }

private:
  bool started = false, mine = false;
};

} // namespace tw::protocol
