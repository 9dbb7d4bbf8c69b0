// Where votes have failed, an item's further steps are the exact ones of a kernel that attempts nothing, in a loop of their own.
//
//   for k … {                            for c over k … eight steps at a time {
//     spent? exact : attempt        =>     if spent, for a warp of the warpgroup { for k in c { exact } } else { for k in c { spent? exact : attempt } }
//   }                                    }
//
// Steps of that loop have no vote, and give tiles back as soon as their dots are done. All warps of a warpgroup go the same way, since its dots stand in
// both, and so they vote, now and then. Which way a step goes depends on its item alone: results do not depend on who computed what before.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/lowering/Passes.h"

namespace tw {
#define GEN_PASS_DEF_LEAVEATTEMPTS
#include "tilewright/lowering/Passes.h.inc"

using namespace mlir;
namespace {

constexpr StringLiteral stageAttr = "device.stage", warpgroupAttr = "device.warpgroup";
constexpr int stepsBetweenVotes = 8;
constexpr int enoughRegisters = 200;     // with those of three warpgroups a second loop spills: causal at D 64 was 2 % slower

/// The branch of a step that attempts: `if spent { yield true } else { quick way; yield refused }`. Null if the loop has none.
scf::IfOp attemptIn(scf::ForOp loop) {
  for (auto branch : loop.getBody()->getOps<scf::IfOp>()) {
    auto spent = branch.getCondition().getDefiningOp<device::AnyOp>();
    if (spent && spent.getUniform() && branch.getNumResults() == 1 && matchPattern(branch.thenYield().getOperand(0), m_One()))
      return branch;
  }
  return {};
}

/// Do its elements wait for global memory? Then a vote costs next to nothing, and one loop more costs the assembler seconds.
bool gathers(scf::ForOp loop) {
  return loop->walk([](device::LoadOp load) { return load->getParentOfType<device::EachElementOp>() ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
}

class Leave {
public:
  explicit Leave(scf::ForOp loop) : loop(loop), loc(loop.getLoc()) {}

  void run() {
    OpBuilder b(loop);
    Value spent = attemptIn(loop).getCondition().getDefiningOp<device::AnyOp>().getRows();
    Value several = arith::MulIOp::create(b, loc, loop.getStep(), arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(stepsBetweenVotes)));
    auto chunks = scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), several);
    b.setInsertionPointToStart(chunks.getBody());
    Value begin = chunks.getInductionVar();
    Value end = arith::MinSIOp::create(b, loc, loop.getUpperBound(), arith::AddIOp::create(b, loc, begin, several));
    auto leaves = device::AnyOp::create(b, loc, spent, UnitAttr());
    leaves->setAttr(warpgroupAttr, b.getUnitAttr());
    auto ways = scf::IfOp::create(b, loc, leaves, /*withElseRegion=*/true);
    loop->moveBefore(ways.elseBlock()->getTerminator());
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
    takeExactWay(cast<scf::ForOp>(OpBuilder(ways.thenBlock()->getTerminator()).clone(*loop)));
  }

private:
  scf::ForOp loop;
  Location loc;

  void takeExactWay(scf::ForOp loop) {
    scf::IfOp attempt = attemptIn(loop);
    OpBuilder b(attempt);
    Value taken = attempt.getResult(0), yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    for (auto branch : llvm::make_early_inc_range(loop.getBody()->getOps<scf::IfOp>()))
      if (branch.getCondition() == taken && !branch.getNumResults()) {
        auto &inside = branch.thenBlock()->getOperations();
        loop.getBody()->getOperations().splice(branch->getIterator(), inside, inside.begin(), std::prev(inside.end()));
        branch.erase();
      }
    taken.replaceAllUsesWith(yes);
    Operation *asks = attempt.getCondition().getDefiningOp();
    attempt.erase();
    asks->erase();
    giveBackEarly(loop);
  }

  /// Nobody computes dots again: their tiles are given back when they are done.
  static void giveBackEarly(scf::ForOp loop) {
    auto waits = loop.getBody()->getOps<device::WaitOp>();
    if (waits.empty())
      return;
    Operation *done = *waits.begin();
    SmallVector<Operation *> ends;
    DenseSet<Value> readAgain;
    for (Operation *op = done->getNextNode(); op; op = op->getNextNode()) {
      auto stage = op->getAttrOfType<IntegerAttr>(stageAttr);
      if (isa<device::ReleaseOp, device::AdvanceOp>(op) && stage && stage.getInt() == 0) {
        if (!readAgain.contains(op->getOperand(0)))
          ends.push_back(op);
        continue;
      }
      op->walk([&](Operation *inner) { readAgain.insert(inner->operand_begin(), inner->operand_end()); });
    }
    for (Operation *op : ends) {
      op->moveAfter(done);
      done = op;
    }
  }
};

struct LeaveAttempts : impl::LeaveAttemptsBase<LeaveAttempts> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    for (auto kernel : getOperation().getOps<device::KernelOp>()) {
      device::ConsumersOp consumers = device::consumersOf(kernel);
      if (consumers.getRegisters() >= enoughRegisters)
        consumers.walk([&](scf::ForOp loop) {
          if (attemptIn(loop) && !gathers(loop))
            loops.push_back(loop);
        });
    }
    for (scf::ForOp loop : loops)
      Leave(loop).run();
  }
};

} // namespace
} // namespace tw
