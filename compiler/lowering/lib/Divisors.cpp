// A value that a loop carries is divisible by what divides its start and all that is ever added to it. So it counts as 0, which everything divides, while
// what it becomes is looked at.
#include "Divisors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/ir/Tile.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
namespace tw {
namespace {

constexpr int64_t most = int64_t(1) << 30;   // products of two stay in 64 bits

class Divisors {
public:
  int64_t of(Value value) {
    if (!visiting.insert(value).second)
      return 0;
    int64_t found = compute(value);
    visiting.erase(value);
    return found > most ? std::gcd(found, most) : found;
  }

private:
  DenseSet<Value> visiting;

  int64_t both(Value a, Value b) { return std::gcd(of(a), of(b)); }

  int64_t compute(Value value) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return number.getSignificantBits() > 31 ? 1 : std::abs(number.getSExtValue());
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return 1;
      if (argument == loop.getInductionVar())
        return both(loop.getLowerBound(), loop.getStep());
      unsigned i = argument.getArgNumber() - loop.getNumInductionVars();
      return both(loop.getInitArgs()[i], loop.getYieldedValues()[i]);
    }
    unsigned i = cast<OpResult>(value).getResultNumber();
    return llvm::TypeSwitch<Operation *, int64_t>(value.getDefiningOp())
        .Case<arith::AddIOp, arith::SubIOp, arith::MaxSIOp, arith::MinSIOp>([&](auto op) { return both(op.getLhs(), op.getRhs()); })
        .Case([&](arith::MulIOp op) { return of(op.getLhs()) * of(op.getRhs()); })
        .Case([&](arith::SelectOp op) { return both(op.getTrueValue(), op.getFalseValue()); })
        .Case([&](scf::ForOp op) { return both(op.getInitArgs()[i], op.getYieldedValues()[i]); })
        .Case([&](scf::IfOp op) { return both(op.thenYield().getOperand(i), op.elseYield().getOperand(i)); })
        .Case([&](tile::KeptAtOp op) {
          auto kept = op.getList().getDefiningOp<tile::KeptOp>();
          return kept ? std::gcd(of(kept.getBegin()), int64_t(kept.getStep())) : 1;
        })
        .Default([](Operation *) { return 1; });
  }
};

}   // namespace

int64_t divisorOf(Value value) { return Divisors().of(value); }

}   // namespace tw
