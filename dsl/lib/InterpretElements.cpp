// Elementwise operations in float64.
#include "Interpret.h"
#include <cmath>

namespace tw::detail {
namespace {

/// NaN if either is.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

/// A weight that is small but not masked is never 0: only e^−inf is. Thereby an exact 0 tells a mask, and
/// a NaN under a weight that merely underflowed still shows.
double notZero(double result, double exponent) {
  return result == 0 && std::isfinite(exponent) ? std::numeric_limits<double>::denorm_min() : result;
}
double exponential(double x) { return notZero(std::exp(x), x); }
double exponential2(double x) { return notZero(std::exp2(x), x); }
double logistic(double x) { return notZero(1 / (1 + std::exp(-x)), x); }

double floorDivision(double a, double b) {
  if (b == 0)
    return 0;   // and a fault
  if (b == -1)
    return -a;  // the least i64 has no positive one, at which the processor would stop
  auto n = static_cast<long long>(a), d = static_cast<long long>(b);
  long long quotient = n / d;
  return double(n % d != 0 && (n < 0) != (d < 0) ? quotient - 1 : quotient);
}
/// Of the numbers as they are: a product with the quotient would be rounded.
double remainder(double a, double b) {
  if (b == 0 || b == -1)
    return 0;
  auto n = static_cast<long long>(a), d = static_cast<long long>(b);
  long long rest = n % d;
  return double(rest != 0 && (rest < 0) != (d < 0) ? rest + d : rest);
}

long long integer(double x) { return static_cast<long long>(x); }

/// The low bits of a shifted integer, as the type holds them.
double shiftedLeft(double x, double places, Type type) {
  const auto bits = static_cast<unsigned long long>(integer(x)) << (integer(places) & 63);
  return type == Type::i32 ? double(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))) : double(static_cast<long long>(bits));
}
double shiftedRight(double x, double places) { return double(integer(x) >> (integer(places) & 63)); }

/// Towards zero; a NaN becomes 0, what is out of range the nearest in range.
double toInteger(double x, double least, double largest) {
  return std::isnan(x) ? 0 : std::trunc(std::fmin(std::fmax(x, least), largest));
}

double converted(double x, Type to) {
  switch (to) {
  case Type::boolean:
    return x != 0;
  case Type::i32:
    return toInteger(x, -2147483648.0, 2147483647.0);
  case Type::i64:
    return toInteger(x, -9223372036854774784.0, 9223372036854774784.0);
  default:
    return x;   // nothing is rounded
  }
}

void unary(const Node &node, Value &out, const Value &a) {
  switch (node.op) {
  case Op::neg: return map(out, a, [](double x) { return -x; });
  case Op::abs: return map(out, a, [](double x) { return std::fabs(x); });
  case Op::exp: return map(out, a, exponential);
  case Op::exp2: return map(out, a, exponential2);
  case Op::expm1: return map(out, a, [](double x) { return std::expm1(x); });
  case Op::log: return map(out, a, [](double x) { return std::log(x); });
  case Op::log2: return map(out, a, [](double x) { return std::log2(x); });
  case Op::log1p: return map(out, a, [](double x) { return std::log1p(x); });
  case Op::tanh: case Op::tanhApproximate: return map(out, a, [](double x) { return std::tanh(x); });
  case Op::sigmoid: return map(out, a, logistic);
  case Op::sqrt: return map(out, a, [](double x) { return std::sqrt(x); });
  case Op::rsqrt: return map(out, a, [](double x) { return 1 / std::sqrt(x); });
  case Op::sin: return map(out, a, [](double x) { return std::sin(x); });
  case Op::cos: return map(out, a, [](double x) { return std::cos(x); });
  case Op::erf: return map(out, a, [](double x) { return std::erf(x); });
  case Op::floor: return map(out, a, [](double x) { return std::floor(x); });
  case Op::ceil: return map(out, a, [](double x) { return std::ceil(x); });
  case Op::round: return map(out, a, [](double x) { return std::round(x); });
  case Op::trunc: return map(out, a, [](double x) { return std::trunc(x); });
  case Op::logicalNot: return map(out, a, [](double x) { return double(x == 0); });
  case Op::cast: return map(out, a, [to = node.type](double x) { return converted(x, to); });
  default: throw std::logic_error("interpreter: no unary operation");
  }
}

