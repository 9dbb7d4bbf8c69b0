// Consumers that copy for themselves.
//
//   producer:  for each item { copies of its block's tiles and its first step's; for each step { copies } }
//   consumers: for each item { first step; for each step { … } }
//   =>
//   consumers: for each item { copies of its block's tiles and its first step's
//                              first step, with the copies for the step behind it
//                              for each step { …, with the copies for the step behind it } }
//
// Both roles are made from one function, so their loops are the same ones. Which step comes behind one is a question of bounds: the next turn of its
// loop, or the first of the next loop that has any. Copies go behind the last dots that read the slot that is full at the time: warps may then be a
// whole step apart, and the copies have until the next step. Where a fold is walked anew at each point of loops around it, a point's last step copies nothing.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/lowering/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace tw {
#define GEN_PASS_DEF_MERGEROLES
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr StringLiteral foldAxisAttr = "tile.fold";

bool isCopying(Operation &op) { return isa<device::AcquireOp, device::CopyOp, device::AdvanceOp>(op); }
bool isFold(Operation &op) { return op.hasAttr(foldAxisAttr); }
bool isWays(Operation &op) { return op.hasAttr(tile::carefulAttrName); }

bool copies(Operation *role) {
  return role->walk([](device::CopyOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Whether a loop walks points around a fold.
bool isAround(Operation &op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && !isFold(op) && llvm::any_of(*loop.getBody(), [](Operation &inside) { return isFold(inside) || isWays(inside) || isAround(inside); });
}

scf::ForOp itemLoop(Block &role) {
  for (auto loop : role.getOps<scf::ForOp>())
    if (loop->hasAttr("device.items"))
      return loop;
  return {};
}

SmallVector<scf::ForOp> foldLoops(Block &block) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : block.getOps<scf::ForOp>())
    if (isFold(*loop))
      loops.push_back(loop);
  return loops;
}

/// What fills one slot: of the producer, by its cursor.
struct Fill {
  device::AcquireOp acquire;
  SmallVector<device::CopyOp> copies;
  device::AdvanceOp advance;
};
using Fills = llvm::MapVector<Value, Fill>;

Fills fillsOf(Block &block) {
  Fills fills;
  for (Operation &op : block) {
    if (auto acquire = dyn_cast<device::AcquireOp>(op))
      fills[acquire.getCursor()].acquire = acquire;
    else if (auto copy = dyn_cast<device::CopyOp>(op))
      fills[copy.getCursor()].copies.push_back(copy);
    else if (auto advance = dyn_cast<device::AdvanceOp>(op))
      fills[advance.getCursor()].advance = advance;
  }
  return fills;
}

bool sameCopy(device::CopyOp one, device::CopyOp other) {
  return one.getMap() == other.getMap() && one.getRing() == other.getRing() && one->getAttrDictionary() == other->getAttrDictionary();
}

bool sameCopies(const Fills &one, const Fills &other) {
  return one.size() == other.size() && llvm::all_of(one, [&](auto &fill) {
           auto found = other.find(fill.first);
           return found != other.end() && llvm::equal(fill.second.copies, found->second.copies, sameCopy);
         });
}

class Merge {
public:
  explicit Merge(device::KernelOp kernel) : kernel(kernel), producer(device::producerOf(kernel)), consumers(device::consumersOf(kernel)) {}

  LogicalResult run() {
    if (device::isHopper(kernel))
      return kernel.emitError() << "is for " << kernel.getArch() << ", where one thread copies by an engine of its own; its roles stay apart";
    if (!copies(producer)) {   // consumers read all that they need themselves
      producer.erase();
      return success();
    }
    Block &from = producer.getBody().front(), &to = consumers.getBody().front();
    scf::ForOp produced = itemLoop(from), consumed = itemLoop(to);
    if (!produced || !consumed)
      return kernel.emitError() << "has a role without a loop over items; roles are merged before items are drawn";
    OpBuilder b(consumed);
    for (Operation &op : from) {
      if (&op == produced.getOperation())
        continue;
      Operation *own = b.clone(op, mapping);
      if (auto cursor = dyn_cast<device::CursorOp>(own))
        cursor.setName((cursor.getName() + "_next").str());
    }
    mapping.map(produced.getInductionVar(), consumed.getInductionVar());
    if (failed(merge(*produced.getBody(), *consumed.getBody())))
      return failure();
    producer.erase();
    return success();
  }

private:
  device::KernelOp kernel;
  device::ProducerOp producer;
  device::ConsumersOp consumers;
  IRMapping mapping;   // values of the producer to those of the consumers

  /// Everything of the producer's block goes before the consumers' one, but for its folds.
  LogicalResult merge(Block &from, Block &to) {
    OpBuilder b = OpBuilder::atBlockBegin(&to);
    for (Operation &op : from.without_terminator())
      if (!isFold(op) && !isWays(op) && !isAround(op))
        b.clone(op, mapping);
    SmallVector<Operation *> points, ofConsumers;
    for (auto [block, found] : {std::pair(&from, &points), std::pair(&to, &ofConsumers)})
      for (Operation &op : *block)
        if (isAround(op))
          found->push_back(&op);
    if (points.size() != ofConsumers.size())
      return apart();
    for (auto [one, other] : llvm::zip(points, ofConsumers)) {   // each point has its own first step
      mapping.map(cast<scf::ForOp>(one).getInductionVar(), cast<scf::ForOp>(other).getInductionVar());
      if (failed(merge(*cast<scf::ForOp>(one).getBody(), *cast<scf::ForOp>(other).getBody())))
        return failure();
    }
    auto branches = [](Block &block) {
      SmallVector<scf::IfOp> found;
      for (auto branch : block.getOps<scf::IfOp>())
        if (isFold(*branch) || isWays(*branch))
          found.push_back(branch);
      return found;
    };
    SmallVector<scf::IfOp> produced = branches(from), consumed = branches(to);
    if (produced.size() != consumed.size())
      return apart();
    for (auto [one, other] : llvm::zip(produced, consumed)) {
      if (isWays(*one) != isWays(*other))
        return apart();
      if (failed(merge(*one.thenBlock(), *other.thenBlock())) || (isWays(*one) && failed(merge(*one.elseBlock(), *other.elseBlock()))))
        return failure();
    }
    return copyAhead(from, to, b);
  }

  LogicalResult apart() {
    return kernel.emitError() << "has roles whose loops differ, and which cannot be merged; take a schedule with producer=yes";
  }

  /// The copies of the loops of `from`, each in the step before it; `b` stands behind the copies for the first step.
  LogicalResult copyAhead(Block &from, Block &to, OpBuilder &b) {
    SmallVector<scf::ForOp> produced = foldLoops(from), consumed = foldLoops(to);
    if (produced.size() != consumed.size())
      return apart();
    if (produced.empty())
      return success();
    const Fills fills = fillsOf(*produced.front().getBody()), before = fillsOf(from);
    for (scf::ForOp loop : produced)
      if (loop.getNumResults() || !sameCopies(fills, fillsOf(*loop.getBody())))
        return apart();
    for (auto &[cursor, fill] : fills)
      if (device::barriersOf(cursor).getResult().getType().getSlots() < 2)
        return fill.acquire->emitError()
               << "fills a ring of one slot, which is read while the next step's tiles come; take a schedule with stages=2, or with producer=yes";

    ArrayRef<scf::ForOp> loops(produced);
    const bool hasFirst = llvm::any_of(fills, [&](auto &fill) { return before.count(fill.first); });   // a step before the loops
    Next first = nextOf(b, {}, Value(), loops, fills);
    if (!hasFirst)
      write(fills, first, [&](Value) { return b; });
    else if (failed(writeInto(to, fills, first)))
      return failure();
    for (auto [i, loop] : llvm::enumerate(consumed)) {
      OpBuilder inside = OpBuilder::atBlockBegin(loop.getBody());
      if (failed(writeInto(*loop.getBody(), fills, nextOf(inside, loops[i], loop.getInductionVar(), loops.drop_front(i + 1), fills))))
        return failure();
    }
    return success();
  }

  /// The step behind one: whether there is any, and the coordinates of all its copies in order.
  struct Next {
    Value any;
    SmallVector<Value> coordinates;
  };

  /// Behind the turn `at` of `loop`, which may be none, or else the first turn of one of `later`.
  Next nextOf(OpBuilder &b, scf::ForOp loop, Value at, ArrayRef<scf::ForOp> later, const Fills &fills) {
    Location loc = kernel.getLoc();
    Next next;
    auto add = [&](scf::ForOp turned, Value turn) {
      Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, turn, mapping.lookupOrDefault(turned.getUpperBound()));
      SmallVector<Value> coordinates = coordinatesAt(b, turned, turn, fills);
      if (!next.any) {
        next = {more, coordinates};
        return;
      }
      for (auto [earlier, own] : llvm::zip(next.coordinates, coordinates))
        earlier = arith::SelectOp::create(b, loc, next.any, earlier, own);
      next.any = arith::OrIOp::create(b, loc, next.any, more);
    };
    if (loop)
      add(loop, arith::AddIOp::create(b, loc, at, mapping.lookupOrDefault(loop.getStep())));
    for (scf::ForOp other : later)
      add(other, mapping.lookupOrDefault(other.getLowerBound()));
    return next;
  }

  SmallVector<Value> coordinatesAt(OpBuilder &b, scf::ForOp loop, Value turn, const Fills &fills) {
    IRMapping local(mapping);
    local.map(loop.getInductionVar(), turn);
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isCopying(op))
        b.clone(op, local);
    SmallVector<Value> coordinates;
    const Fills own = fillsOf(*loop.getBody());
    for (auto &[cursor, fill] : fills)
      for (device::CopyOp copy : own.find(cursor)->second.copies)
        for (Value coordinate : copy.getCoordinates())
          coordinates.push_back(local.lookupOrDefault(coordinate));
    return coordinates;
  }

  /// Fills where there is a next step, each at its place.
  void write(const Fills &fills, const Next &next, llvm::function_ref<OpBuilder(Value)> place) {
    ArrayRef<Value> rest(next.coordinates);
    for (auto &[cursor, fill] : fills) {
      OpBuilder b = place(cursor);
      auto branch = scf::IfOp::create(b, fill.acquire->getLoc(), next.any, false);
      OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
      inside.clone(*fill.acquire, mapping);
      for (device::CopyOp copy : fill.copies) {
        const std::size_t count = copy.getCoordinates().size();
        cast<device::CopyOp>(inside.clone(*copy, mapping)).getCoordinatesMutable().assign(rest.take_front(count));
        rest = rest.drop_front(count);
      }
      inside.clone(*fill.advance, mapping);
    }
  }

  /// Into a step: behind its last dots that read what was filled before, or where it waits for that.
  LogicalResult writeInto(Block &step, const Fills &fills, const Next &next) {
    llvm::DenseMap<Value, Operation *> places;   // by barriers
    SmallVector<Value> read;
    for (Operation &op : step) {
      if (isFold(op))
        break;   // the loops behind a first step
      if (auto await = dyn_cast<device::AwaitOp>(op))
        places[device::barriersOf(await.getCursor()).getResult()] = await;
      if (auto dot = dyn_cast<device::MultiplyOp>(op))
        read.push_back(device::barriersOf(dot.getRightCursor()).getResult());
      if (isa<device::WaitOp>(op)) {
        for (Value barriers : read)
          places[barriers] = &op;
        read.clear();
      }
    }
    for (auto &[cursor, fill] : fills)
      if (!places.count(device::barriersOf(cursor).getResult()))
        return apart();
    write(fills, next, [&](Value cursor) {
      OpBuilder b(kernel.getContext());
      b.setInsertionPointAfter(places.lookup(device::barriersOf(cursor).getResult()));
      return b;
    });
    return success();
  }
};

struct MergeRoles : impl::MergeRolesBase<MergeRoles> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<device::KernelOp>())
      if (device::producerOf(kernel) && failed(Merge(kernel).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tw
