// Bounds the loops around a fold by what its masks keep of it as a whole.
//
//   for h = 0 to H { for q … { s = mask(x; h / g - v ≤ 0, v - h / g ≤ 0) … } }
// =>
//   for h = v · g to (v + 1) · g { for q … }          v is below H / g, else to H
//
// Quotients are rounded down, so that they only grow with h where g is positive; whether it is, the kernel asks. No product passes H.
#include "BoundAround.h"
#include "FoldPlanes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tw {
using namespace mlir;
namespace {

/// Does a turn of `around` change nothing where `inner` makes no step?
bool doesNothingBeside(scf::ForOp around, scf::ForOp inner) {
  for (Operation &op : around.getBody()->without_terminator())
    if (&op != inner && !isMemoryEffectFree(&op))
      return false;
  for (auto [yielded, argument] : llvm::zip(around.getYieldedValues(), around.getRegionIterArgs())) {
    auto result = dyn_cast<OpResult>(yielded);
    if (yielded != argument && (!result || result.getOwner() != inner || inner.getInitArgs()[result.getResultNumber()] != argument))
      return false;
  }
  return true;
}

bool walksByOne(scf::ForOp loop) {
  APInt begin, step;
  return matchPattern(loop.getLowerBound(), m_ConstantInt(&begin)) && begin.isZero() && matchPattern(loop.getStep(), m_ConstantInt(&step)) && step.isOne();
}

class Around {
public:
  explicit Around(scf::ForOp loop) : loop(loop), end(loop.getUpperBound()), builder(loop), scalars{builder, loop.getLoc()} {}

  void bound(Value excess) {
    auto difference = excess.getDefiningOp<arith::SubIOp>();
    if (!difference)
      return;
    if (auto divisor = divisorOf(difference.getLhs()); divisor && isOutside(difference.getRhs()))
      endAfter(difference.getRhs(), *divisor);
    else if (auto divisor = divisorOf(difference.getRhs()); divisor && isOutside(difference.getLhs()))
      beginAt(difference.getLhs(), *divisor);
  }

private:
  scf::ForOp loop;
  Value end;             // of the whole loop
  OpBuilder builder;
  ScalarOps scalars;

  bool isOutside(Value value) { return !loop.getRegion().isAncestor(value.getParentRegion()); }

  /// Of an index / divisor; a null one of the index itself.
  std::optional<Value> divisorOf(Value value) {
    if (value == loop.getInductionVar())
      return Value();
    auto quotient = value.getDefiningOp<arith::FloorDivSIOp>();
    if (quotient && quotient.getLhs() == loop.getInductionVar() && isOutside(quotient.getRhs()))
      return quotient.getRhs();
    return std::nullopt;
  }

  Value quotientOfEnd(Value divisor) {
    return divisor ? builder.createOrFold<arith::FloorDivSIOp>(scalars.location, end, scalars.max(divisor, scalars.constant(1))) : end;
  }
  Value times(Value x, Value divisor) { return divisor ? builder.createOrFold<arith::MulIOp>(scalars.location, x, divisor) : x; }
  Value ifDivides(Value divisor, Value then, Value otherwise) { return divisor ? scalars.ifPositive(divisor, then, otherwise) : then; }

  /// quotient ≤ x
  void endAfter(Value x, Value divisor) {
    Value last = quotientOfEnd(divisor), before = loop.getUpperBound();
    Value isBelow = builder.createOrFold<arith::CmpIOp>(scalars.location, arith::CmpIPredicate::slt, x, last);
    Value next = times(scalars.add(scalars.max(scalars.min(x, last), scalars.constant(-1)), scalars.constant(1)), divisor);
    Value cut = ifDivides(divisor, builder.createOrFold<arith::SelectOp>(scalars.location, isBelow, next, end), end);
    loop.setUpperBound(before == end ? cut : scalars.min(before, cut));
  }

  /// quotient ≥ x
  void beginAt(Value x, Value divisor) {
    Value begin = loop.getLowerBound();
    Value first = times(scalars.max(scalars.min(x, quotientOfEnd(divisor)), scalars.constant(0)), divisor);
    loop.setLowerBound(scalars.max(begin, ifDivides(divisor, first, begin)));
  }
};

} // namespace

void boundAround(scf::ForOp fold, ArrayRef<Value> excess) {
  scf::ForOp inner = fold;
  for (auto loop = dyn_cast<scf::ForOp>(inner->getParentOp()); loop && walksByOne(loop) && doesNothingBeside(loop, inner); loop = dyn_cast<scf::ForOp>(loop->getParentOp())) {
    Around around(loop);
    for (Value value : excess)
      around.bound(value);
    inner = loop;
  }
}

} // namespace tw
