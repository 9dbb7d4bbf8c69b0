// A result beside float64: how far apart they are, and how far they may be.
#pragma once
#include "Problem.h"
#include <string>

namespace tw::cli {

/// Evaluates the problem in float64, head by head, with progress on a terminal. `foldTile` as in Evaluation.
[[nodiscard]] std::map<std::string, Array> oracle(const Problem &problem, std::int64_t foldTile = 0);

/// One output against its oracle. Errors are of elements that are finite in both.
struct Comparison {
  std::string tensor;
  bool isRight = false;
  std::string wrong;              // what is wrong, where it is; empty: nothing
  double maxError = 0, rmsError = 0;
  double largestShare = 0;        // error / tolerance, the largest; right up to 1
  std::vector<std::int64_t> worst;   // the element of the largest share
  double result = 0, expected = 0, tolerance = 0;   // of that element
  std::int64_t nans = 0;          // elements that are NaN in both
  std::int64_t limited = 0;       // elements of O whose tolerance is 5% of the largest |V|, though rounding may explain more
};

/// Compares O or lse. The tolerance of each element is what theory allows a computation in f32 (f64 for f64) whose inputs and
/// outputs are of the tensor's type; docs/cli.md derives it. A NaN must be in both.
[[nodiscard]] Comparison compare(const Problem &problem, const std::string &tensor, const Array &result, const Array &expected);

} // namespace tw::cli
