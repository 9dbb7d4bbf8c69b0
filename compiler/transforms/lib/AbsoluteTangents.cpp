// tile-absolute-tangents: tanh by an exponential and a reciprocal, where nothing but its absolute error counts.
//
//   tanh(x) = 2 u + 1,   u = 1 / (-1 - exp2(2 log2 e · x))
//
// Masks and maxima are those of u, which rises as tanh does, and exponents take in what is around it. Runs behind the proofs of what masks skip.
// Near 0 the difference cancels, so that small results have few right digits; none is off by more than 2^-21. An exponential turns what is
// added to its operand into a factor, whatever the operand's size, and so does the exponential that a logarithm stands for.
#include "AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "tilewright/ir/Tile.h"
#include "tilewright/transforms/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tw {
#define GEN_PASS_DEF_ABSOLUTETANGENTS
#include "tilewright/transforms/Passes.h.inc"

using namespace mlir;
namespace {

bool isConstant(Value value) { return matchPattern(withoutBroadcasts(value), m_Constant()); }
bool isInfinite(TypedAttr constant) {
  auto number = dyn_cast<FloatAttr>(constant);
  return number && number.getValue().isInfinity();
}
bool isInfinite(Value value) { return matchPattern(value, m_PosInfFloat()) || matchPattern(value, m_NegInfFloat()); }

bool isLogarithm(Value value);
bool isLogarithm(Value a, Value b) { return (isConstant(b) && isLogarithm(a)) || (isConstant(a) && isLogarithm(b)); }
/// A logarithm, but for factors that are constant.
bool isLogarithm(Value value) {
  value = withoutBroadcasts(value);
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return isLogarithm(product.getLhs(), product.getRhs());
  Operation *op = value.getDefiningOp();
  return op && isa<math::LogOp, math::Log2Op>(op);
}

/// Follows a value to the ends of its uses.
class Uses {
public:
  /// Is every error of the value multiplied by factors alone that are made without it, until an exponential or a logarithm's sum is reached?
  bool areAbsolute(Value value) {
    if (!seen.insert(value).second)
      return true;
    return llvm::all_of(value.getUses(), [&](OpOperand &use) { return isAbsolute(use); });
  }

private:
  llvm::DenseSet<Value> seen;

  /// One number, or one for each row or column, that does not come of elements such as the value's.
  static bool isFactor(Value value) { return isConstant(value) || tile::axesOf(withoutBroadcasts(value)).empty(); }

  bool isAbsolute(OpOperand &use) {
    Operation *op = use.getOwner();
    auto other = [&] { return op->getOperand(1 - use.getOperandNumber()); };
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<math::ExpOp, math::Exp2Op>([](auto) { return true; })
        .Case<arith::AddFOp, arith::SubFOp>([&](auto) { return isLogarithm(other()) || areAbsolute(op->getResult(0)); })
        .Case<arith::MulFOp>([&](auto) { return isFactor(other()) && areAbsolute(op->getResult(0)); })
        .Case<math::FmaOp>([&](math::FmaOp fma) {
          const unsigned at = use.getOperandNumber();
          if (at == 2)
            return isLogarithm(fma.getA(), fma.getB()) || areAbsolute(fma);
          return isFactor(op->getOperand(1 - at)) && (isLogarithm(fma.getC()) || areAbsolute(fma));
        })
        .Case<arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, tile::BroadcastOp, tile::StabiliserOp>([&](auto) { return areAbsolute(op->getResult(0)); })
        .Case<tile::ReduceOp>([&](tile::ReduceOp reduce) { return reduce.getKind() != tile::Combine::Sum && areAbsolute(reduce); })
        .Case<tile::MaskOp>([&](tile::MaskOp mask) { return use.getOperandNumber() == 0 && areAbsolute(mask); })
        .Case<arith::SelectOp>([&](arith::SelectOp select) { return use.getOperandNumber() != 0 && areAbsolute(select); })
        .Case<arith::CmpFOp>([&](auto) { return isInfinite(other()); })   // which it never is
        .Case<scf::YieldOp>([&](scf::YieldOp yield) {
          auto loop = dyn_cast<scf::ForOp>(yield->getParentOp());
          return loop && areAbsolute(loop.getRegionIterArg(use.getOperandNumber())) && areAbsolute(loop.getResult(use.getOperandNumber()));
        })
        .Case<scf::ForOp>([&](scf::ForOp loop) {
          BlockArgument argument = loop.getTiedLoopRegionIterArg(&use);
          return argument && areAbsolute(argument) && areAbsolute(loop.getTiedLoopResult(&use));
        })
        .Default([](Operation *) { return false; });
  }
};

Value constantOf(OpBuilder &b, Location loc, RankedTensorType type, double value) {
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value)));
}

