// TileRanges of what operations compute of their operands.
#include "AffineForms.h"
#include "Evaluator.h"
#include "TileRanges.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
using namespace mlir;

namespace tw {
namespace {

std::optional<int64_t> integerOf(Value value) {
  APInt number;
  return matchPattern(withoutBroadcasts(value), m_ConstantInt(&number)) ? std::optional<int64_t>(number.getSExtValue()) : std::nullopt;
}

bool isInteger(Value value) { return isa<IntegerType>(tile::elementOf(value.getType())); }
bool isCondition(Value value) { return tile::elementOf(value.getType()).isInteger(1); }
unsigned bitsOf(Value value) { return tile::elementOf(value.getType()).getIntOrFloatBitWidth(); }

} // namespace

std::optional<TileRange> TileRanges::ofOperation(Operation *op) {
  RangeArithmetic &a = arithmetic;
  Value value = op->getResult(0);
  auto in = [&](unsigned i) { return of(op->getOperand(i)); };
  auto unary = [&](auto apply) -> Range {
    Range x = in(0);
    return x ? Range(apply(*x)) : std::nullopt;
  };
  auto binary = [&](auto apply) -> Range {
    Range x = in(0), y = in(1);
    return x && y ? Range(apply(*x, *y)) : std::nullopt;
  };
  auto integers = [&](int64_t limit, auto apply) {
    return binary([&](const TileRange &x, const TileRange &y) {
      TileRange made = apply(x, y);
      return bitsOf(value) < 64 ? a.within(made, bitsOf(value)) : a.ifSmall(made, {x, y}, limit);
    });
  };
  auto conditions = [&](auto apply) -> Range {
    Range x = in(0), y = in(1);
    return x || y ? Range(apply(x.value_or(a.undecided()), y.value_or(a.undecided()))) : std::nullopt;
  };
  Type wide = isa<FloatType>(tile::elementOf(value.getType())) && !tile::elementOf(value.getType()).isF64() ? Type(builder.getF32Type()) : tile::elementOf(value.getType());
  Location loc = op->getLoc();

  return TypeSwitch<Operation *, Range>(op)
      .Case([&](tile::PositionsOp positions) -> Range {
        Value start = scalar(positions.getStart());
        StringAttr axis = tile::axesOf(value)[0];
        if (!start)
          return std::nullopt;
        Value first = a.widened(start);
        return TileRange{first, a.add(first, lastOffset(axis, widthOf(axis))), widthOf(axis) - 1};
      })
      .Case([&](tile::LoadOp load) { return ofLoad(load); })
      .Case([&](tile::GatherOp gather) { return ofGather(gather); })
      .Case([&](tile::MaskOp mask) -> Range {
        Range source = in(0);
        auto constant = numberOf(mask.getOtherwise());
        if (!source || !constant)
          return std::nullopt;
        Value number = isCondition(value) ? a.truth(*constant != 0) : isInteger(value) ? a.integer(int64_t(*constant)) : a.number(*constant, wide);
        return a.choice(kept(mask), *source, a.point(number));
      })
      .Case([&](arith::SubIOp) -> Range {
        if (Range rest = remainder(op))
          return rest;
        return integers(int64_t(1) << 61, [&](const TileRange &x, const TileRange &y) { return a.difference(x, y); });
      })
      .Case([&](arith::AddIOp) { return integers(int64_t(1) << 61, [&](const TileRange &x, const TileRange &y) { return a.sum(x, y); }); })
      .Case([&](arith::MulIOp) { return integers(int64_t(1) << 30, [&](const TileRange &x, const TileRange &y) { return a.product(x, y); }); })
      .Case([&](arith::FloorDivSIOp) -> Range {
        Range x = in(0), d = in(1);
        if (!x || !d || d->least != d->most)
          return std::nullopt;
        return a.within(a.floorQuotient(*x, d->least, integerOf(op->getOperand(1))), bitsOf(value));
      })
      .Case([&](arith::MaxSIOp) -> Range {
        for (int i : {0, 1})                              // |x| = max(x, 0 - x)
          if (auto minus = withoutBroadcasts(op->getOperand(1 - i)).getDefiningOp<arith::SubIOp>();
              minus && integerOf(minus.getLhs()) == 0 && withoutBroadcasts(minus.getRhs()) == withoutBroadcasts(op->getOperand(i)) && bitsOf(value) < 64) {
            Range x = in(unsigned(i));
            return x ? Range(a.within(a.absolute(*x), bitsOf(value))) : std::nullopt;
          }
        return binary([&](const TileRange &x, const TileRange &y) { return a.larger(x, y); });
      })
      .Case<arith::MaximumFOp>([&](auto) { return binary([&](const TileRange &x, const TileRange &y) { return a.larger(x, y); }); })
      .Case<arith::MinSIOp, arith::MinimumFOp>([&](auto) { return binary([&](const TileRange &x, const TileRange &y) { return a.smaller(x, y); }); })
      .Case([&](arith::SelectOp) -> Range {
        Range condition = in(0), x = in(1), y = in(2);
        return x && y ? Range(a.choice(condition.value_or(a.undecided()), *x, *y)) : std::nullopt;
      })
      .Case([&](arith::CmpIOp compare) { return comparison(compare); })
      .Case([&](arith::CmpFOp compare) -> Range {
        using P = arith::CmpFPredicate;
        return binary([&](const TileRange &x, const TileRange &y) {
          switch (compare.getPredicate()) {
          case P::OLT: case P::ULT: return a.lessThan(x, y);
          case P::OLE: case P::ULE: return a.lessOrEqual(x, y);
          case P::OGT: case P::UGT: return a.lessThan(y, x);
          case P::OGE: case P::UGE: return a.lessOrEqual(y, x);
          case P::OEQ: case P::UEQ: return a.equals(x, y);
          case P::ONE: case P::UNE: return a.opposite(a.equals(x, y));
          default: return a.undecided();
          }
        });
      })
      .Case<arith::AndIOp, arith::OrIOp, arith::XOrIOp>([&](auto) -> Range {
        if (!isCondition(value))
          return pointwise(op);
        if (isa<arith::AndIOp>(op))
          return conditions([&](const TileRange &x, const TileRange &y) { return a.conjunction(x, y); });
        if (isa<arith::OrIOp>(op))
          return conditions([&](const TileRange &x, const TileRange &y) { return a.disjunction(x, y); });
        return binary([&](const TileRange &x, const TileRange &y) {
          return a.disjunction(a.conjunction(x, a.opposite(y)), a.conjunction(a.opposite(x), y));
        });
      })
      .Case([&](arith::ExtSIOp) -> Range { return isCondition(op->getOperand(0)) ? std::nullopt : in(0); })
      .Case([&](arith::ExtUIOp) -> Range {
        if (!isCondition(op->getOperand(0)))
          return pointwise(op);
        return unary([&](const TileRange &x) { return TileRange{a.choose(x.least, a.integer(1), a.integer(0)), a.choose(x.most, a.integer(1), a.integer(0)), 1}; });
      })
      .Case([&](arith::UIToFPOp) -> Range {
        if (!isCondition(op->getOperand(0)))
          return std::nullopt;
        return unary([&](const TileRange &x) { return TileRange{a.choose(x.least, a.number(1, wide), a.number(0, wide)), a.choose(x.most, a.number(1, wide), a.number(0, wide))}; });
      })
      .Case([&](arith::SIToFPOp) {
        return unary([&](const TileRange &x) {      // rounds alike everywhere, and does not turn the order round
          return TileRange{builder.createOrFold<arith::SIToFPOp>(loc, wide, x.least), builder.createOrFold<arith::SIToFPOp>(loc, wide, x.most)};
        });
      })
      .Case([&](arith::ExtFOp) {
        return unary([&](const TileRange &x) {
          return x.least.getType() == wide ? x : TileRange{builder.createOrFold<arith::ExtFOp>(loc, wide, x.least), builder.createOrFold<arith::ExtFOp>(loc, wide, x.most)};
        });
      })
      .Case([&](arith::TruncFOp) {
        return unary([&](const TileRange &x) {      // to 16 bits, which a target may put off
          TileRange narrow = x.least.getType() == wide ? x : TileRange{builder.createOrFold<arith::TruncFOp>(loc, wide, x.least), builder.createOrFold<arith::TruncFOp>(loc, wide, x.most)};
          return a.rounded(narrow, 0x1p-7);
        });
      })
      .Case([&](arith::AddFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.sum(x, y)); }); })
      .Case([&](arith::SubFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.difference(x, y)); }); })
      .Case([&](arith::MulFOp) { return binary([&](const TileRange &x, const TileRange &y) { return a.rounded(a.product(x, y)); }); })
      .Case([&](arith::DivFOp) -> Range {
        auto divisor = uniformConstant(op->getOperand(1));
        if (!divisor || !std::isfinite(1 / *divisor) || *divisor == 0)
          return std::nullopt;
        return unary([&](const TileRange &x) { return a.rounded(a.product(x, a.point(a.number(1 / *divisor, wide)))); });
      })
      .Case([&](math::FmaOp) -> Range {
        Range x = in(0), y = in(1), z = in(2);
        return x && y && z ? Range(a.rounded(a.sum(a.rounded(a.product(*x, *y)), *z))) : std::nullopt;
      })
      .Case([&](arith::NegFOp) { return unary([&](const TileRange &x) { return a.negative(x); }); })
      .Case([&](math::AbsFOp) { return unary([&](const TileRange &x) { return a.absolute(x); }); })
      .Case([&](math::FloorOp) { return unary([&](const TileRange &x) { return TileRange{builder.createOrFold<math::FloorOp>(loc, x.least), builder.createOrFold<math::FloorOp>(loc, x.most)}; }); })
      .Case([&](math::CeilOp) { return unary([&](const TileRange &x) { return TileRange{builder.createOrFold<math::CeilOp>(loc, x.least), builder.createOrFold<math::CeilOp>(loc, x.most)}; }); })
      .Default([&](Operation *) { return pointwise(op); });
}

