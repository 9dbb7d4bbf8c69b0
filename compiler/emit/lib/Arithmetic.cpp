// Scalar arithmetic as expressions of C++: tables of operators and functions, and the few that are neither.
#include "Arithmetic.h"
#include "tilewright/ir/Device.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>
using namespace mlir;

namespace tw::emit {
namespace {

struct Operator {
  const char *symbol;
  Precedence precedence;
  const char *stem;
};

const Operator *operatorOf(Operation *op) {
  static const llvm::StringMap<Operator> numbers{
      {"arith.addf", {"+", Precedence::sum, "sum"}},           {"arith.addi", {"+", Precedence::sum, "sum"}},
      {"arith.andi", {"&", Precedence::bitAnd, "bits"}},       {"arith.divf", {"/", Precedence::product, "quotient"}},
      {"arith.divsi", {"/", Precedence::product, "quotient"}}, {"arith.mulf", {"*", Precedence::product, "product"}},
      {"arith.muli", {"*", Precedence::product, "product"}},   {"arith.ori", {"|", Precedence::bitOr, "bits"}},
      {"arith.remsi", {"%", Precedence::product, "rest"}},     {"arith.shli", {"<<", Precedence::shift, "shifted"}},
      {"arith.shrsi", {">>", Precedence::shift, "shifted"}},   {"arith.subf", {"-", Precedence::sum, "difference"}},
      {"arith.subi", {"-", Precedence::sum, "difference"}},    {"arith.xori", {"^", Precedence::bitXor, "bits"}}};
  static const llvm::StringMap<Operator> truths{{"arith.andi", {"&&", Precedence::both, "both"}},
                                                {"arith.ori", {"||", Precedence::either, "either"}},
                                                {"arith.xori", {"!=", Precedence::equality, "differs"}}};
  auto &table = op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1) ? truths : numbers;
  auto found = table.find(op->getName().getStringRef());
  return found == table.end() ? nullptr : &found->second;
}

struct Function {
  const char *call;
  const char *stem;
};

const Function *functionOf(Operation *op) {
  static const Function approximateTanh{"tanh_fast", "tangent"};
  if (auto tanh = dyn_cast<math::TanhOp>(op); tanh && bitEnumContainsAll(tanh.getFastmath(), arith::FastMathFlags::afn))
    return &approximateTanh;
  static const llvm::StringMap<Function> table{
      {"arith.ceildivsi", {"ceil_div", "quotient"}}, {"arith.floordivsi", {"floor_div", "quotient"}},
      {"arith.maximumf", {"max_nan", "larger"}},     {"arith.maxnumf", {"fmaxf", "larger"}},
      {"arith.maxsi", {"max", "larger"}},            {"arith.minimumf", {"min_nan", "smaller"}},
      {"arith.minnumf", {"fminf", "smaller"}},       {"arith.minsi", {"min", "smaller"}},
      {"arith.remf", {"fmodf", "rest"}},             {"math.absf", {"fabsf", "magnitude"}},
      {"math.absi", {"abs", "magnitude"}},           {"math.acosh", {"acoshf", "angle"}},
      {"math.asinh", {"asinhf", "angle"}},           {"math.atan", {"atanf", "angle"}},
      {"math.atan2", {"atan2f", "angle"}},           {"math.ceil", {"ceilf", "whole"}},
      {"math.copysign", {"copysignf", "signed_"}},   {"math.cos", {"cosf", "cosine"}},
      {"math.erf", {"erff", "error"}},               {"math.exp2", {"ex2", "power"}},
      {"math.expm1", {"expm1f", "power"}},           {"math.floor", {"floorf", "whole"}},
      {"math.fma", {"fmaf", "sum"}},                 {"math.isfinite", {"isfinite", "holds"}},
      {"math.isinf", {"isinf", "holds"}},            {"math.isnan", {"isnan", "holds"}},
      {"math.log1p", {"log1pf", "logarithm"}},       {"math.log2", {"lg2", "logarithm"}},
      {"math.powf", {"powf", "power"}},              {"math.round", {"roundf", "whole"}},
      {"math.roundeven", {"rintf", "whole"}},        {"math.rsqrt", {"rsqrtf", "root"}},
      {"math.sin", {"sinf", "sine"}},                {"math.sqrt", {"sqrtf", "root"}},
      {"math.tanh", {"tanh_accurate", "tangent"}},   {"math.trunc", {"truncf", "whole"}}};
  auto found = table.find(op->getName().getStringRef());
  return found == table.end() ? nullptr : &found->second;
}

/// The divisor d of x - floor(x / d) * d, if it is a positive constant.
std::optional<int64_t> divisorOfRest(arith::SubIOp rest) {
  auto product = rest.getRhs().getDefiningOp<arith::MulIOp>();
  auto quotient = product ? product.getLhs().getDefiningOp<arith::FloorDivSIOp>() : arith::FloorDivSIOp();
  APInt divisor, factor;
  if (!quotient || quotient.getLhs() != rest.getLhs() || !matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)) || !matchPattern(product.getRhs(), m_ConstantInt(&factor)) || divisor != factor || !divisor.isStrictlyPositive())
    return {};
  return divisor.getSExtValue();
}

