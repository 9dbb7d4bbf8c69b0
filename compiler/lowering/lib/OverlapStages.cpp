// Runs the dots of stage 1 one step behind.
//
//   first: dots 0, work, dots 1               first: dots 0, work
//   loop:  dots 0, work, dots 1     =>        loop:  issue dots 0, issue dots 1 (of the step before); wait for dots 0; work; wait
//                                                    for dots 1; what touches their registers
//                                             dots 1 (of the last step)
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_OVERLAPSTAGES
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr StringLiteral foldAxisAttr = "tile.fold", stageAttr = "device.stage";

/// A step's operations by what they belong to.
struct Step {
  SmallVector<Operation *> dots0, dots1, work;

  explicit Step(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (op.hasAttr(foldAxisAttr))
        break;                                   // the loops that follow a first step
      auto stage = op.getAttrOfType<IntegerAttr>(stageAttr);
      (!stage ? work : stage.getInt() ? dots1 : dots0).push_back(&op);
    }
  }
  bool canOverlap() const { return !dots0.empty() && !dots1.empty(); }
};

template <class Op> SmallVector<Op> pick(ArrayRef<Operation *> ops) {
  SmallVector<Op> found;
  for (Operation *op : ops)
    if (auto match = dyn_cast<Op>(op))
      found.push_back(match);
  return found;
}

class Overlap {
public:
  explicit Overlap(scf::IfOp fold) : fold(fold), consumers(fold->getParentOfType<device::ConsumersOp>()) {}

  void run() {
    SmallVector<scf::ForOp> loops;
    for (Operation &op : *fold.thenBlock())
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && op.hasAttr(foldAxisAttr))
        loops.push_back(loop);
    Step first(*fold.thenBlock());
    if (loops.empty() || !first.canOverlap() || llvm::any_of(loops, [](scf::ForOp loop) { return !Step(*loop.getBody()).canOverlap(); }))
      return;
    splitCursors(first);
    for (scf::ForOp loop : loops) {
      Step step(*loop.getBody());
      splitCursors(step);
      interleave(Step(*loop.getBody()));
    }
    // A careful way runs one stage after the other, by the same cursors.
    if (auto ways = dyn_cast<scf::IfOp>(fold->getParentOp()); ways && ways->hasAttr(tile::carefulAttrName))
      for (auto loop : ways.thenBlock()->getOps<scf::ForOp>()) {
        Step step(*loop.getBody());
        splitCursors(step);
      }
    // The dots of the last step, after everything else of the item.
    Operation *end = fold.thenBlock()->getTerminator();
    for (Operation *op : first.dots1)
      op->moveBefore(end);
  }

