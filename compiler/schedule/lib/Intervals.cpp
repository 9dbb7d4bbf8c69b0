// One rule an operation. Unknown operands stand for finite numbers: 0 · x is 0, −inf + x is −inf.
#include "Intervals.h"
#include <algorithm>
#include <cmath>

namespace tw {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

Interval truth(bool surely, bool surelyNot) { return {surely ? 1.0 : 0.0, surelyNot ? 0.0 : 1.0}; }

Interval hull(const Interval &a, const Interval &b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

Interval plus(const Interval &a, const Interval &b) {
  for (double end : {-infinite, infinite})
    if (a.is(end) || b.is(end))
      return {end, end};
  const double low = a.low + b.low, high = a.high + b.high;
  return {std::isnan(low) ? -infinite : low, std::isnan(high) ? infinite : high};
}

Interval negated(const Interval &a) { return {-a.high, -a.low}; }

Interval times(const Interval &a, const Interval &b) {
  if (a.is(0) || b.is(0))
    return {0, 0};
  Interval result{infinite, -infinite};
  for (double x : {a.low, a.high})
    for (double y : {b.low, b.high}) {
      const double product = x == 0 || y == 0 ? 0 : x * y;
      result = hull(result, {product, product});
    }
  return result;
}

Interval quotient(const Interval &a, const Interval &b) {
  if (a.is(0))
    return {0, 0};
  if (b.low <= 0 && b.high >= 0)
    return {};
  return times(a, {1 / b.high, 1 / b.low});
}

Interval floored(const Interval &a) { return {std::floor(a.low), std::floor(a.high)}; }

/// By a positive number: exact where the whole interval has one quotient.
Interval remainder(const Interval &a, const Interval &b) {
  if (b.low != b.high || !(b.low > 0) || !std::isfinite(a.low) || !std::isfinite(a.high))
    return {};
  const double q = std::floor(a.low / b.low);
  return q == std::floor(a.high / b.low) ? Interval{a.low - q * b.low, a.high - q * b.low} : Interval{0, b.low - 1};
}

template <class F> Interval rising(const Interval &a, F f) { return {f(a.low), f(a.high)}; }

Interval sigmoidOf(const Interval &a) {
  return rising(a, [](double x) { return 1 / (1 + std::exp(-x)); });
}

Interval comparison(Op op, const Interval &a, const Interval &b) {
  switch (op) {
  case Op::lt: return truth(a.high < b.low, a.low >= b.high);
  case Op::le: return truth(a.high <= b.low, a.low > b.high);
  case Op::gt: return comparison(Op::lt, b, a);
  case Op::ge: return comparison(Op::le, b, a);
  case Op::eq: return truth(a.low == a.high && b.is(a.low), a.high < b.low || b.high < a.low);
  default: {
    const Interval equal = comparison(Op::eq, a, b);
    return {1 - equal.high, 1 - equal.low};
  }
  }
}

} // namespace

Interval intervalOf(const Node &node, const std::vector<Interval> &v) {
  switch (node.op) {
  case Op::named: return v.back();
  case Op::stabiliser: case Op::reduceMax: case Op::reduceMin: return v[0];
  case Op::cast: return isFloat(node.type) || node.type == Type::boolean ? v[0] : rising(v[0], [](double x) { return std::trunc(x); });
  case Op::neg: return negated(v[0]);
  case Op::abs: return v[0].low >= 0 ? v[0] : v[0].high <= 0 ? negated(v[0]) : Interval{0, std::max(-v[0].low, v[0].high)};
  case Op::exp: return rising(v[0], [](double x) { return std::exp(x); });
  case Op::exp2: return rising(v[0], [](double x) { return std::exp2(x); });
  case Op::expm1: return rising(v[0], [](double x) { return std::expm1(x); });
  case Op::tanh: case Op::tanhApproximate: return rising(v[0], [](double x) { return std::tanh(x); });
  case Op::sigmoid: return sigmoidOf(v[0]);
  case Op::floor: return floored(v[0]);
  case Op::add: return plus(v[0], v[1]);
  case Op::sub: return plus(v[0], negated(v[1]));
  case Op::mul: case Op::dot: return times(v[0], v[1]);
  case Op::div: return quotient(v[0], v[1]);
  case Op::floorDiv: return floored(quotient(v[0], v[1]));
  case Op::mod: return remainder(v[0], v[1]);
  case Op::min: return {std::min(v[0].low, v[1].low), std::min(v[0].high, v[1].high)};
  case Op::max: return {std::max(v[0].low, v[1].low), std::max(v[0].high, v[1].high)};
  case Op::reduceSum: return v[0].is(0) ? v[0] : v[0].low >= 0 ? Interval{0, infinite} : Interval{};
  case Op::lt: case Op::le: case Op::gt: case Op::ge: case Op::eq: case Op::ne: return comparison(node.op, v[0], v[1]);
  case Op::logicalNot: return {1 - v[0].high, 1 - v[0].low};
  case Op::logicalAnd: return {std::min(v[0].low, v[1].low), std::min(v[0].high, v[1].high)};
  case Op::logicalOr: return {std::max(v[0].low, v[1].low), std::max(v[0].high, v[1].high)};
  case Op::select: return v[0].low == v[0].high ? v[0].low != 0 ? v[1] : v[2] : hull(v[1], v[2]);
  default: return node.type == Type::boolean ? Interval{0, 1} : Interval{};
  }
}

} // namespace tw