/// x - floor(x / d) · d, as the remainder is spelt.
std::optional<TileRange> TileRanges::remainder(Operation *op) {
  auto product = withoutBroadcasts(op->getOperand(1)).getDefiningOp<arith::MulIOp>();
  if (!product)
    return std::nullopt;
  for (int i : {0, 1}) {
    auto quotient = withoutBroadcasts(product->getOperand(unsigned(i))).getDefiningOp<arith::FloorDivSIOp>();
    Value divisor = withoutBroadcasts(product->getOperand(unsigned(1 - i)));
    if (!quotient || withoutBroadcasts(quotient.getLhs()) != withoutBroadcasts(op->getOperand(0)) || withoutBroadcasts(quotient.getRhs()) != divisor)
      continue;
    Range x = of(op->getOperand(0)), d = of(divisor);
    if (x && d && d->least == d->most)
      return arithmetic.within(arithmetic.remainder(*x, d->least, integerOf(divisor)), bitsOf(op->getResult(0)));
  }
  return std::nullopt;
}

std::optional<TileRange> TileRanges::comparison(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  RangeArithmetic &a = arithmetic;
  P predicate = op.getPredicate();
  if (isCondition(op.getLhs())) {
    Range x = of(op.getLhs()), y = of(op.getRhs());
    if (!x || !y || (predicate != P::eq && predicate != P::ne))
      return std::nullopt;
    TileRange same = a.disjunction(a.conjunction(*x, *y), a.conjunction(a.opposite(*x), a.opposite(*y)));
    return predicate == P::eq ? same : a.opposite(same);
  }
  Range x, y;
  if (tile::elementOf(op.getLhs().getType()).isInteger(32)) {      // what stands on both sides cancels
    auto left = affineForm(op.getLhs(), op), right = affineForm(op.getRhs(), op);
    if (left && right) {
      left->add(*right, -1);
      x = ofForm(*left);
      y = a.point(a.integer(0));
    }
  }
  if (!x || !y) {
    x = of(op.getLhs());
    y = of(op.getRhs());
  }
  if (!x || !y)
    return std::nullopt;
  switch (predicate) {
  case P::slt: return a.lessThan(*x, *y);
  case P::sle: return a.lessOrEqual(*x, *y);
  case P::sgt: return a.lessThan(*y, *x);
  case P::sge: return a.lessOrEqual(*y, *x);
  case P::eq: return a.equals(*x, *y);
  case P::ne: return a.opposite(a.equals(*x, *y));
  default: return std::nullopt;
  }
}

