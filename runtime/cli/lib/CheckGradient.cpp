// Gradients beside float64.
#include "CompareElements.h"
#include "RunGradient.h"
#include "Uniform.h"
#include "Variant.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/GradientKernels.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// Multiplications of one evaluation of all programs, were nothing masked.
double work(const BackwardProblem &problem) {
  const Shape &s = problem.problem.shape;
  return double(s.b) * double(s.h) * double(s.sq) * double(s.skv) * 5 * double(s.d + s.dv) / 2;
}

// The interpreter does some 10^8 of them a second, kernels in float64 some 10^9 a thread.
constexpr double mostInterpreted = 2e9, mostCompiled = 4e12;

// Of few elements the largest may hardly move by chance: up to a second an evaluation, inputs are moved several times.
constexpr double mostRepeated = 1e8;
constexpr std::size_t fewElements = 64;

/// The gradients by kernels for the CPU in float64, where the interpreter would take too long.
Arrays byKernels(const BackwardProblem &problem, const Evaluation &inputs) {
  const Problem &given = problem.problem;
  const Problem wide{given.variant, programOf(given.variant, {.type = Type::f64, .lse = true}), Type::f64, given.shape, given.inputs, given.facts};
  const RunOptions once{.repeat = 1};
  BackwardProblem exact(wide, backwardOptions(wide, once));
  exact.inputs = inputs;
  return backwardOnCpu(exact, once).gradients;
}

/// Moves each number by up to `size` of itself: by how much, its bits and its place tell.
void moveEach(std::vector<double> &values, double size, std::uint64_t seed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t x = (std::bit_cast<std::uint64_t>(values[i]) ^ seed * 0x9e3779b97f4a7c15) + i * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 31)) * 0x94d049bb133111eb;
    x ^= x >> 29;
    values[i] *= 1 + size * (double(x >> 11) * 0x1p-52 - 1);
  }
}

Arrays byInput(const Gradient &made, const Arrays &stored) {
  Arrays gradients;
  for (const auto &[input, name] : made.gradients)
    gradients[input] = stored.at(name);
  return gradients;
}

/// Of all tensors of all programs.
std::map<std::string, Type> typesOf(const Gradient &made) {
  std::map<std::string, Type> types;
  auto add = [&](const Program &program) {
    for (const auto &tensor : tensorsOf(program))
      types[tensor->name] = tensor->type;
  };
  add(made.forward);
  for (const Program &program : made.backward)
    add(program);
  return types;
}

} // namespace

/// What rounding explains is measured: four times what the largest element of a gradient moves by when all that kernels
/// store between them is rounded to its type, and when every input of float type moves by what 16 roundings in the arithmetic's type, or one in its own, may,
/// and, where the interpreter does it, what each operation computes by 4: of a sum whose terms cancel, as all of a row's do where a step adds the same to each of its scores, nothing else tells how large they are.
std::vector<Comparison> checkGradients(const BackwardProblem &problem, const BackwardReport &report) {
  const Type type = problem.problem.type;
  if (work(problem) > mostCompiled)
    throw std::invalid_argument(fmt::format("--check: float64 would take {:.0g} multiplications for this shape, more than {:.0g}; take a smaller one, or leave --check out", work(problem), mostCompiled));
  const bool isInterpreted = work(problem) <= mostInterpreted || type == Type::f64;
  auto gradientsOf = [&](const Evaluation &inputs) { return isInterpreted ? byInput(problem.made, evaluateGradient(problem.made, inputs)) : byKernels(problem, inputs); };
  const Arrays exact = gradientsOf(problem.inputs);
  const double arithmetic = 16 * unitRoundoff(type == Type::f64 ? Type::f64 : Type::f32);
  const std::map<std::string, Type> types = typesOf(problem.made);
  Uniform uniform(1);
  std::uint64_t round = 0;
  auto shake = [&] {
    Evaluation moved = problem.inputs;
    moved.computed = [size = arithmetic / 4, round = ++round](std::vector<double> &values, Type) { moveEach(values, size, round); };
    for (auto &[name, array] : moved.tensors) {
      const auto own = types.find(name);
      if (own == types.end() || !isFloat(own->second))
        continue;   // whole numbers and truths are exact, and another one is another problem
      const double size = std::max(unitRoundoff(own->second), arithmetic);
      for (double &x : array.data)
        x *= 1 + size * uniform();
    }
    return gradientsOf(moved);
  };
  std::vector<Arrays> shaken{shake()};
  const bool isSmall = std::any_of(exact.begin(), exact.end(), [](const auto &gradient) { return gradient.second.data.size() < fewElements; });
  while (isSmall && work(problem) <= mostRepeated && shaken.size() < 4)
    shaken.push_back(shake());
  // Where kernels do it, what is stored between them is not rounded; one rounding of O moves a gradient no further than one of each input.
  const Arrays stored = isInterpreted ? byInput(problem.made, evaluateGradient(problem.made, problem.inputs, [](double x, Type to) { return rounded(x, to); })) : shaken[0];
  std::vector<Comparison> comparisons;
  for (const auto &[input, expected] : exact) {
    double moves = 0;
    for (const Arrays &gradients : shaken)
      moves = std::max(moves, largestDifference(gradients.at(input).data, expected.data));
    const double tolerance = 4 * (largestDifference(stored.at(input).data, expected.data) + moves);
    const std::string &gradient = problem.made.gradients.at(input);
    const Type own = types.at(gradient);
    comparisons.push_back(compareElements(gradient, report.gradients.at(input), expected, own,
                                          [&](std::size_t at) { return Tolerance{tolerance + unitRoundoff(own) * std::abs(expected.data[at])}; }));
  }
  return comparisons;
}

} // namespace tw::cli
