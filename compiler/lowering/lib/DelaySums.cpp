// Multiplies what warpgroups have exchanged one step later.
//
//   loop: …, publish, dot A, await, dot X, wait, add X       =>    publish nothing of use
//                                                                  loop: …, publish; await, dot X (of the step before); dot A; wait for X, add X; wait for A
//                                                                  await, dot X (of the last step), wait, add X
//
// Within a step warpgroups would else wait for each other, and so multiply and work on elements at the same time; a step apart they find a rhythm.
#include "InFlight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/lowering/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace tw {
#define GEN_PASS_DEF_DELAYSUMS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

/// Of a sum's coordinates, which is the row.
constexpr unsigned rowOfSum = 1;
/// The row of a sum that there is none of: no tensor has it, so that nothing is added.
constexpr int32_t none = -1;

/// What a step does at the cursor of an exchange.
struct Step {
  Block *block = nullptr;
  device::ReserveOp reserve;
  device::PublishOp publish;
  device::AwaitOp await;
  device::MultiplyOp dot;        // null where a careful way adds element by element
  device::ReleaseOp release;
  device::AdvanceOp advance;
  bool others = false;           // something else reads the slot

  // Of a step that can be delayed
  device::PackOp pack;
  device::FenceOp fence;
  device::CommitOp commit;
  device::WaitOp wait;
  device::AddTileOp add;
  Value unless;                  // under which it does not add
};

template <class Op> Op next(Operation *from) {
  for (Operation *op = from->getNextNode(); op; op = op->getNextNode())
    if (auto found = dyn_cast<Op>(op))
      return found;
  return {};
}

bool isInside(Value value, Operation *loop) { return loop->isAncestor(value.getParentBlock()->getParentOp()); }

