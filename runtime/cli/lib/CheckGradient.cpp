// Gradients beside float64.
#include "RunGradient.h"
#include "Uniform.h"
#include "Variant.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/GradientKernels.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {
namespace {

double unitRoundoff(Type type) { return type == Type::f16 ? 0x1p-11 : type == Type::bf16 ? 0x1p-8 : type == Type::f64 ? 0x1p-53 : 0x1p-24; }

double largestDifference(const Array &a, const Array &b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.data.size(); ++i)
    if (std::isfinite(a.data[i]) && std::isfinite(b.data[i]))
      largest = std::max(largest, std::abs(a.data[i] - b.data[i]));
  return largest;
}

Comparison compareGradient(const std::string &name, const Array &result, const Array &expected, Type type, double tolerance) {
  Comparison c{name};
  c.isRight = true;
  std::int64_t finite = 0;
  double squares = 0;
  auto place = [&](std::size_t at) {
    std::vector<std::int64_t> index(expected.shape.size());
    for (std::size_t d = index.size(); d-- > 0; at /= std::size_t(expected.shape[d]))
      index[d] = std::int64_t(at % std::size_t(expected.shape[d]));
    return index;
  };
  auto wrong = [&](std::size_t at, const char *what) {
    if (c.wrong.empty())
      c.wrong = fmt::format("{} at [{}]: {}, expected {}", what, fmt::join(place(at), ", "), result.data[at], expected.data[at]);
    c.isRight = false;
  };
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    const double got = result.data[i], want = expected.data[i];
    if (std::isnan(got) && std::isnan(want)) {
      ++c.nans;
      continue;
    }
    if (std::isnan(got) || std::isnan(want)) {
      wrong(i, std::isnan(got) ? "NaN" : "no NaN");
      continue;
    }
    if (!std::isfinite(got) || !std::isfinite(want)) {
      if (got != want && got != rounded(want, type))
        wrong(i, "an infinity on one side");
      continue;
    }
    const double error = std::abs(got - want), allowed = tolerance + unitRoundoff(type) * std::abs(want), share = allowed > 0 ? error / allowed : error > 0 ? INFINITY : 0;
    ++finite;
    squares += error * error;
    c.maxError = std::max(c.maxError, error);
    if (error > allowed)
      wrong(i, "too far off");
    if (c.worst.empty() || share > c.largestShare) {
      c.largestShare = share;
      c.worst = place(i);
      c.result = got;
      c.expected = want;
      c.tolerance = allowed;
    }
  }
  c.rmsError = finite ? std::sqrt(squares / double(finite)) : 0;
  return c;
}

/// Multiplications of one evaluation of all programs, were nothing masked.
double work(const BackwardProblem &problem) {
  const Shape &s = problem.problem.shape;
  return double(s.b) * double(s.h) * double(s.sq) * double(s.skv) * 5 * double(s.d + s.dv) / 2;
}

// The interpreter does some 10^8 of them a second, kernels in float64 some 10^9 a thread.
constexpr double mostInterpreted = 2e9, mostCompiled = 4e12;

/// The gradients by kernels for the CPU in float64, where the interpreter would take too long.
Arrays byKernels(const BackwardProblem &problem, const Evaluation &inputs) {
  const Problem &given = problem.problem;
  const Problem wide{given.variant, programOf(given.variant, {.type = Type::f64, .lse = true}), Type::f64, given.shape, given.inputs, given.facts};
  const RunOptions once{.repeat = 1};
  BackwardProblem exact(wide, backwardOptions(wide, once));
  exact.inputs = inputs;
  return backwardOnCpu(exact, once).gradients;
}

Arrays byInput(const Gradient &made, const Arrays &stored) {
  Arrays gradients;
  for (const auto &[input, name] : made.gradients)
    gradients[input] = stored.at(name);
  return gradients;
}

Type typeOf(const Problem &problem, const std::string &input) {
  for (const auto &tensor : tensorsOf(problem.program))
    if (tensor->name == input)
      return tensor->type;
  return Type::f32;
}

} // namespace

/// What rounding explains is measured: four times what the largest element of a gradient moves by when all that kernels
/// store between them is rounded to its type, and when every input moves by what 16 roundings in the arithmetic's type, or one in its own, may.
std::vector<Comparison> checkGradients(const BackwardProblem &problem, const BackwardReport &report) {
  const Type type = problem.problem.type;
  if (work(problem) > mostCompiled)
    throw std::invalid_argument(fmt::format("--check: float64 would take {:.0g} multiplications for this shape, more than {:.0g}; take a smaller one, or leave --check out", work(problem), mostCompiled));
  const bool isInterpreted = work(problem) <= mostInterpreted || type == Type::f64;
  auto gradientsOf = [&](const Evaluation &inputs) { return isInterpreted ? byInput(problem.made, evaluateGradient(problem.made, inputs)) : byKernels(problem, inputs); };
  const Arrays exact = gradientsOf(problem.inputs);
  const double u = std::max(unitRoundoff(type), 16 * unitRoundoff(type == Type::f64 ? Type::f64 : Type::f32));
  Evaluation moved = problem.inputs;
  Uniform uniform(1);
  for (auto &[name, array] : moved.tensors)
    for (double &x : array.data)
      x *= 1 + u * uniform();
  const Arrays shaken = gradientsOf(moved);
  // Where kernels do it, what is stored between them is not rounded; one rounding of O moves a gradient no further than one of each input.
  const Arrays stored = isInterpreted ? byInput(problem.made, evaluateGradient(problem.made, problem.inputs, [](double x, Type to) { return rounded(x, to); })) : shaken;
  std::vector<Comparison> comparisons;
  for (const auto &[input, expected] : exact) {
    const double tolerance = 4 * (largestDifference(stored.at(input), expected) + largestDifference(shaken.at(input), expected));
    comparisons.push_back(compareGradient(problem.made.gradients.at(input), report.gradients.at(input), expected, typeOf(problem.problem, input), tolerance));
  }
  return comparisons;
}

} // namespace tw::cli
