// Interval arithmetic over launch-time expressions.
#include "tilewright/artifact/Expression.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace tw {
namespace {
using Range = std::optional<Interval>;

/// The hull of f over the corners: right for every function that is monotone in each argument.
template <class F> Range corners(const Interval &a, const Interval &b, F f) {
  double values[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  for (double value : values)
    if (std::isnan(value))
      return {};
  auto [low, high] = std::minmax_element(std::begin(values), std::end(values));
  return Interval{*low, *high};
}

/// A truth value as an interval in [0, 1].
Interval truth(bool surely, bool possibly) { return {surely ? 1.0 : 0.0, possibly ? 1.0 : 0.0}; }

Range remainder(const Interval &a, const Interval &b) {
  if (b.low <= 0)
    return {};
  if (a.low == a.high && b.low == b.high) {
    double r = a.low - b.low * std::floor(a.low / b.low);
    return Interval{r, r};
  }
  if (a.low >= 0 && a.high < b.low)
    return a;
  return Interval{0, b.high - 1};
}

/// With a number that has no sign the bits of that number are all that may be left.
Range bitAnd(const Interval &a, const Interval &b) {
  if (a.low < 0 && b.low < 0)
    return {};
  return Interval{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
}

Range binary(const std::string &op, const Interval &a, const Interval &b) {
  if (op == "add") return corners(a, b, [](double x, double y) { return x + y; });
  if (op == "sub") return corners(a, b, [](double x, double y) { return x - y; });
  if (op == "mul") return corners(a, b, [](double x, double y) { return x * y; });
  if (op == "min") return corners(a, b, [](double x, double y) { return std::min(x, y); });
  if (op == "max") return corners(a, b, [](double x, double y) { return std::max(x, y); });
  if (op == "div" || op == "floor_div") {
    if (b.low <= 0 && b.high >= 0)
      return {};
    bool whole = op == "floor_div";
    return corners(a, b, [&](double x, double y) { return whole ? std::floor(x / y) : x / y; });
  }
  if (op == "mod") return remainder(a, b);
  if (op == "bit_and") return bitAnd(a, b);
  if (op == "shift_right") return b.low >= 0 && b.high < 64 ? corners(a, b, [](double x, double y) { return std::floor(std::ldexp(x, -int(y))); }) : Range();
  if (op == "lt") return truth(a.high < b.low, a.low < b.high);
  if (op == "le") return truth(a.high <= b.low, a.low <= b.high);
  if (op == "gt") return truth(a.low > b.high, a.high > b.low);
  if (op == "ge") return truth(a.low >= b.high, a.high >= b.low);
  bool meet = a.low <= b.high && b.low <= a.high, points = a.low == a.high && b.low == b.high;
  if (op == "eq") return truth(points && a.low == b.low, meet);
  if (op == "ne") return truth(!meet, !(points && a.low == b.low));
  if (op == "and") return truth(a.low > 0 && b.low > 0, a.high > 0 && b.high > 0);
  if (op == "or") return truth(a.low > 0 || b.low > 0, a.high > 0 || b.high > 0);
  return {};
}

Range unary(const std::string &op, const Interval &a) {
  if (op == "neg") return Interval{-a.high, -a.low};
  if (op == "not") return Interval{1 - a.high, 1 - a.low};
  if (op == "abs") {
    double low = a.low <= 0 && a.high >= 0 ? 0 : std::min(std::fabs(a.low), std::fabs(a.high));
    return Interval{low, std::max(std::fabs(a.low), std::fabs(a.high))};
  }
  if (op == "floor") return Interval{std::floor(a.low), std::floor(a.high)};
  if (op == "ceil") return Interval{std::ceil(a.low), std::ceil(a.high)};
  if (op == "round") return Interval{std::round(a.low), std::round(a.high)};
  if (op == "trunc") return Interval{std::trunc(a.low), std::trunc(a.high)};
  if (op == "sqrt" && a.low >= 0) return Interval{std::sqrt(a.low), std::sqrt(a.high)};
  return {};
}
} // namespace

Range range(const Expression &expression, const ExpressionScope &scope) {
  const std::string &op = expression.op;
  if (op == "constant")
    return Interval{expression.value, expression.value};
  if (expression.operands.empty())
    return scope.leaf(expression);
  std::vector<Interval> in;
  for (const Expression &operand : expression.operands) {
    Range r = range(operand, scope);
    if (!r)
      return {};
    in.push_back(*r);
  }
  if (in.size() == 1)
    return unary(op, in[0]);
  if (in.size() == 2)
    return binary(op, in[0], in[1]);
  if (op == "select") {
    if (in[0].low > 0)
      return in[1];
    if (in[0].high == 0)
      return in[2];
    return Interval{std::min(in[1].low, in[2].low), std::max(in[1].high, in[2].high)};
  }
  return {};
}

} // namespace tw
