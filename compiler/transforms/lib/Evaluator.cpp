// What values are known to be under assumptions: a number, or equal to another value.
#include "Evaluator.h"
#include "AffineForms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>
using namespace mlir;

namespace tw {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// The number as an element of that type holds it; nothing if the type cannot be trusted to.
std::optional<double> rounded(double number, Type type) {
  Type element = tile::elementOf(type);
  if (auto floating = dyn_cast<FloatType>(element)) {
    APFloat value(number);
    bool lost = false;
    value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  }
  unsigned bits = std::min(element.getIntOrFloatBitWidth(), 32u);
  double limit = bits == 1 ? 2 : double(int64_t(1) << (bits - 1));
  return number < -limit || number >= limit ? std::nullopt : std::optional<double>(number);
}

/// An elementwise function at a number, where every implementation gives exactly that.
std::optional<double> apply(Operation *op, double x) {
  return TypeSwitch<Operation *, std::optional<double>>(op)
      .Case<math::ExpOp, math::Exp2Op>([&](auto) -> std::optional<double> {
        return x == -infinity ? 0.0 : x == infinity ? infinity : x == 0 ? std::optional<double>(1.0) : std::nullopt;
      })
      .Case<math::LogOp, math::Log2Op>([&](auto) -> std::optional<double> {
        return x == 0 ? -infinity : x == infinity ? infinity : x == 1 ? std::optional<double>(0.0) : std::nullopt;
      })
      .Case<math::TanhOp, math::ErfOp>([&](auto) -> std::optional<double> {
        return x == 0 ? 0.0 : x == infinity ? 1.0 : x == -infinity ? std::optional<double>(-1.0) : std::nullopt;
      })
      .Case([&](math::SqrtOp) -> std::optional<double> { return x == 0 || x == 1 || x == infinity ? std::optional<double>(x) : std::nullopt; })
      .Case([&](math::RsqrtOp) -> std::optional<double> { return x == infinity ? 0.0 : x == 1 ? std::optional<double>(1.0) : std::nullopt; })
      .Case([&](math::AbsFOp) { return std::fabs(x); })
      .Case([&](math::FloorOp) { return std::floor(x); })
      .Case([&](math::CeilOp) { return std::ceil(x); })
      .Case([&](arith::NegFOp) { return -x; })
      .Case<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp>([&](auto) { return x; })
      .Default([](Operation *) { return std::nullopt; });
}


/// t, where the condition says that t is not -inf: -inf < t if `holds`, t = -inf if not.
Value aboveMinusInfinity(Value condition, bool holds) {
  using P = arith::CmpFPredicate;
  auto comparison = withoutBroadcasts(condition).getDefiningOp<arith::CmpFOp>();
  if (!comparison)
    return {};
  for (int i : {0, 1}) {
    if (uniformConstant(comparison->getOperand(i)) != -infinity)
      continue;
    Value t = comparison->getOperand(1 - i);
    switch (comparison.getPredicate()) {
    case P::OLT: case P::ULT: return holds && i == 0 ? t : Value();
    case P::OGT: case P::UGT: return holds && i == 1 ? t : Value();
    case P::ONE: case P::UNE: return holds ? t : Value();
    case P::OLE: return !holds && i == 1 ? t : Value();
    case P::OGE: return !holds && i == 0 ? t : Value();
    case P::OEQ: case P::UEQ: return !holds ? t : Value();
    default: return {};
    }
  }
  return {};
}

/// The length of an inner axis: at least 1, as a launch checks.
bool isInnerExtent(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto name = function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), tile::extentAttrName) : StringAttr();
  tile::KernelAttr kernel = name ? tile::kernelOf(function) : tile::KernelAttr();
  tile::AxisAttr axis = kernel ? kernel.find(name.getValue()) : tile::AxisAttr();
  return axis && axis.getRole() == tile::Role::Inner;
}

bool isNonNegative(Value value) {
  value = withoutBroadcasts(value);
  if (auto number = uniformConstant(value))
    return *number >= 0;
  return isa_and_nonnull<math::ExpOp, math::Exp2Op, math::AbsFOp>(value.getDefiningOp()) || isPositive(value);
}
/// Is a value bounded away from 0? A positive constant plus what is never negative is.
bool isAwayFromZero(Value value) {
  value = withoutBroadcasts(value);
  if (isPositive(value))
    return true;
  if (auto number = uniformConstant(value))
    return *number != 0 && std::isfinite(*number);
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    for (int i : {0, 1})
      if (auto number = uniformConstant(sum->getOperand(i)); number && *number > 0 && isNonNegative(sum->getOperand(1 - i)))
        return true;
  return false;
}
} // namespace