/// Writes one expression, gathering what its operands read.
class Writer {
public:
  Writer(Values &values, bool ofElement) : values(values), ofElement(ofElement) {}
  std::optional<Computed> write(Operation *op);

private:
  std::string take(Expression operand, Precedence least) {
    reads.append(operand.reads.begin(), operand.reads.end());
    return operand.as(least);
  }
  std::string operand(Value value, Precedence least = Precedence::conditional) { return take(values.use(value), least); }
  std::string repeated(Value value) { return take(values.repeatable(value), Precedence::primary); }
  Computed computed(const std::string &text, Precedence precedence, const char *stem) { return {{text, precedence, reads}, stem}; }

  Computed binary(Value left, Value right, const Operator &op);
  Computed call(Operation *op, const Function &function);
  Computed prefixed(const std::string &prefix, Value value, const char *stem);
  std::optional<Computed> compared(arith::CmpFOp op);
  Computed compared(arith::CmpIOp op);
  std::optional<Computed> special(Operation *op);

  Values &values;
  bool ofElement;
  SmallVector<Value, 2> reads;
};

Computed Writer::binary(Value left, Value right, const Operator &op) {
  // Where the binding is seldom known by heart, operands stand in parentheses.
  const Precedence least = op.precedence == Precedence::shift                                               ? Precedence::product
                           : op.precedence < Precedence::equality                                           ? Precedence::equality
                           : op.precedence == Precedence::equality || op.precedence == Precedence::relation ? Precedence::shift
                                                                                                            : op.precedence;
  const Precedence chained = op.precedence == Precedence::both || op.precedence == Precedence::either ? op.precedence : least;
  std::string text = operand(left, chained), last = operand(right, std::max(least, tighterThan(op.precedence)));
  const bool isNegative = last.starts_with("-") && StringRef(op.symbol) == "+";   // a + -1 reads better as a - 1
  return computed(text + " " + (isNegative ? "- " + last.substr(1) : op.symbol + (" " + last)), op.precedence, op.stem);
}

Computed Writer::call(Operation *op, const Function &function) {
  std::string text;
  for (Value argument : op->getOperands())
    text += (text.empty() ? "" : ", ") + operand(argument);
  return computed(std::string(function.call) + "(" + text + ")", Precedence::primary, function.stem);
}

Computed Writer::prefixed(const std::string &prefix, Value value, const char *stem) {
  std::string text = operand(value, Precedence::unary);
  if (prefix == "-" && text.starts_with("-"))
    text = "(" + text + ")";
  return computed(prefix + text, Precedence::unary, stem);
}

Computed Writer::compared(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  const bool isUnsigned = op.getPredicate() >= P::ult;
  const char *cast = !isUnsigned ? "" : op.getLhs().getType().isInteger(64) ? "(u64)" : "(u32)";
  const char *symbol = nullptr;
  switch (op.getPredicate()) {
  case P::eq: symbol = "=="; break;
  case P::ne: symbol = "!="; break;
  case P::slt: case P::ult: symbol = "<"; break;
  case P::sle: case P::ule: symbol = "<="; break;
  case P::sgt: case P::ugt: symbol = ">"; break;
  case P::sge: case P::uge: symbol = ">="; break;
  }
  const Precedence least = isUnsigned ? Precedence::unary : Precedence::shift;
  std::string left = operand(op.getLhs(), least), right = operand(op.getRhs(), least);
  const bool isEquality = op.getPredicate() == P::eq || op.getPredicate() == P::ne;
  return computed(cast + left + " " + symbol + " " + cast + right, isEquality ? Precedence::equality : Precedence::relation, "holds");
}

