// Issues the first dot of a step in the one before.
//
//   loop: dot S, work, dots, wait, results leave     =>     if there is a step { dot S, wait }
//                                                           loop: work, dots, wait for all but one; dot S (of the next step), wait for that one, results leave, wait for S
//
// So results leave under a dot, and the next step begins with work. Where there is no next step the dot reads the tile of this one, and nobody its result: a branch around it would have the
// assembler wait for each of a step's dots at once.
#include "InFlight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/lowering/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace tw {
#define GEN_PASS_DEF_ISSUEAHEAD
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

struct Step {
  scf::ForOp loop;
  device::AwaitOp await;          // of the tile that is a step's own
  device::FenceOp fence;
  device::MultiplyOp dot;
  device::CommitOp commit;
  device::ReleaseOp release;
  device::AdvanceOp advance;
  device::WaitOp behind;          // the first wait behind the step's last dot: that one and others are in flight up to it
};

bool touches(Operation *op, Value value) {
  return op->walk([&](Operation *inner) { return llvm::is_contained(inner->getOperands(), value) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

/// The step of such a loop; nothing where it begins in another way, or somebody else needs its registers.
std::optional<Step> stepOf(scf::ForOp loop) {
  Step step{loop};
  Block &body = *loop.getBody();
  auto dots = body.getOps<device::MultiplyOp>();
  if (dots.empty())
    return std::nullopt;
  step.dot = *dots.begin();
  step.fence = dyn_cast_if_present<device::FenceOp>(step.dot->getPrevNode());
  step.commit = dyn_cast_if_present<device::CommitOp>(step.dot->getNextNode());
  const Value result = step.dot.getAccumulator();
  if (step.dot.getAccumulate() || !step.dot.getLeftCursor() || !step.fence || !step.commit || step.fence.getRegisters().size() != 1 || step.fence.getRegisters().front() != result)
    return std::nullopt;
  // One of its operands is the step's, the other one stays.
  for (Value cursor : {step.dot.getLeftCursor(), step.dot.getRightCursor()})
    for (Operation &op : body) {
      const bool ofStep = isa<device::AwaitOp, device::ReleaseOp, device::AdvanceOp>(op) && op.getOperand(0) == cursor;
      if (!ofStep)
        continue;
      if (auto await = dyn_cast<device::AwaitOp>(op)) {
        if (step.await || !await->isBeforeInBlock(step.dot))
          return std::nullopt;
        step.await = await;
      } else if (auto release = dyn_cast<device::ReleaseOp>(op)) {
        step.release = release;
      } else {
        step.advance = cast<device::AdvanceOp>(op);
      }
    }
  if (!step.await || !step.release || !step.advance || step.release.getCursor() != step.await.getCursor() || step.advance.getCursor() != step.await.getCursor() || step.release.getCondition())
    return std::nullopt;
  // Behind the last dot nobody needs the registers any more.
  device::CommitOp last;
  for (auto commit : body.getOps<device::CommitOp>())
    last = commit;
  for (Operation *op = last->getNextNode(); op && !step.behind; op = op->getNextNode())
    step.behind = dyn_cast<device::WaitOp>(op);
  if (last == step.commit || !step.behind || !step.behind->isBeforeInBlock(step.release))
    return std::nullopt;
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode())
    if (touches(op, result))
      return std::nullopt;
  for (auto dot : dots)
    if (dot != step.dot && dot.getAccumulator() == result)
      return std::nullopt;
  return step;
}

/// Of the step's last two dots the one that reads tiles alone goes last: the operand of the other one is free the sooner.
void issueTilesLast(Step &step) {
  SmallVector<device::CommitOp> commits(step.loop.getBody()->getOps<device::CommitOp>());
  if (commits.size() < 2)
    return;
  device::CommitOp last = commits.back(), earlier = commits[commits.size() - 2];
  auto dot = dyn_cast<device::MultiplyOp>(last->getPrevNode()), ofTiles = dyn_cast<device::MultiplyOp>(earlier->getPrevNode());
  auto start = ofTiles ? dyn_cast_if_present<device::FenceOp>(ofTiles->getPrevNode()) : device::FenceOp();
  if (!dot || !start || ofTiles == step.dot || !ofTiles.getLeftCursor() || dot.getLeftCursor())
    return;
  // All that belongs to the last one moves with it.
  SmallVector<Operation *> moved;
  for (Operation *op = earlier->getNextNode(); op != last; op = op->getNextNode()) {
    if (isa<device::AwaitOp, device::WaitOp, device::ReleaseOp, device::AdvanceOp>(op) || touches(op, ofTiles.getAccumulator()))
      return;
    moved.push_back(op);
  }
  moved.push_back(last);
  Operation *first = start;
  if (auto await = dyn_cast_if_present<device::AwaitOp>(start->getPrevNode()))
    first = await;
  for (Operation *op : moved)
    op->moveBefore(first);
  // What was waited for first is now the last.
  step.behind.setPending(0);
  SmallVector<device::WaitOp> waits(step.loop.getBody()->getOps<device::WaitOp>());
  for (device::WaitOp wait : waits)
    if (wait == step.behind || step.behind->isBeforeInBlock(wait)) {
      const SmallVector<Value> freed = freedOf(inFlightBefore(wait), std::size_t(wait.getPending()));
      if (freed.empty())
        wait.erase();
      else
        wait.getRegistersMutable().assign(freed);
    }
}

/// Is there a turn of the loop?
Value isEntered(OpBuilder &b, scf::ForOp loop) { return arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound()); }

struct IssueAhead : impl::IssueAheadBase<IssueAhead> {
  void runOnOperation() override {
    llvm::MapVector<Block *, SmallVector<scf::ForOp>> folds;      // loops of one fold follow each other
    getOperation().walk([&](device::ConsumersOp consumers) {
      consumers.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
        bool isCareful = false;
        for (Operation *op = loop; op; op = op->getParentOp())
          if (auto ways = dyn_cast_if_present<scf::IfOp>(op->getParentOp()); ways && ways->hasAttr(tile::carefulAttrName))
            isCareful |= op->getParentRegion() == &ways.getThenRegion();
        if (loop->hasAttr("tile.fold") && !isCareful && llvm::none_of(loop.getBody()->getOps<scf::ForOp>(), [](scf::ForOp inner) { return inner->hasAttr("tile.fold"); }))
          folds[loop->getBlock()].push_back(loop);
      });
    });
    for (auto &[block, loops] : folds) {
      SmallVector<Step> steps;
      for (scf::ForOp loop : loops)
        if (auto step = stepOf(loop))
          steps.push_back(*step);
      auto isAlike = [&](const Step &step) {
        device::MultiplyOp dot = step.dot, first = steps.front().dot;
        return dot->getOperands() == first->getOperands() && dot->getAttrDictionary() == first->getAttrDictionary();
      };
      if (!steps.empty() && steps.size() == loops.size() && llvm::all_of(steps, isAlike))
        issueAhead(steps);
    }
  }

  static void issueAhead(MutableArrayRef<Step> steps) {
    begin(steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Step &step = steps[i];
      issueTilesLast(step);
      OpBuilder b(step.behind);
      Location loc = step.dot.getLoc();
      // With one of the step's dots in flight, so that the tensor cores have work; with more, operands in registers would be too many.
      if (const auto groups = inFlightBefore(step.behind); !step.behind.getPending() && groups.size() > 1)
        device::WaitOp::create(b, loc, b.getI64IntegerAttr(1), freedOf(groups, 1));
      else
        b.setInsertionPointAfter(step.behind);
      scf::ForOp loop = step.loop;
      Value next = arith::AddIOp::create(b, loc, loop.getInductionVar(), loop.getStep());
      Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, next, loop.getUpperBound());
      for (Step &later : steps.drop_front(i + 1))
        more = arith::OrIOp::create(b, loc, more, isEntered(b, later.loop));
      const Value result = step.dot.getAccumulator();
      Operation *issued = issue(b, step, device::LookAheadOp::create(b, loc, step.await.getCursor().getType(), step.await.getCursor(), more));
      // The step's tile is given back last: it may be what the dot reads.
      b.setInsertionPoint(loop.getBody()->getTerminator());
      device::WaitOp::create(b, loc, b.getI64IntegerAttr(0), result);
      step.release->moveBefore(loop.getBody()->getTerminator());
      step.advance->moveBefore(loop.getBody()->getTerminator());
      for (Operation *op : SmallVector<Operation *>{step.fence, step.dot, step.commit})
        op->erase();
      for (auto wait : llvm::make_early_inc_range(loop.getBody()->getOps<device::WaitOp>())) {
        if (issued->isBeforeInBlock(wait) && !llvm::is_contained(wait.getRegisters(), result))
          wait.setPending(wait.getPending() + 1);
        const SmallVector<Value> freed = freedOf(inFlightBefore(wait), std::size_t(wait.getPending()));
        if (freed.empty())
          wait.erase();
        else
          wait.getRegistersMutable().assign(freed);
      }
    }
  }

  /// The first step's dot, where there is one.
  static void begin(MutableArrayRef<Step> steps) {
    Step &first = steps.front();
    OpBuilder b(first.loop);
    Location loc = first.dot.getLoc();
    Value any = isEntered(b, first.loop);
    for (Step &later : steps.drop_front())
      any = arith::OrIOp::create(b, loc, any, isEntered(b, later.loop));
    auto branch = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
    OpBuilder inside = OpBuilder::atBlockBegin(branch.thenBlock());
    issue(inside, first, device::LookAheadOp::create(inside, loc, first.await.getCursor().getType(), first.await.getCursor(), Value()));
    device::WaitOp::create(inside, loc, inside.getI64IntegerAttr(0), first.dot.getAccumulator());
  }

  /// The step's first dot, of the tile that stands at another cursor.
  static Operation *issue(OpBuilder &b, Step &step, Value ahead) {
    b.clone(*step.fence);
    Operation *dot = b.clone(*step.dot);
    for (OpOperand &operand : dot->getOpOperands())
      if (operand.get() == step.await.getCursor())
        operand.set(ahead);
    b.clone(*step.commit);
    return dot;
  }
};

} // namespace
} // namespace tw