/// x · factor; a factor that is there already, for all elements, takes it in.
Value scale(OpBuilder &b, Value x, double factor) {
  const Location loc = x.getLoc();
  const auto type = cast<RankedTensorType>(x.getType());
  if (auto product = x.getDefiningOp<arith::MulFOp>())
    for (auto [element, other] : {std::pair(product.getLhs(), product.getRhs()), std::pair(product.getRhs(), product.getLhs())})
      if (auto broadcast = other.getDefiningOp<tile::BroadcastOp>(); broadcast && broadcast.getSource().getType().isF32()) {
        OpBuilder outside(broadcast);
        outside.setInsertionPointAfterValue(broadcast.getSource());
        Value both = arith::MulFOp::create(outside, loc, broadcast.getSource(), arith::ConstantOp::create(outside, loc, outside.getF32FloatAttr(float(factor))));
        return arith::MulFOp::create(b, loc, element, tile::BroadcastOp::create(b, loc, type, both));
      }
  return arith::MulFOp::create(b, loc, x, constantOf(b, loc, type, factor));
}

/// 2 u + 1.
Value tangentOf(OpBuilder &b, Value u) {
  const auto type = cast<RankedTensorType>(u.getType());
  return math::FmaOp::create(b, u.getLoc(), u, constantOf(b, u.getLoc(), type, 2), constantOf(b, u.getLoc(), type, 1));
}

/// Puts u in the place of `tangent` = 2 u + 1 wherever that costs no operation of elements; the rest computes the sum.
void replace(Value tangent, Value u) {
  for (OpOperand &use : llvm::make_early_inc_range(tangent.getUses())) {
    Operation *op = use.getOwner();
    OpBuilder b(op);
    if (auto mask = dyn_cast<tile::MaskOp>(op); mask && isInfinite(mask.getOtherwise())) {
      auto masked = cast<tile::MaskOp>(b.clone(*op));
      masked->setOperand(0, u);
      replace(mask, masked);
      op->erase();
    } else if (auto reduce = dyn_cast<tile::ReduceOp>(op); reduce && reduce.getKind() == tile::Combine::Max) {
      auto reduced = cast<tile::ReduceOp>(b.clone(*op));
      reduced->setOperand(0, u);
      op->getResult(0).replaceAllUsesWith(tangentOf(b, reduced));
      op->erase();
    } else if (auto fma = dyn_cast<math::FmaOp>(op); fma && use.getOperandNumber() < 2) {
      DenseElementsAttr factor;
      auto broadcast = fma.getC().getDefiningOp<tile::BroadcastOp>();
      auto row = broadcast ? dyn_cast<RankedTensorType>(broadcast.getSource().getType()) : RankedTensorType();
      if (!row || !matchPattern(op->getOperand(1 - use.getOperandNumber()), m_Constant(&factor)) || !factor.isSplat())
        continue;
      const double by = factor.getSplatValue<APFloat>().convertToDouble();
      const auto type = cast<RankedTensorType>(fma.getType());
      Value wide = tile::BroadcastOp::create(b, fma.getLoc(), type, arith::AddFOp::create(b, fma.getLoc(), broadcast.getSource(), constantOf(b, fma.getLoc(), row, by)));
      fma.replaceAllUsesWith(math::FmaOp::create(b, fma.getLoc(), u, constantOf(b, fma.getLoc(), type, 2 * by), wide).getResult());
      op->erase();
    }
  }
  if (!tangent.use_empty()) {
    OpBuilder b(tangent.getContext());
    b.setInsertionPointAfterValue(u);
    tangent.replaceAllUsesWith(tangentOf(b, u));
  }
}

void rewrite(math::TanhOp op) {
  constexpr double twiceLog2e = 2.8853900817779268;
  OpBuilder b(op);
  const Location loc = op.getLoc();
  const auto type = cast<RankedTensorType>(op.getType());
  Value power = math::Exp2Op::create(b, loc, scale(b, op.getOperand(), twiceLog2e));
  Value u = arith::DivFOp::create(b, loc, constantOf(b, loc, type, 1), arith::SubFOp::create(b, loc, constantOf(b, loc, type, -1), power));
  replace(op, u);
  op.erase();
}

struct AbsoluteTangents : impl::AbsoluteTangentsBase<AbsoluteTangents> {
  void runOnOperation() override {
    SmallVector<math::TanhOp> found;
    getOperation().walk([&](math::TanhOp op) {
      if (getElementTypeOrSelf(op.getType()).isF32() && isa<RankedTensorType>(op.getType()) && !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn) && Uses().areAbsolute(op))
        found.push_back(op);
    });
    for (math::TanhOp op : found)
      rewrite(op);
  }
};

} // namespace
} // namespace tw
