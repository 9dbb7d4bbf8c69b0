// Where votes have failed, an item's further steps are the exact ones of a kernel that attempts nothing, in a loop of their own.
//
//   for k … {                            for c over k … some steps at a time {
//     spent? exact : attempt        =>     if spent, for a warp of the warpgroup { for k in c { exact } } else { for k in c { spent? exact : attempt } }
//   }                                    }
//
// Steps of that loop have no vote, and give tiles back as soon as their dots are done. All warps of a warpgroup go the same way, since its dots stand in
// both, and so they vote, now and then. Which way a step goes depends on its item alone: results do not depend on who computed what before.
//
// With `observe` an item starts as if votes had failed. Behind its first part a row stays that way if the last step scaled what it has by less than what an
// attempt may reach, turned over: there an attempt would have been refused.
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

/// The largest sum that an attempt is held with; infinity if it asks for none.
float boundOf(scf::IfOp attempt) {
  APFloat bound = APFloat::getInf(APFloat::IEEEsingle());
  attempt.getElseRegion().walk([&](arith::CmpFOp compare) {
    APFloat limit = bound;
    if (compare.getPredicate() == arith::CmpFPredicate::OLT && compare.getLhs().getType().isF32() && matchPattern(compare.getRhs(), m_ConstantFloat(&limit)))
      bound = llvm::minimum(bound, limit);
  });
  return bound.convertToFloat();
}

/// The rows by which a step scales all of an accumulator, or null.
Value scaleIn(scf::ForOp loop) {
  for (auto elements : loop.getBody()->getOps<device::EachElementOp>())
    for (auto set : elements.getBody().front().getOps<device::SetOp>()) {
      auto product = set.getValue().getDefiningOp<arith::MulFOp>();
      if (!product)
        continue;
      auto left = product.getLhs().getDefiningOp<device::GetOp>(), right = product.getRhs().getDefiningOp<device::GetOp>();
      if (left && right && left.getRegisters() == set.getRegisters() && isa<device::RowsType>(right.getRegisters().getType()))
        return right.getRegisters();
    }
  return {};
}

struct Parts {
  int steps, first;     // of all parts but the first, of that one
  bool observe;
};

class Leave {
public:
  Leave(scf::ForOp loop, const Parts &parts) : loop(loop), loc(loop.getLoc()), parts(parts) {}

  void run() {
    OpBuilder b(loop);
    Value spent = attemptIn(loop).getCondition().getDefiningOp<device::AnyOp>().getRows();
    Value several = times(b, parts.steps), lower = loop.getLowerBound();
    if (parts.first != parts.steps)
      lower = arith::SubIOp::create(b, loc, lower, times(b, parts.steps - parts.first));
    auto chunks = scf::ForOp::create(b, loc, lower, loop.getUpperBound(), several);
    b.setInsertionPointToStart(chunks.getBody());
    Value begin = chunks.getInductionVar();
    Value end = arith::MinSIOp::create(b, loc, loop.getUpperBound(), arith::AddIOp::create(b, loc, begin, several));
    if (parts.first != parts.steps)
      begin = arith::MaxSIOp::create(b, loc, begin, loop.getLowerBound());
    auto leaves = device::AnyOp::create(b, loc, spent, UnitAttr());
    leaves->setAttr(warpgroupAttr, b.getUnitAttr());
    auto ways = scf::IfOp::create(b, loc, leaves, /*withElseRegion=*/true);
    Value first = loop.getLowerBound();
    const float bound = boundOf(attemptIn(loop));
    loop->moveBefore(ways.elseBlock()->getTerminator());
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
    auto exact = cast<scf::ForOp>(OpBuilder(ways.thenBlock()->getTerminator()).clone(*loop));
    takeExactWay(exact);
    if (Value scale = parts.observe ? scaleIn(exact) : Value())
      observe(chunks, exact, spent, scale, bound, first);
  }

private:
  scf::ForOp loop;
  Location loc;
  Parts parts;

  Value times(OpBuilder &b, int steps) { return arith::MulIOp::create(b, loc, loop.getStep(), arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(steps))); }

  /// All rows are spent until the first part has ended; then those that it finds.
  void observe(scf::ForOp chunks, scf::ForOp exact, Value spent, Value scale, float bound, Value first) {
    OpBuilder b(chunks);
    device::FillOp::create(b, loc, spent, arith::ConstantOp::create(b, loc, b.getBoolAttr(true)));
    b.setInsertionPointAfter(exact);
    Value later = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, exact.getLowerBound(), first);
    auto rows = device::EachRowOp::create(b, loc);
    b.createBlock(&rows.getBody());
    Value by = device::GetOp::create(b, loc, b.getF32Type(), scale);
    Value refused = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, by, arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1 / bound)));
    Value stays = arith::OrIOp::create(b, loc, refused, later);
    device::SetOp::create(b, loc, arith::AndIOp::create(b, loc, device::GetOp::create(b, loc, b.getI1Type(), spent), stays), spent);
  }

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
  using LeaveAttemptsBase::LeaveAttemptsBase;

  void runOnOperation() override {
    if (first < 1 || first > steps) {
      getOperation().emitError() << "device-leave-attempts votes after " << int(first) << " steps, and then after each " << int(steps) << "; expected 1 to " << int(steps) << " of them before the first vote";
      return signalPassFailure();
    }
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
      Leave(loop, {steps, first, observe}).run();
  }
};

} // namespace
} // namespace tw