// Of C++'s comparisons != holds where a number is NaN and the others do not, so the rest are their negations.
std::optional<Computed> Writer::compared(arith::CmpFOp op) {
  using P = arith::CmpFPredicate;
  auto plain = [&](const char *symbol, bool negated = false) {
    std::string text = operand(op.getLhs(), Precedence::shift) + " " + symbol + " " + operand(op.getRhs(), Precedence::shift);
    const bool isEquality = StringRef(symbol) == "==" || StringRef(symbol) == "!=";
    return negated ? computed("!(" + text + ")", Precedence::unary, "holds")
                   : computed(text, isEquality ? Precedence::equality : Precedence::relation, "holds");
  };
  auto twice = [&](const char *first, const char *join, const char *second, bool isOfEach) {
    std::string a = repeated(op.getLhs()), b = repeated(op.getRhs());
    return isOfEach ? a + " " + first + " " + a + join + b + " " + second + " " + b : a + " " + first + " " + b + join + a + " " + second + " " + b;
  };
  switch (op.getPredicate()) {
  case P::OEQ: return plain("==");
  case P::OGT: return plain(">");
  case P::OGE: return plain(">=");
  case P::OLT: return plain("<");
  case P::OLE: return plain("<=");
  case P::UNE: return plain("!=");
  case P::UGT: return plain("<=", true);
  case P::UGE: return plain("<", true);
  case P::ULT: return plain(">=", true);
  case P::ULE: return plain(">", true);
  case P::ONE: return computed(twice("<", " || ", ">", false), Precedence::either, "holds");
  case P::UEQ: return computed("!(" + twice("<", " || ", ">", false) + ")", Precedence::unary, "holds");
  case P::ORD: return computed(twice("==", " && ", "==", true), Precedence::both, "holds");
  case P::UNO: return computed(twice("!=", " || ", "!=", true), Precedence::either, "holds");
  default: return std::nullopt;
  }
}

bool isTrue(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return number && number.getType().isInteger(1) && !number.getValue().isZero();
}

