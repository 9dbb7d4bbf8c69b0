// tile-hold-stabiliser: a quick way for steps whose stabilisers need not move.
//
//   top = stabiliser(max(m, max(x))), w = exp2(x - top), acc·exp2(m - top) + dot(w, v)
//     with top := m  =>  w = exp2(x - m), acc + dot(w, v),  if sum(w) stays small
//
// The evaluator takes each held value to be the argument, and the step is rebuilt from what then is known.
#include "Evaluator.h"
#include "FoldAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tilewright/transforms/Passes.h"
#include <limits>

namespace tw {
#define GEN_PASS_DEF_HOLDSTABILISER
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

/// Why a fold is left as it is; empty if it is not.
using Reason = std::string;

class Step {
public:
  Step(scf::ForOp loop, double limit) : loop(loop), body(*loop.getBody()), limit(limit) {}
  Reason hold();

private:
  bool findHeld();
  void findUnchanged();
  void dropFactorsOfOne(SmallVector<Value> &values);
  Reason checkQuick(const SmallVector<Value> &values);
  Reason guard(Operation *exponential);
  Value conjunction(OpBuilder &b);
  void shareAndMove(tile::AttemptOp attempt);

  scf::ForOp loop;
  Block &body;
  double limit;
  Evaluator before, held;
  llvm::DenseSet<Value> unchanged;             // of the body, the same both ways
  llvm::SmallVector<Value> heldArguments;
  Block *quick = nullptr;
  llvm::DenseSet<Value> dependent;             // of the quick way, on held arguments
  SmallVector<std::pair<Value, double>> sums;  // each must stay under its limit
};

StringRef kindOf(scf::ForOp loop, unsigned i) { return cast<StringAttr>(loop->getAttrOfType<ArrayAttr>(foldCarriedAttr)[i]).getValue(); }

bool Step::findHeld() {
  for (auto [i, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    if (!yielded.getDefiningOp<tile::StabiliserOp>() || kindOf(loop, i) != "value")
      continue;
    Value argument = loop.getRegionIterArg(i);
    held.assume(yielded, Known::equal(argument));
    held.assumeFinite(argument);
    heldArguments.push_back(argument);
  }
  return !heldArguments.empty();
}

void Step::findUnchanged() {
  unchanged.insert_range(body.getArguments());
  for (Operation &op : body.without_terminator()) {
    bool same = op.getNumRegions() == 0;
    for (Value operand : op.getOperands())
      same &= operand.getParentBlock() != &body || unchanged.contains(operand);
    for (Value result : op.getResults())
      same &= held.evaluate(result) == before.evaluate(result);
    if (same)
      unchanged.insert_range(op.getResults());
  }
}

/// An exponential that depends on a held value: its sum along the fold axis, which the step has anyway, bounds it.
Reason Step::guard(Operation *exponential) {
  StringRef axis = loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue();
  Value value = exponential->getResult(0);
  double bound = 1e18;
  Value sum;
  for (Operation *user : value.getUsers()) {
    if (auto reduce = dyn_cast<tile::ReduceOp>(user); reduce && reduce.getKind() == tile::Combine::Sum && reduce.getAxis() == axis)
      sum = reduce;
    if (auto dot = dyn_cast<tile::DotOp>(user); dot && tile::elementOf(dot.getRhs().getType()).isF16())
      bound = 32768;
  }
  if (!sum)
    return "an exponential of a held value has no sum along \"" + axis.str() + "\" in the step, so nothing bounds it";
  if (tile::axesOf(sum).size() > 1)
    return "the sum that bounds an exponential runs along more than the block axis";
  sums.emplace_back(sum, limit > 0 ? limit : bound);
  return {};
}

/// acc · 1 + x  =  acc + x
void Step::dropFactorsOfOne(SmallVector<Value> &values) {
  for (auto fma : llvm::make_early_inc_range(quick->getOps<math::FmaOp>())) {
    if (uniformConstant(fma.getB()) != 1.0)
      continue;
    OpBuilder b(fma);
    Value sum = arith::AddFOp::create(b, fma.getLoc(), fma.getA(), fma.getC());
    llvm::replace(values, Value(fma), sum);
    fma.getResult().replaceAllUsesWith(sum);
    fma.erase();
  }
}

Reason Step::checkQuick(const SmallVector<Value> &values) {
  for (Operation &op : *quick) {
    bool depends = llvm::any_of(op.getOperands(), [&](Value v) { return dependent.contains(v) || llvm::is_contained(heldArguments, v); });
    if (!depends)
      continue;
    dependent.insert_range(op.getResults());
    if (isa<math::ExpOp, math::Exp2Op>(op))
      if (Reason reason = guard(&op); !reason.empty())
        return reason;
    auto dot = dyn_cast<tile::DotOp>(op);
    if (dot && (dependent.contains(dot.getRhs()) || !isa_and_nonnull<math::ExpOp, math::Exp2Op>(dot.getLhs().getDefiningOp())))
      return "a dot takes a held value otherwise than as an exponential on its left, so nothing bounds it";
  }
  for (auto [i, value] : llvm::enumerate(values)) {
    auto sum = value.getDefiningOp<arith::AddFOp>();
    for (auto before = sum; before; before = before.getLhs().getDefiningOp<arith::AddFOp>())
      sum = before;                            // to which the first of several dots is added
    bool kept = sum && llvm::is_contained(sum.getOperands(), Value(loop.getRegionIterArg(i)));
    if (kindOf(loop, i) == "accumulator" && !kept)
      return "carried value #" + std::to_string(i) + " is rescaled even if the stabiliser is held";
  }
  return sums.empty() ? "no exponential depends on the stabiliser" : Reason();
}

/// Every sum is under its limit (so not NaN), every held value finite: one that is still at -inf has seen nothing.
Value Step::conjunction(OpBuilder &b) {
  Location where = loop.getLoc();
  SmallVector<Value> conditions;
  auto below = [&](Value value, double bound) {
    TypedAttr number = b.getFloatAttr(tile::elementOf(value.getType()), bound);
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      number = DenseElementsAttr::get(tensor, Attribute(number));
    Value constant = arith::ConstantOp::create(b, where, number);
    conditions.push_back(arith::CmpFOp::create(b, where, arith::CmpFPredicate::OLT, value, constant));
  };
  for (auto [sum, bound] : sums)
    below(sum, bound);
  for (Value argument : heldArguments)
    below(math::AbsFOp::create(b, where, argument), std::numeric_limits<double>::infinity());
  Value all;
  for (Value condition : conditions) {
    if (all && all.getType() != condition.getType()) {   // a scalar and a row
      Type type = isa<RankedTensorType>(all.getType()) ? all.getType() : condition.getType();
      if (all.getType() != type)
        all = tile::BroadcastOp::create(b, where, type, all);
      if (condition.getType() != type)
        condition = tile::BroadcastOp::create(b, where, type, condition);
    }
    all = all ? arith::AndIOp::create(b, where, all, condition) : condition;
  }
  return all;
}

/// What the quick way reads stays in front of the attempt; the rest of the step becomes the exact way.
void Step::shareAndMove(tile::AttemptOp attempt) {
  Block &exact = attempt.getExact().front();
  OpBuilder b(loop.getContext());
  b.setInsertionPointToEnd(&exact);
  tile::YieldOp::create(b, body.getTerminator()->getLoc(), loop.getYieldedValues());

  llvm::DenseSet<Operation *> shared;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (&op == attempt || &op == body.getTerminator())
      continue;
    bool read = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return attempt.getQuick().isAncestor(user->getParentRegion()) || shared.contains(body.findAncestorOpInBlock(*user));
    });
    if (read)
      shared.insert(&op);
    else
      op.moveBefore(&exact, exact.begin());
  }
}

