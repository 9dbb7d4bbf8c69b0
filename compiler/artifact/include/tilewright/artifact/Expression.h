// Arithmetic on lengths, scalars and coordinates that is done at launch.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// `op` is the name of an operation of the DSL (add, floor_div, lt, …) over `operands`, or a leaf:
/// constant (`value`), index / extent (`name`, an axis), dimension (`name`, a tensor, and `dimension`),
/// scalar (`name`).
struct Expression {
  std::string op;
  double value = 0;
  std::string name = {};
  int dimension = 0;
  std::vector<Expression> operands = {};
};

/// All values between two ends, both included.
struct Interval {
  double low, high;
};

/// What the leaves stand for. A function may return nothing for a leaf that it does not know.
struct ExpressionScope {
  std::function<std::optional<Interval>(const Expression &leaf)> leaf;
};

/// The range of the expression over the ranges of its leaves (exact where each leaf occurs once);
/// nothing where it cannot be told: an unknown leaf, an unknown operation, a division by a range that
/// holds 0.
[[nodiscard]] std::optional<Interval> range(const Expression &expression, const ExpressionScope &scope);

} // namespace tw
