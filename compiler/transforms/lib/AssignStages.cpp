// tile-assign-stages: which dots feed a carried value, and of which kind the carried values are.
#include "AffineForms.h"
#include "FoldAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/transforms/Passes.h"

namespace tw {
#define GEN_PASS_DEF_ASSIGNSTAGES
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

/// `value` = argument, or argument · row with a row that runs along the block axis at most.
bool isScaledArgument(Value value, Value argument, StringAttr block) {
  auto isRow = [&](Value factor) {
    auto axes = tile::axesOf(withoutBroadcasts(factor));
    return axes.empty() || (axes.size() == 1 && axes[0] == block);
  };
  if (value == argument)
    return true;
  auto product = value.getDefiningOp<arith::MulFOp>();
  return product && ((product.getLhs() == argument && isRow(product.getRhs())) || (product.getRhs() == argument && isRow(product.getLhs())));
}

/// x where `yielded` = argument · row + x; null if it is nothing of the kind.
Value addend(Value yielded, Value argument, StringAttr block) {
  if (auto fma = yielded.getDefiningOp<math::FmaOp>()) {
    auto axes = tile::axesOf(withoutBroadcasts(fma.getB()));
    bool row = axes.empty() || (axes.size() == 1 && axes[0] == block);
    return fma.getA() == argument && row ? fma.getC() : Value();
  }
  if (auto sum = yielded.getDefiningOp<arith::AddFOp>()) {
    if (isScaledArgument(sum.getLhs(), argument, block))
      return sum.getRhs();
    if (isScaledArgument(sum.getRhs(), argument, block))
      return sum.getLhs();
  }
  return {};
}

bool startsAtZero(Value start) { return matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_PosZeroFloat()); }

/// What a value that loops around the fold carry through started from.
Value firstStart(Value start) {
  while (auto argument = dyn_cast<BlockArgument>(start)) {
    auto around = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!around || argument == around.getInductionVar() || !argument.hasOneUse())
      break;
    start = around.getInitArgs()[argument.getArgNumber() - 1];
  }
  return start;
}

/// Is it a sum of dots of the step that nothing else reads? Appends these.
bool isSumOfDots(Value value, Block *step, SmallVector<tile::DotOp> &dots) {
  if (!value.hasOneUse())
    return false;
  if (auto dot = value.getDefiningOp<tile::DotOp>()) {
    dots.push_back(dot);
    return dot->getBlock() == step;
  }
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum && isSumOfDots(sum.getLhs(), step, dots) && isSumOfDots(sum.getRhs(), step, dots);
}

/// argument · row + dot + dot …
struct DotSum {
  Value first;                         // argument · row, or that plus a dot in one operation
  SmallVector<tile::DotOp> dots;       // in the order in which they stand; none if the value is nothing of the kind
};