Reason Step::hold() {
  if (!findHeld())
    return "it has no stabiliser";
  auto range = loop->getAttrOfType<StringAttr>(foldRangeAttr);
  bool masked = !body.getOps<tile::MaskOp>().empty();
  if (range ? range.getValue() != "full" : masked)
    return "its tiles may be partial";
  findUnchanged();

  OpBuilder b(body.getTerminator());
  auto attempt = tile::AttemptOp::create(b, loop.getLoc(), loop.getResultTypes());
  quick = b.createBlock(&attempt.getQuick());
  b.createBlock(&attempt.getExact());
  b.setInsertionPointToEnd(quick);
  Rebuilder rebuild(held, &body, b);
  for (Value value : unchanged)
    rebuild.map(value, value);
  SmallVector<Value> values;
  for (Value yielded : loop.getYieldedValues())
    values.push_back(rebuild(yielded));
  dropFactorsOfOne(values);
  if (Reason reason = checkQuick(values); !reason.empty()) {
    attempt.erase();
    return reason;
  }
  tile::ProposeOp::create(b, loop.getLoc(), conjunction(b), values);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*quick)))
    if (isOpTriviallyDead(&op))
      op.erase();
  shareAndMove(attempt);
  body.getTerminator()->setOperands(attempt.getResults());
  return {};
}

struct HoldStabiliser : impl::HoldStabiliserBase<HoldStabiliser> {
  using HoldStabiliserBase::HoldStabiliserBase;
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(foldAxisAttr))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      Reason reason = loop->hasAttr(foldCarriedAttr) ? Step(loop, limit).hold() : "it has no tile.carried: run tile-assign-stages first";
      if (explain && !reason.empty())
        loop.emitRemark() << "the fold over \"" << loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue() << "\" keeps to exact steps: " << reason;
    }
  }
};

} // namespace
} // namespace tw
