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

/// "accumulator": argument · row + dot. "sum": argument · row + sum over the fold axis (times a factor), so that parts of it
/// may be kept apart until the fold ends. Both start at 0, an accumulator before the loops around the fold too, and nothing else reads the
/// argument or x. Else "value".
StringRef kindOf(scf::ForOp loop, unsigned i, StringAttr block) {
  Value argument = loop.getRegionIterArg(i), yielded = loop.getYieldedValues()[i];
  Value x = addend(yielded, argument, block);
  if (!x || !argument.hasOneUse() || !startsAtZero(firstStart(loop.getInitArgs()[i])))
    return "value";
  if (x.getDefiningOp<tile::DotOp>() && x.hasOneUse())
    return "accumulator";
  if (!startsAtZero(loop.getInitArgs()[i]))
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

  void assign(scf::ForOp loop, StringAttr block) {
    Builder b(&getContext());
    SmallVector<StringRef> kinds;
    DenseSet<Operation *> accumulated;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      kinds.push_back(kindOf(loop, i, block));
      if (kinds.back() == "accumulator")
        accumulated.insert(addend(loop.getYieldedValues()[i], loop.getRegionIterArg(i), block).getDefiningOp());
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