std::optional<double> uniformConstant(Value value) {
  Attribute attribute;
  if (!matchPattern(withoutBroadcasts(value), m_Constant(&attribute)))
    return std::nullopt;
  return numberOf(attribute);
}

std::optional<double> numberOf(Attribute attribute) {
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    if (number.getType().isInteger(1))
      return number.getValue().isZero() ? 0.0 : 1.0;
    return rounded(double(number.getInt()), number.getType());
  }
  return std::nullopt;
}

bool isPositive(Value value) {
  value = withoutBroadcasts(value);
  if (auto number = uniformConstant(value))
    return *number > 0 && std::isfinite(*number);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function && function.getArgAttr(argument.getArgNumber(), tile::positiveAttrName);
  }
  Operation *op = value.getDefiningOp();
  if (auto conversion = dyn_cast<arith::SIToFPOp>(op))
    return isInnerExtent(conversion.getIn());
  if (isa<arith::MulFOp, arith::DivFOp, arith::AddFOp, arith::ExtFOp, arith::MinimumFOp, math::SqrtOp, math::RsqrtOp>(op))
    return llvm::all_of(op->getOperands(), isPositive);
  return false;
}

//===--- evaluation ------------------------------------------------------------------------------===//

void Evaluator::assume(Value value, Known known) {
  assumed[value] = known;
  memo.clear();
  finiteMemo.clear();
}

void Evaluator::assumeFinite(Value value) {
  finiteValues.insert(value);
  memo.clear();
  finiteMemo.clear();
}

Known Evaluator::evaluate(Value value) {
  if (auto found = assumed.find(value); found != assumed.end())
    return found->second;
  if (auto found = memo.find(value); found != memo.end())
    return found->second;
  Known known = Known::equal(value);
  if (auto number = uniformConstant(value))
    known = Known::constant(*number);
  else if (Operation *op = value.getDefiningOp())
    known = compute(value, op);
  return memo[value] = known;
}

std::optional<Known> Evaluator::multiply(Value a, Value b) {
  for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    Known known = evaluate(x), other = evaluate(y);
    if (known.number && other.number)
      return Known::constant(*known.number * *other.number);
    if (known.is(1))
      return other;
    if (known.is(0) && finite(y))
      return Known::constant(0);
    if (known.number && std::isinf(*known.number) && isPositive(y))
      return known;
  }
  return std::nullopt;
}

std::optional<Known> Evaluator::add(std::optional<Known> a, bool finiteA, std::optional<Known> b, bool finiteB) {
  if (a && b && a->number && b->number)
    return Known::constant(*a->number + *b->number);
  if (a && a->is(0))
    return b;
  if (b && b->is(0))
    return a;
  if (a && a->number && std::isinf(*a->number) && finiteB)
    return a;
  if (b && b->number && std::isinf(*b->number) && finiteA)
    return b;
  return std::nullopt;
}

/// Decides a comparison of numbers, of a value with itself, and of an infinity with a value that is certainly finite.
std::optional<Known> Evaluator::compare(Operation *op) {
  Known a = evaluate(op->getOperand(0)), b = evaluate(op->getOperand(1));
  if (auto comparison = dyn_cast<arith::CmpIOp>(op); comparison && a == b && !a.number) {
    using P = arith::CmpIPredicate;
    P p = comparison.getPredicate();
    return Known::constant(p == P::eq || p == P::sle || p == P::sge || p == P::ule || p == P::uge);
  }
  auto standIn = [&](const Known &known, const Known &other) -> std::optional<double> {
    if (known.number)
      return known.number;
    return other.number && std::isinf(*other.number) && certainlyFinite(known.same) ? std::optional<double>(0) : std::nullopt;
  };
  auto x = standIn(a, b), y = standIn(b, a);
  if (!x || !y)
    return std::nullopt;
  bool holds = false;
  if (auto comparison = dyn_cast<arith::CmpFOp>(op)) {
    holds = arith::applyCmpPredicate(comparison.getPredicate(), APFloat(*x), APFloat(*y));
  } else {
    auto integer = [](double n) { return APInt(64, uint64_t(int64_t(n)), true); };
    holds = arith::applyCmpPredicate(cast<arith::CmpIOp>(op).getPredicate(), integer(*x), integer(*y));
  }
  return Known::constant(holds);
}