/// Any operation on integers, where each operand has one value in the whole tile.
std::optional<TileRange> TileRanges::pointwise(Operation *op) {
  RangeArithmetic &a = arithmetic;
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumResults() != 1 || !isInteger(op->getResult(0)) || !llvm::all_of(op->getOperands(), isInteger))
    return std::nullopt;
  Value single = a.truth(true);
  SmallVector<TileRange> operands;
  for (Value operand : op->getOperands()) {
    Range x = of(operand);
    if (!x)
      return std::nullopt;
    single = a.both(single, isCondition(operand) ? a.either(x->least, a.negate(x->most)) : a.equal(x->least, x->most));
    operands.push_back(*x);
  }
  OperationState state(op->getLoc(), op->getName());
  for (auto [operand, x] : llvm::zip(op->getOperands(), operands)) {
    Value number = x.least;
    // What is computed for nothing divides by no 0 and shifts no further than there are bits.
    if (operand == op->getOperands().back() && isa<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp, arith::ShLIOp, arith::ShRSIOp>(op))
      number = a.choose(single, number, a.integer(1));
    if (number.getType() != tile::elementOf(operand.getType()))
      number = builder.createOrFold<arith::TruncIOp>(op->getLoc(), tile::elementOf(operand.getType()), number);
    state.addOperands(number);
  }
  state.addTypes(tile::elementOf(op->getResult(0).getType()));
  state.addAttributes(op->getAttrs());
  Value made = a.widened(builder.create(state)->getResult(0));
  if (isCondition(op->getResult(0)))
    return TileRange{a.both(single, made), a.either(a.negate(single), made)};
  TileRange any = a.whole(bitsOf(op->getResult(0)));
  return TileRange{a.choose(single, made, any.least), a.choose(single, made, any.most)};
}

} // namespace tw