bool names(Operation *op, Value registers) {
  return op->walk([&](Operation *inner) { return llvm::is_contained(inner->getOperands(), registers) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

/// Finds the rest of a step that multiplies; false where it does more than that with what it exchanges.
bool canDelay(Step &step) {
  auto loop = dyn_cast<scf::ForOp>(step.block->getParentOp());
  if (!loop || !loop->hasAttr("tile.fold") || step.others)
    return false;
  const Value accumulator = step.dot.getAccumulator();
  step.fence = dyn_cast_if_present<device::FenceOp>(step.await->getNextNode());
  step.commit = dyn_cast_if_present<device::CommitOp>(step.dot->getNextNode());
  if (!step.fence || step.fence->getNextNode() != step.dot || step.fence.getRegisters().size() != 1 || step.fence.getRegisters().front() != accumulator || !step.commit || !step.publish->isBeforeInBlock(step.await))
    return false;
  step.wait = next<device::WaitOp>(step.commit);
  step.add = next<device::AddTileOp>(step.commit);
  step.unless = step.add ? step.add.getUnless() : Value();
  if (!step.wait || step.wait.getPending() || !step.add || step.add.getFragment() != accumulator || !step.wait->isBeforeInBlock(step.add))
    return false;
  for (Operation *op = step.commit->getNextNode(); op != step.add; op = op->getNextNode())
    if (op != step.wait && (names(op, accumulator) || isa<device::MultiplyOp>(op)))
      return false;
  for (Operation *op = step.publish->getPrevNode(); op && !step.pack; op = op->getPrevNode())
    if (auto pack = dyn_cast<device::PackOp>(op); pack && pack.getOperand() == step.publish.getOperand())
      step.pack = pack;
  // The other operand is the block's own, and stays; where a sum goes depends on the step.
  bool leaves = false;
  loop.walk([&](Operation *op) { leaves |= isa<device::ReleaseOp, device::AdvanceOp>(op) && op->getOperand(0) == step.dot.getRightCursor(); });
  return step.pack && !leaves && step.add.getCoordinates().size() > rowOfSum && isInside(step.add.getCoordinates()[rowOfSum], loop) && !(step.add.getUnless() && isInside(step.add.getUnless(), loop));
}

class Delay {
public:
  Delay(device::ConsumersOp consumers, device::CursorOp reading) : consumers(consumers), reading(reading) {}

  void run() {
    llvm::MapVector<Block *, Step> found;
    for (Operation *user : reading.getResult().getUsers()) {
      Step &step = found[user->getBlock()];
      step.block = user->getBlock();
      if (auto dot = dyn_cast<device::MultiplyOp>(user); dot && !step.dot)
        step.dot = dot;
      else if (!(take(step.reserve, user) || take(step.publish, user) || take(step.await, user) || take(step.release, user) || take(step.advance, user)))
        step.others = true;
    }
    // What reads a slot under a condition is part of the step around it.
    for (auto &[block, step] : found)
      if (!step.publish)
        for (Operation *op = block->getParentOp(); op; op = op->getParentOp())
          if (auto around = found.find(op->getBlock()); around != found.end() && around->second.publish) {
            around->second.others = true;
            break;
          }
    found.remove_if([](auto &entry) { return !entry.second.publish; });
    llvm::MapVector<Block *, SmallVector<Step>> chains;       // steps of one fold after the other, by where its loops stand
    consumers.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (auto step = found.find(loop.getBody()); step != found.end() && step->second.dot)
        chains[loop->getBlock()].push_back(step->second);
    });
    for (auto &[block, step] : found)
      if (!step.reserve || !step.await || !step.release || !step.advance || (step.dot && !isa<scf::ForOp>(block->getParentOp())))
        return;
    for (auto &[block, steps] : chains)
      if (!llvm::all_of(steps, canDelay))
        return;
    if (chains.empty())
      return;
    OpBuilder b(reading);
    b.setInsertionPointAfter(reading);
    filling = device::CursorOp::create(b, reading.getLoc(), reading.getType(), b.getStringAttr(reading.getName().str() + "_ahead"), reading.getBarriers(), b.getI64IntegerAttr(1), UnitAttr());
    for (auto &[block, step] : found)
      publishAhead(step);
    for (auto &[block, steps] : chains)
      delay(steps);
  }

private:
  device::ConsumersOp consumers;
  device::CursorOp reading;
  Value filling;

  template <class Op> static bool take(Op &place, Operation *user) {
    auto op = dyn_cast<Op>(user);
    if (!op || place)
      return false;
    place = op;
    return true;
  }

  void publishAhead(Step &step) {
    step.reserve.getCursorMutable().assign(filling);
    step.publish.getCursorMutable().assign(filling);
    OpBuilder b(step.publish);
    b.setInsertionPointAfter(step.publish);
    device::AdvanceOp::create(b, step.publish.getLoc(), filling);
  }

  void delay(SmallVector<Step> &steps) {
    // Coordinates that differ from step to step, or between loops, are carried.
    const auto first = steps.front().add.getCoordinates();
    SmallVector<unsigned> carried;
    for (unsigned i = 0; i < first.size(); ++i)
      if (llvm::any_of(steps, [&](Step &step) { return step.add.getCoordinates()[i] != first[i] || isInside(step.add.getCoordinates()[i], step.block->getParentOp()); }))
        carried.push_back(i);
    auto loopOf = [](Step &step) { return cast<scf::ForOp>(step.block->getParentOp()); };
    SmallVector<Value> before = begin(loopOf(steps.front()), steps.front(), carried);
    for (Step &step : steps)
      before = delayIn(loopOf(step), step, carried, before);
    end(loopOf(steps.back()), steps.back(), carried, before);
  }

  /// Something to read for the first step, and where its product goes.
  SmallVector<Value> begin(scf::ForOp loop, Step &step, ArrayRef<unsigned> carried) {
    OpBuilder b(loop);
    Location loc = step.publish.getLoc();
    Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    device::FillOp::create(b, loc, step.pack.getFragment(), zero);
    device::PackOp::create(b, loc, step.pack.getFragment(), step.pack.getOperand());
    for (Operation *op : SmallVector<Operation *>{step.reserve, step.publish})
      b.clone(*op);
    device::AdvanceOp::create(b, loc, filling);
    SmallVector<Value> before;
    for (unsigned i : carried)
      before.push_back(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(i == rowOfSum ? none : 0)));
    return before;
  }

  /// Adds where the step before would have, if there was one. The copy engine drops what lies behind a tensor; what lies before it ends the kernel.
  void addBefore(device::AddTileOp add, Value unless, ArrayRef<unsigned> carried, ValueRange before) {
    MutableOperandRange coordinates = add.getCoordinatesMutable();
    for (auto [i, value] : llvm::zip(carried, before))
      coordinates[i].set(value);
    OpBuilder b(add);
    Location loc = add.getLoc();
    Value zero = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    Value isNone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, add.getCoordinates()[rowOfSum], zero);
    add.getUnlessMutable().assign(unless ? arith::OrIOp::create(b, loc, unless, isNone) : isNone);
  }

  /// Rewrites the step, in a loop that carries the coordinates; returns those of its last step.
  SmallVector<Value> delayIn(scf::ForOp loop, Step &step, ArrayRef<unsigned> carried, ValueRange before) {
    OpBuilder b(loop);
    SmallVector<Value> inits(loop.getInitArgs());
    llvm::append_range(inits, before);
    auto carrying = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
    carrying->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    SmallVector<Value> arguments(carrying.getBody()->getArguments().take_front(loop.getBody()->getNumArguments()));
    SmallVector<Value> yielded(loop.getYieldedValues());
    for (unsigned i : carried)
      yielded.push_back(step.add.getCoordinates()[i]);
    Block *body = carrying.getBody();
    if (!body->empty())
      body->getTerminator()->erase();
    loop.getBody()->getTerminator()->erase();
    body->getOperations().splice(body->end(), loop.getBody()->getOperations());
    for (auto [from, to] : llvm::zip(loop.getBody()->getArguments(), arguments))
      from.replaceAllUsesWith(to);
    b.setInsertionPointToEnd(body);
    auto yield = scf::YieldOp::create(b, loop.getLoc(), yielded);
    for (auto [from, to] : llvm::zip(loop.getResults(), carrying.getResults()))
      from.replaceAllUsesWith(to);
    for (auto [i, argument] : llvm::enumerate(loop.getBody()->getArguments()))
      for (OpOperand &operand : yield->getOpOperands())
        if (operand.get() == argument)
          operand.set(arguments[i]);
    loop.erase();
    step.block = body;

    // The dot goes ahead of what is issued between publishing and it, if that leaves its accumulator alone.
    Operation *ahead = step.publish->getNextNode()->getNextNode();
    bool free = true;
    for (Operation *op = ahead; op != step.await; op = op->getNextNode())
      free &= !op->getNumRegions() && !isa<device::WaitOp>(op) && !names(op, step.dot.getAccumulator());
    if (free && ahead != step.await)
      for (Operation *op : SmallVector<Operation *>{step.await, step.fence, step.dot, step.commit})
        op->moveBefore(ahead);
    // Of the dots in flight, those up to this one are waited for first: its result leaves under the others.
    const auto groups = inFlightBefore(step.wait);
    std::size_t pending = 0;
    while (!llvm::is_contained(groups[groups.size() - 1 - pending], step.dot.getAccumulator()))
      ++pending;
    Operation *behind = step.wait;
    if (pending) {
      b.setInsertionPoint(step.wait);
      device::WaitOp::create(b, step.wait.getLoc(), b.getI64IntegerAttr(int64_t(pending)), freedOf(groups, pending));
      step.wait.getRegistersMutable().assign(freedOf(ArrayRef(groups).take_back(pending), 0));
    } else {
      behind = step.wait->getNextNode();
    }
    for (Operation *op : SmallVector<Operation *>{step.release, step.advance, step.add})
      if (op != behind)
        op->moveBefore(behind);
    addBefore(step.add, step.unless, carried, body->getArguments().take_back(carried.size()));
    return SmallVector<Value>(carrying.getResults().take_back(carried.size()));
  }

  /// What the last step has published.
  void end(scf::ForOp loop, Step &step, ArrayRef<unsigned> carried, ValueRange before) {
    OpBuilder b(loop);
    b.setInsertionPointAfter(loop);
    for (Operation *op : SmallVector<Operation *>{step.await, step.fence, step.dot, step.commit})
      b.clone(*op);
    device::WaitOp::create(b, step.wait.getLoc(), b.getI64IntegerAttr(0), step.dot.getAccumulator());
    for (Operation *op : SmallVector<Operation *>{step.release, step.advance})
      b.clone(*op);
    addBefore(cast<device::AddTileOp>(b.clone(*step.add)), step.unless, carried, before);
  }
};

struct DelaySums : impl::DelaySumsBase<DelaySums> {
  void runOnOperation() override {
    getOperation().walk([&](device::ConsumersOp consumers) {
      for (auto cursor : llvm::to_vector(consumers.getBody().getOps<device::CursorOp>()))
        if (device::barriersOf(cursor).getArrivals() && !device::fills(cursor))
          Delay(consumers, cursor).run();
    });
  }
};

} // namespace
} // namespace tw