private:
  scf::IfOp fold;
  device::ConsumersOp consumers;
  DenseMap<Value, Value> trailing;      // cursors of tiles of both stages

  Value trailingOf(Value cursor) {
    Value &made = trailing[cursor];
    if (!made) {
      auto leading = cursor.getDefiningOp<device::CursorOp>();
      OpBuilder b(leading);
      b.setInsertionPointAfter(leading);
      made = device::CursorOp::create(b, leading.getLoc(), leading.getType(), b.getStringAttr(leading.getName().str() + "_back"), leading.getBarriers(),
                                      leading.getPhaseAttr(), b.getUnitAttr());
    }
    return made;
  }

  /// Stage 1 reads a tile that stage 0 waits for through a cursor of its own, one step behind.
  void splitCursors(Step &step) {
    DenseSet<Value> awaited;
    for (auto wait : pick<device::AwaitOp>(step.dots0))
      awaited.insert(wait.getCursor());
    DenseSet<Value> shared;
    for (auto release : pick<device::ReleaseOp>(step.dots1))
      if (awaited.contains(release.getCursor()))
        shared.insert(release.getCursor());
    if (shared.empty())
      return;
    SmallVector<Operation *> readers(step.dots1);
    for (auto isolate : pick<device::IsolateOp>(step.work))
      readers.push_back(isolate);
    for (Operation *op : readers)
      for (OpOperand &operand : op->getOpOperands())
        if (shared.contains(operand.get()))
          operand.set(trailingOf(operand.get()));
    Operation *last = step.dots0.back();
    for (auto wait : pick<device::AwaitOp>(step.dots0))
      if (shared.contains(wait.getCursor())) {
        OpBuilder b(last->getContext());
        b.setInsertionPointAfter(last);
        last = device::AdvanceOp::create(b, wait.getLoc(), wait.getCursor());
        last->setAttr(stageAttr, b.getI64IntegerAttr(0));
      }
  }

  void interleave(const Step &step) {
    auto fence0 = pick<device::FenceOp>(step.dots0).front(), fence1 = pick<device::FenceOp>(step.dots1).front();
    auto wait0 = pick<device::WaitOp>(step.dots0).front(), wait1 = pick<device::WaitOp>(step.dots1).front();
    SmallVector<Value> registers(fence0.getRegisters());
    registers.append(fence1.getRegisters().begin(), fence1.getRegisters().end());
    DenseSet<Value> inFlight(fence1.getRegisters().begin(), fence1.getRegisters().end());
    fence0.getRegistersMutable().assign(registers);
    fence1.getRegistersMutable().clear();
    // Everything up to the wait of stage 1 is issued before stage 0 is waited for; the rest comes after the work.
    bool issues = true;
    Operation *behind = step.dots1.back()->getNextNode();
    SmallVector<Operation *> late;
    for (Operation *op : step.dots1) {
      issues &= op != wait1;
      if (issues)
        op->moveBefore(wait0);
      else
        late.push_back(op);
    }
    wait0.setPending(1);
    // Tiles and vectors that late work may read again are given back after it.
    DenseSet<Value> readLate;   // cursors
    SmallVector<Operation *> between;
    for (Operation &op : wait0->getBlock()->getOperations()) {
      if (&op == behind)
        break;
      between.push_back(&op);
    }
    for (Operation *op : between) {
      auto stage = op->getAttrOfType<IntegerAttr>(stageAttr);
      if (llvm::is_contained(late, op) || (stage && stage.getInt() == 1))
        continue;
      if (!stage && touches(op, inFlight)) {
        Operation *part = splitBranch(op, inFlight);
        late.push_back(part);
        part->walk([&](Operation *inner) {
          for (Value operand : inner->getOperands())
            if (isa<device::CursorType>(operand.getType()))
              readLate.insert(operand);
        });
      } else if (isa<device::ReleaseOp, device::AdvanceOp>(op) && readLate.contains(op->getOperand(0))) {
        late.push_back(op);
      }
    }
    for (Operation *op : late)
      op->moveBefore(behind);
  }

  /// What of a branch touches registers in flight, in a branch of its own behind it, so that the rest need not wait; the branch as it is where that
  /// cannot be parted.
  static Operation *splitBranch(Operation *op, const DenseSet<Value> &inFlight) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch || branch.getNumResults() || (branch.elseBlock() && !branch.elseBlock()->without_terminator().empty()))
      return op;
    DenseSet<Value> late = inFlight;   // and what late operations touch besides: order is kept among all that share a register
    SmallVector<Operation *> moved;
    bool anyStays = false;
    for (Operation &inner : branch.thenBlock()->without_terminator()) {
      if (!touches(&inner, late)) {
        anyStays = true;
        continue;
      }
      moved.push_back(&inner);
      inner.walk([&](Operation *part) {
        for (Value operand : part->getOperands())
          if (isa<device::RowsType, device::FragmentType, device::OperandType>(operand.getType()))
            late.insert(operand);
      });
    }
    auto standsHere = [&](Value value) { return value.getParentBlock() == branch.thenBlock() && !llvm::is_contained(moved, value.getDefiningOp()); };
    const bool needsRest = llvm::any_of(moved, [&](Operation *inner) {
      return inner->walk([&](Operation *part) { return llvm::any_of(part->getOperands(), standsHere) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    });
    if (!anyStays || needsRest)
      return op;
    OpBuilder b(branch->getContext());
    b.setInsertionPointAfter(branch);
    auto behind = scf::IfOp::create(b, branch.getLoc(), branch.getCondition(), /*withElseRegion=*/false);
    for (Operation *inner : moved)
      inner->moveBefore(behind.thenBlock()->getTerminator());
    return behind;
  }

  static bool touches(Operation *op, const DenseSet<Value> &registers) {
    return op->walk([&](Operation *inner) {
               return llvm::any_of(inner->getOperands(), [&](Value operand) { return registers.contains(operand); }) ? WalkResult::interrupt() : WalkResult::advance();
             }).wasInterrupted();
  }
};

struct OverlapStages : impl::OverlapStagesBase<OverlapStages> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> folds;
    getOperation().walk([&](scf::IfOp branch) {
      if (branch->hasAttr(foldAxisAttr) && branch->getParentOfType<device::ConsumersOp>())
        folds.push_back(branch);
    });
    for (scf::IfOp fold : folds)
      Overlap(fold).run();
  }
};

} // namespace
} // namespace tw