void binary(const Node &node, Value &out, const Value &a, const Value &b) {
  switch (node.op) {
  case Op::add: return map(out, a, b, [](double x, double y) { return x + y; });
  case Op::sub: return map(out, a, b, [](double x, double y) { return x - y; });
  case Op::mul: return map(out, a, b, [](double x, double y) { return x * y; });
  case Op::div: return map(out, a, b, [](double x, double y) { return x / y; });
  case Op::floorDiv: return map(out, a, b, floorDivision);
  case Op::mod: return map(out, a, b, remainder);
  case Op::pow: return map(out, a, b, [](double x, double y) { return std::pow(x, y); });
  case Op::bitAnd: return map(out, a, b, [](double x, double y) { return double(integer(x) & integer(y)); });
  case Op::bitOr: return map(out, a, b, [](double x, double y) { return double(integer(x) | integer(y)); });
  case Op::bitXor: return map(out, a, b, [](double x, double y) { return double(integer(x) ^ integer(y)); });
  case Op::shiftLeft: return map(out, a, b, [type = node.type](double x, double y) { return shiftedLeft(x, y, type); });
  case Op::shiftRight: return map(out, a, b, shiftedRight);
  case Op::min: return map(out, a, b, minimum);
  case Op::max: return map(out, a, b, maximum);
  case Op::lt: return map(out, a, b, [](double x, double y) { return double(x < y); });
  case Op::le: return map(out, a, b, [](double x, double y) { return double(x <= y); });
  case Op::gt: return map(out, a, b, [](double x, double y) { return double(x > y); });
  case Op::ge: return map(out, a, b, [](double x, double y) { return double(x >= y); });
  case Op::eq: return map(out, a, b, [](double x, double y) { return double(x == y); });
  case Op::ne: return map(out, a, b, [](double x, double y) { return double(x != y); });
  case Op::logicalAnd: return map(out, a, b, [](double x, double y) { return double(x != 0 && y != 0); });
  case Op::logicalOr: return map(out, a, b, [](double x, double y) { return double(x != 0 || y != 0); });
  default: throw std::logic_error("interpreter: no binary operation");
  }
}

void select(Value &out, const Value &condition, const Value &then, const Value &otherwise) {
  eachRow<3>(out, {&condition, &then, &otherwise}, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
    const double *c = condition.data.data() + offset[0], *x = then.data.data() + offset[1], *y = otherwise.data.data() + offset[2];
    for (std::int64_t i = 0; i < count; ++i)
      out.data[std::size_t(at + i)] = c[i * stride[0]] != 0 ? x[i * stride[1]] : y[i * stride[2]];
  });
}

/// What of an operand's fault reaches the result, at one point: a choice takes that of the branch it takes,
/// an `&` with a false (an `|` with a true) side forgets the other side's.
std::uint32_t inherited(Op op, const std::vector<std::uint32_t> &faults, const std::vector<double> &x) {
  if (op == Op::select)
    return faults[0] ? faults[0] : x[0] != 0 ? faults[1] : faults[2];
  if (op == Op::logicalAnd || op == Op::logicalOr)
    for (std::size_t i = 0; i < 2; ++i)
      if (!faults[i] && (x[i] != 0) == (op == Op::logicalOr))
        return 0;
  for (std::uint32_t fault : faults)
    if (fault)
      return fault;
  return 0;
}

} // namespace

Value Frame::elementwise(const Node &node) {
  std::vector<const Value *> in;
  bool faulty = false;
  for (const Tile &operand : node.operands) {
    in.push_back(&value(operand));
    faulty |= !in.back()->faults.empty();
  }
  Axes axes;
  for (const Value *v : in)
    axes = unite(axes, v->axes);
  Value out = blankFor(axes);
  if (in.size() == 1)
    unary(node, out, *in[0]);
  else if (in.size() == 2)
    binary(node, out, *in[0], *in[1]);
  else
    select(out, *in[0], *in[1], *in[2]);

  const bool divides = node.op == Op::floorDiv || node.op == Op::mod, shifts = node.op == Op::shiftLeft || node.op == Op::shiftRight;
  const double places = 8.0 * bytes(node.type);
  auto isWrong = [&](double second) { return (divides && second == 0) || (shifts && !(second >= 0 && second < places)); };
  if (divides || shifts)
    for (double second : in[1]->data)
      faulty |= isWrong(second);
  if (!faulty)
    return out;
  out.faults.resize(out.data.size());
  std::array<const Value *, 3> three{in[0], in[in.size() > 1 ? 1 : 0], in[in.size() > 2 ? 2 : 0]};
  eachRow<3>(out, three, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<std::uint32_t> faults;
      std::vector<double> x;
      for (std::size_t j = 0; j < in.size(); ++j) {
        faults.push_back(in[j]->fault(offset[j] + i * stride[j]));
        x.push_back(in[j]->data[std::size_t(offset[j] + i * stride[j])]);
      }
      std::uint32_t fault = inherited(node.op, faults, x);
      if (!fault && x.size() > 1 && isWrong(x[1]))
        fault = divides ? machine.faults.divisionByZero(node) : machine.faults.shiftOutside(node, integer(x[1]));
      out.faults[std::size_t(at + i)] = fault;
    }
  });
  return out;
}

} // namespace tw::detail