Known Evaluator::compute(Value value, Operation *op) {
  auto in = [&](unsigned i) { return evaluate(op->getOperand(i)); };
  auto isFiniteOperand = [&](unsigned i) { return finite(op->getOperand(i)); };
  using Result = std::optional<Known>;
  Result result =
      TypeSwitch<Operation *, Result>(op)
          .Case<tile::BroadcastOp, tile::StabiliserOp>([&](auto) { return in(0); })
          .Case<arith::AddFOp>([&](auto) { return add(in(0), isFiniteOperand(0), in(1), isFiniteOperand(1)); })
          .Case<arith::SubFOp>([&](auto) -> Result {
            Known a = in(0), b = in(1);
            if (b.number)
              return add(a, isFiniteOperand(0), Known::constant(-*b.number), std::isfinite(*b.number));
            if (a == b && isFiniteOperand(0))
              return Known::constant(0);
            if (a.number && std::isinf(*a.number) && isFiniteOperand(1))
              return a;
            return std::nullopt;
          })
          .Case<arith::MulFOp>([&](auto) { return multiply(op->getOperand(0), op->getOperand(1)); })
          .Case<math::FmaOp>([&](auto) -> Result {
            Result product = multiply(op->getOperand(0), op->getOperand(1));
            bool bounded = product && product->number ? std::isfinite(*product->number) : isFiniteOperand(0) && isFiniteOperand(1);
            return add(product, bounded, in(2), isFiniteOperand(2));
          })
          .Case<arith::DivFOp>([&](auto) -> Result {
            Known a = in(0), b = in(1);
            if (b.is(1))
              return a;
            if (a.number && b.number && *b.number != 0)
              return Known::constant(*a.number / *b.number);
            if (a.is(0) && isAwayFromZero(op->getOperand(1)) && isFiniteOperand(1))
              return Known::constant(0);
            return std::nullopt;
          })
          .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp>([&](auto) -> Result {
            bool max = isa<arith::MaximumFOp, arith::MaxSIOp>(op);
            Known a = in(0), b = in(1);
            if (a == b)
              return a;
            if (a.number && b.number)
              return std::isnan(*a.number) ? a : std::isnan(*b.number) ? b
                     : Known::constant(max ? std::max(*a.number, *b.number) : std::min(*a.number, *b.number));
            double nothing = max ? -infinity : infinity;
            return a.is(nothing) ? Result(b) : b.is(nothing) ? Result(a) : std::nullopt;
          })
          .Case<arith::CmpFOp, arith::CmpIOp>([&](auto) { return compare(op); })
          .Case<arith::AndIOp, arith::OrIOp>([&](auto) -> Result {
            if (!tile::elementOf(value.getType()).isInteger(1))
              return std::nullopt;
            double absorbing = isa<arith::OrIOp>(op);
            Known a = in(0), b = in(1);
            if (a.is(absorbing) || b.is(absorbing))
              return Known::constant(absorbing);
            return a.number ? Result(b) : b.number ? Result(a) : std::nullopt;
          })
          .Case<arith::XOrIOp>([&](auto) -> Result {
            Known a = in(0), b = in(1);
            if (!tile::elementOf(value.getType()).isInteger(1) || !a.number || !b.number)
              return std::nullopt;
            return Known::constant(*a.number != *b.number);
          })
          .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](auto) -> Result {
            Known a = in(0), b = in(1);
            if (!a.number || !b.number)
              return std::nullopt;
            return Known::constant(isa<arith::AddIOp>(op) ? *a.number + *b.number
                                   : isa<arith::SubIOp>(op) ? *a.number - *b.number : *a.number * *b.number);
          })
          .Case<arith::SelectOp>([&](auto) -> Result {
            Known condition = in(0);
            if (condition.number)
              return in(*condition.number != 0 ? 1 : 2);
            return in(1) == in(2) ? Result(in(1)) : std::nullopt;
          })
          .Case([&](tile::ReduceOp reduce) -> Result {
            Known source = in(0);
            if (reduce.getKind() == tile::Combine::Sum)
              return source.is(0) ? Result(source) : std::nullopt;
            return source.number || !tile::runsAlong(source.same, reduce.getAxis()) ? Result(source) : std::nullopt;
          })
          .Case([&](tile::DotOp) -> Result {    // an exact 0 on the left annihilates; one on the right as any product
            return in(0).is(0) || (in(1).is(0) && isFiniteOperand(0)) ? Result(Known::constant(0)) : std::nullopt;
          })
          .Case([&](tile::MaskOp mask) -> Result {
            return in(0).number && in(0).number == numberOf(mask.getOtherwise()) ? Result(in(0)) : std::nullopt;
          })
          .Default([&](Operation *) -> Result {
            if (op->getNumOperands() != 1 || !in(0).number)
              return std::nullopt;
            auto number = apply(op, *in(0).number);
            return number ? Result(Known::constant(*number)) : std::nullopt;
          });
  if (!result)
    return Known::equal(value);
  if (!result->number)
    return *result;
  auto number = rounded(*result->number, value.getType());
  return number && !std::isnan(*number) ? Known::constant(*number) : Known::equal(value);
}

