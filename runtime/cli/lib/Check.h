// A result beside float64: how far apart they are, and how far they may be.
#pragma once
#include "Problem.h"
#include <string>
#include <utility>
#include <vector>

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
  int parts = 1;                  // of the tensor that were compared apart
  std::int64_t limited = 0;       // elements of O whose tolerance is 5% of the largest |V|, though rounding may explain more
};

/// Compares O or lse. The tolerance of each element is what theory allows a computation in f32 (f64 for f64) whose inputs and
/// outputs are of the tensor's type; docs/cli.md derives it. Of a variant in a file it is measured, by checkAll() and checkWithin(). A NaN must be in both. Where the problem is part of a larger one, `origin` is
/// its first batch and head there: places are told as they are in the whole.
struct Origin {
  std::int64_t b = 0, h = 0;
};
[[nodiscard]] Comparison compare(const Problem &problem, const std::string &tensor, const Array &result, const Array &expected, const Origin &origin = {});

/// What came of a check.
struct Verdict {
  std::vector<Comparison> comparisons;                         // empty: nothing was checked
  std::vector<std::pair<std::int64_t, std::int64_t>> heads;    // (b, h) of those checked; empty: all
  std::int64_t pairs = 0;                                      // of b and h that there are, where only some were checked
  [[nodiscard]] bool isRight() const;
};

/// Compares O and lse with float64.
[[nodiscard]] Verdict checkAll(const Problem &problem, const std::map<std::string, Array> &outputs);

/// Multiplications that a check may take.
struct CheckBudget {
  double interpreted;        // up to which evaluate() does all heads
  double compiled;           // beyond: a kernel for the CPU in float64 does as many heads as this allows, at least one
  std::int64_t mostHeads;
};
/// Some ten seconds of a processor for each of them.
inline constexpr CheckBudget usualBudget{1e9, 5e10, 8};

/// The same within a budget: a sample of the heads where all would take too long.
[[nodiscard]] Verdict checkWithin(const Problem &problem, const std::map<std::string, Array> &outputs, const CheckBudget &budget);

} // namespace tw::cli