std::optional<Computed> Writer::special(Operation *op) {
  using Result = std::optional<Computed>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::ConstantOp constant) -> Result {
        if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
          return Computed{literal(number.getValue()), "number"};
        if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
          return Computed{literal(number.getValue(), number.getType()), "number"};
        return std::nullopt;
      })
      .Case([&](arith::CmpIOp compare) -> Result { return compared(compare); })
      .Case([&](arith::CmpFOp compare) { return compared(compare); })
      .Case([&](arith::NegFOp negation) -> Result { return prefixed("-", negation.getOperand(), "negative"); })
      .Case([&](arith::SelectOp select) -> Result {
        std::string condition = operand(select.getCondition(), Precedence::either);
        // Numbers are computed whatever the condition says: a branch around work on accumulators would serialise wgmma.
        auto side = [&](Value value) {
          return isa<FloatType>(value.getType()) ? take(values.repeatable(value), Precedence::either) : operand(value, Precedence::either);
        };
        std::string yes = side(select.getTrueValue()), no = side(select.getFalseValue());
        return computed(condition + " ? " + yes + " : " + no, Precedence::conditional, "chosen");
      })
      .Case<arith::ExtSIOp>([&](auto extend) -> Result {
        const bool ofTruth = extend.getIn().getType().isInteger(1);
        return prefixed(std::string(ofTruth ? "-" : "") + "(" + scalarType(extend.getType()) + ")", extend.getIn(), "wide");
      })
      .Case<arith::ExtUIOp>([&](auto extend) -> Result {
        return prefixed(std::string("(") + scalarType(extend.getType()) + ")" + (extend.getIn().getType().isInteger(32) ? "(u32)" : ""),
                        extend.getIn(), "wide");
      })
      .Case([&](arith::ShRUIOp shift) -> Result {   // C++ shifts by the sign of the type
        const bool isLong = shift.getType().isInteger(64);
        const std::string places = operand(shift.getRhs(), Precedence::product);
        return computed(fmt::format("({})(({}){} >> {})", scalarType(shift.getType()), isLong ? "u64" : "u32", operand(shift.getLhs(), Precedence::unary), places), Precedence::unary, "shifted");
      })
      .Case<arith::TruncIOp>([&](auto truncate) -> Result {
        if (truncate.getType().isInteger(1))
          return computed(fmt::format("({} & 1) != 0", operand(truncate.getIn(), Precedence::equality)), Precedence::equality, "bit");
        return prefixed(std::string("(") + scalarType(truncate.getType()) + ")", truncate.getIn(), "low");
      })
      .Case<arith::SIToFPOp>([&](auto convert) -> Result {
        return prefixed(convert.getIn().getType().isInteger(1) ? "-(float)" : "(float)", convert.getIn(), "number");
      })
      .Case<arith::UIToFPOp>([&](auto convert) -> Result {
        const char *cast = convert.getIn().getType().isInteger(1) ? "(float)" : convert.getIn().getType().isInteger(32) ? "(float)(u32)" : "(float)(u64)";
        return prefixed(cast, convert.getIn(), "number");
      })
      .Case<arith::FPToSIOp>([&](auto convert) -> Result {
        return prefixed(std::string("(") + scalarType(convert.getType()) + ")", convert.getIn(), "whole");
      })
      .Case<arith::TruncFOp>([&](auto round) -> Result {
        return computed(widened(std::string(packFunction(round.getType())) + "(" + operand(round.getIn()) + ", 0.f)", round.getType(),
                                Float32Type::get(op->getContext())), Precedence::primary, "rounded");
      })
      .Case<arith::ExtFOp>([&](auto extend) -> Result {   // a 16-bit float is held in a float
        Expression held = values.use(extend.getIn());
        std::string text = take(held, Precedence::conditional);
        return computed(text, held.precedence, "wide");
      })
      .Case([&](math::ExpOp exponential) -> Result {
        return computed("ex2(" + operand(exponential.getOperand(), Precedence::product) + " * 1.44269504f)", Precedence::primary, "power");
      })
      .Case([&](math::LogOp logarithm) -> Result {
        return computed("lg2(" + operand(logarithm.getOperand()) + ") * 0.69314718f", Precedence::product, "logarithm");
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Computed> Writer::write(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!scalarType(type))
      return std::nullopt;
  if (auto exclusive = dyn_cast<arith::XOrIOp>(op); exclusive && exclusive.getType().isInteger(1) && isTrue(exclusive.getRhs()))
    return prefixed("!", exclusive.getLhs(), "not_so");
  // What was extended without a sign fills all of 64 bits with a product, which C++ defines for unsigned numbers.
  if (auto product = dyn_cast<arith::MulIOp>(op); product && product.getType().isInteger(64) && product.getLhs().getDefiningOp<arith::ExtUIOp>()) {
    const std::string left = operand(product.getLhs(), Precedence::unary), right = operand(product.getRhs(), Precedence::unary);
    return computed(fmt::format("({})((u64){} * (u64){})", scalarType(product.getType()), left, right), Precedence::unary, "product");
  }
  if (auto quotient = dyn_cast<arith::DivFOp>(op); quotient && ofElement && matchPattern(quotient.getLhs(), m_OneFloat()))
    return computed("rcp(" + operand(quotient.getRhs()) + ")", Precedence::primary, "inverse");
  // What is asked of each element or tile and divides by a power of two shifts, and what is left of it are its low bits: compilers do not see as much through the test for a rest.
  const bool isAskedOften = ofElement || op->getParentOfType<device::ListTilesOp>();
  if (auto rest = dyn_cast<arith::SubIOp>(op); rest && isAskedOften)
    if (std::optional<int64_t> divisor = divisorOfRest(rest); divisor && llvm::isPowerOf2_64(std::uint64_t(*divisor)))
      return computed(fmt::format("{} & {}", operand(rest.getLhs(), Precedence::bitAnd), *divisor - 1), Precedence::bitAnd, "rest");
  if (auto quotient = dyn_cast<arith::FloorDivSIOp>(op); quotient && isAskedOften)
    if (APInt divisor; matchPattern(quotient.getRhs(), m_ConstantInt(&divisor)) && divisor.isStrictlyPositive() && divisor.isPowerOf2())
      return computed(fmt::format("{} >> {}", operand(quotient.getLhs(), Precedence::product), divisor.logBase2()), Precedence::shift, "quotient");
  if (isa<arith::DivFOp>(op) && ofElement)
    return call(op, {"__fdividef", "quotient"});
  if (const Operator *found = operatorOf(op))
    return binary(op->getOperand(0), op->getOperand(1), *found);
  if (const Function *found = functionOf(op))
    return call(op, *found);
  return special(op);
}

} // namespace

std::optional<Computed> arithmetic(Operation *op, Values &values, bool ofElement) { return Writer(values, ofElement).write(op); }

} // namespace tw::emit