//===--- finiteness ------------------------------------------------------------------------------===//

bool Evaluator::finite(Value value) {
  Known known = evaluate(value);
  if (known.number)
    return std::isfinite(*known.number);
  auto found = finiteMemo.find(known.same);
  if (found != finiteMemo.end())
    return found->second;
  bool result = isFinite(known.same);
  return finiteMemo[known.same] = result;
}

bool Evaluator::isFinite(Value value) {
  if (finiteValues.contains(value) || isa<IntegerType>(tile::elementOf(value.getType())))
    return true;
  if (assumed.contains(value))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  if (isPositive(value))
    return true;
  Operation *op = value.getDefiningOp();
  auto operandsAreFinite = [&] { return llvm::all_of(op->getOperands(), [&](Value operand) { return finite(operand); }); };
  return TypeSwitch<Operation *, bool>(op)
      .Case<tile::LoadOp, tile::GatherOp, arith::ConstantOp>([](auto) { return true; })   // the promise; constants by their numbers, or coordinates
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::ExtFOp,
            arith::TruncFOp, arith::SIToFPOp, math::FmaOp, math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::AbsFOp, math::FloorOp,
            math::CeilOp, tile::BroadcastOp, tile::StabiliserOp, tile::ReduceOp, tile::DotOp>([&](auto) { return operandsAreFinite(); })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) { return inRange && operandsAreFinite(); })
      .Case([&](arith::DivFOp) { return isAwayFromZero(op->getOperand(1)) && operandsAreFinite(); })
      .Case([&](tile::MaskOp mask) {
        auto number = dyn_cast<FloatAttr>(mask.getOtherwise());
        return number && number.getValue().isFinite() && finite(mask.getSource());
      })
      .Case([&](arith::SelectOp) { return isFiniteSelect(op); })
      .Default([](Operation *) { return false; });
}

/// A select is finite if both sides are; of  -inf < t ? f(t) : c  the first has to be finite for a
/// finite t only.
bool Evaluator::isFiniteSelect(Operation *op) {
  for (int side : {1, 2}) {
    Value operand = op->getOperand(side);
    if (finite(operand))
      continue;
    Value t = aboveMinusInfinity(op->getOperand(0), side == 1);
    Known known = t ? evaluate(t) : Known();
    if (!known.same)
      return false;
    Evaluator inside = *this;
    inside.assumeFinite(known.same);
    if (!inside.finite(operand))
      return false;
  }
  return true;
}

bool Evaluator::certainlyFinite(Value value) {
  Known known = evaluate(value);
  if (known.number)
    return std::isfinite(*known.number);
  if (finiteValues.contains(known.same) || isa<IntegerType>(tile::elementOf(known.same.getType())))
    return true;
  Operation *op = known.same.getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp, arith::NegFOp, math::AbsFOp, arith::ExtFOp, arith::SIToFPOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return certainlyFinite(operand); });
  if (isa_and_nonnull<arith::SelectOp>(op))
    return certainlyFinite(op->getOperand(1)) && certainlyFinite(op->getOperand(2));
  return false;
}

//===--- rebuilding ------------------------------------------------------------------------------===//

Value Rebuilder::operator()(Value value) { return rebuild(value); }

Value Rebuilder::rebuild(Value value) {
  if (auto found = copies.find(value); found != copies.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  Block *home = value.getParentBlock();
  if (home != body && !body->getParentOp()->isProperAncestor(home->getParentOp()))
    return copies[value] = value;
  Known known = evaluator.evaluate(value);
  Location location = value.getLoc();
  Value copy;
  if (known.number) {
    Type element = tile::elementOf(value.getType());
    TypedAttr number = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, *known.number))
                                               : TypedAttr(builder.getIntegerAttr(element, int64_t(*known.number)));
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType()))
      number = DenseElementsAttr::get(tensor, Attribute(number));
    copy = arith::ConstantOp::create(builder, location, number);
  } else if (known.same != value) {
    copy = rebuild(known.same);
    if (copy.getType() != value.getType())
      copy = tile::BroadcastOp::create(builder, location, value.getType(), copy);
  } else if (op) {
    IRMapping mapping;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
          mapping.map(operand, rebuild(operand));
    });
    Operation *clone = builder.clone(*op, mapping);
    for (auto [old, result] : llvm::zip(op->getResults(), clone->getResults()))
      copies.try_emplace(old, result);
    return copies[value];
  } else {
    copy = value;
  }
  return copies[value] = copy;
}

} // namespace tw