/// The dots of a yielded value, as such a sum.
DotSum dotSumOf(Value yielded, Value argument, StringAttr block) {
  DotSum found{yielded, {}};
  auto take = [&](Value value) {
    SmallVector<tile::DotOp> dots;
    const bool is = isSumOfDots(value, cast<BlockArgument>(argument).getOwner(), dots);
    if (is)
      found.dots.append(dots);
    return is;
  };
  while (!isScaledArgument(found.first, argument, block)) {
    if (found.first != yielded && !found.first.hasOneUse())
      return {};
    if (found.first.getDefiningOp<math::FmaOp>()) {
      Value x = addend(found.first, argument, block);
      if (!x || !take(x))
        return {};
      break;
    }
    auto sum = found.first.getDefiningOp<arith::AddFOp>();
    if (!sum)
      return {};
    if (take(sum.getRhs()))
      found.first = sum.getLhs();
    else if (take(sum.getLhs()))
      found.first = sum.getRhs();
    else
      return {};
  }
  llvm::sort(found.dots, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return found;
}

/// "accumulator": argument · row + dot, or more dots. "sum": argument · row + sum over the fold axis (times a factor), so that parts of it
/// may be kept apart until the fold ends. Both start at 0, an accumulator before the loops around the fold too, and nothing else reads the
/// argument or x. Else "value".
StringRef kindOf(scf::ForOp loop, unsigned i, StringAttr block) {
  Value argument = loop.getRegionIterArg(i), yielded = loop.getYieldedValues()[i];
  Value x = addend(yielded, argument, block);
  if (!argument.hasOneUse() || !startsAtZero(firstStart(loop.getInitArgs()[i])))
    return "value";
  if (!dotSumOf(yielded, argument, block).dots.empty())
    return "accumulator";
  if (!x || !startsAtZero(loop.getInitArgs()[i]))
    return "value";
  if (auto product = x.getDefiningOp<arith::MulFOp>())
    x = product.getLhs().getDefiningOp<tile::ReduceOp>() ? product.getLhs() : product.getRhs();
  auto reduced = x.getDefiningOp<tile::ReduceOp>();
  bool sum = reduced && reduced.getKind() == tile::Combine::Sum && x.hasOneUse() &&
             reduced.getAxis() == loop->getAttrOfType<StringAttr>(foldAxisAttr).getValue();
  return sum ? "sum" : "value";
}

struct AssignStages : impl::AssignStagesBase<AssignStages> {
  void runOnOperation() override {
    tile::KernelAttr kernel = tile::kernelOf(getOperation());
    if (!kernel)
      return;
    tile::AxisAttr block = kernel.withRole(tile::Role::Block);
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(foldAxisAttr))
        assign(loop, block ? block.getName() : StringAttr());
    });
  }

  /// argument · row + (x + y)  =  (argument · row + x) + y: each dot is added to what the one before it has left.
  static void addOneByOne(scf::ForOp loop, unsigned i, const DotSum &sum) {
    Operation *yield = loop.getBody()->getTerminator();
    OpBuilder b(yield);
    Value old = yield->getOperand(i), value = sum.first;
    auto fma = value.getDefiningOp<math::FmaOp>();
    if (fma)
      value = math::FmaOp::create(b, old.getLoc(), fma.getA(), fma.getB(), tile::DotOp(sum.dots.front()).getResult());
    for (tile::DotOp dot : ArrayRef(sum.dots).drop_front(fma ? 1 : 0))
      value = arith::AddFOp::create(b, old.getLoc(), value, dot.getResult());
    yield->setOperand(i, value);
    for (SmallVector<Operation *> unused{old.getDefiningOp()}; !unused.empty();) {
      Operation *op = unused.pop_back_val();
      if (!op || !isa<arith::AddFOp, math::FmaOp>(op) || !op->use_empty())
        continue;
      for (Value operand : op->getOperands())
        unused.push_back(operand.getDefiningOp());
      op->erase();
    }
  }

  void assign(scf::ForOp loop, StringAttr block) {
    Builder b(&getContext());
    SmallVector<StringRef> kinds;
    DenseSet<Operation *> accumulated;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      kinds.push_back(kindOf(loop, i, block));
      if (kinds.back() != "accumulator")
        continue;
      const DotSum sum = dotSumOf(loop.getYieldedValues()[i], loop.getRegionIterArg(i), block);
      for (tile::DotOp dot : sum.dots)
        accumulated.insert(dot);
      if (sum.dots.size() > 1)
        addOneByOne(loop, i, sum);
    }
    loop.getBody()->walk([&](tile::DotOp dot) { dot.setStage(accumulated.contains(dot) ? 1 : block && dot.getAxis() == block ? 2 : 0); });
    loop->setAttr(foldCarriedAttr, b.getStrArrayAttr(kinds));
    // Loops around the fold carry the same.
    for (scf::ForOp inner = loop; auto around = inner->getParentOfType<scf::ForOp>(); inner = around) {
      SmallVector<StringRef> through;
      auto own = inner->getAttrOfType<ArrayAttr>(foldCarriedAttr);
      for (Value yielded : around.getYieldedValues()) {
        auto result = dyn_cast<OpResult>(yielded);
        through.push_back(result && result.getOwner() == inner ? cast<StringAttr>(own[result.getResultNumber()]).getValue() : "value");
      }
      around->setAttr(foldCarriedAttr, b.getStrArrayAttr(through));
    }
  }
};

} // namespace
} // namespace tw
