#include "TuneCheck.h"
#include "tilewright/dsl/Diagnostic.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace tw {
namespace {

constexpr double mostOff = 0.05;                        // of the largest result: more is no rounding
constexpr std::size_t sampled = std::size_t(1) << 18;   // elements of a tensor of the timed problem

double roundoff(Type type) {
  switch (type) {
  case Type::f16:
    return 0x1p-11;
  case Type::bf16:
    return 0x1p-8;
  case Type::f64:
    return 0x1p-50;
  default:
    return 0x1p-20;   // f32, of sums of products of 16 bit
  }
}

double largest(const std::vector<double> &values) {
  double most = 0;
  for (double value : values)
    if (std::isfinite(value))
      most = std::max(most, std::abs(value));
  return most;
}

/// Not a number has no sign that anyone wants to know.
std::string numberText(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.6g}", value); }

} // namespace

std::string difference(const std::string &tensor, const std::vector<double> &result, const std::vector<double> &expected, double allowed) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double a = result[i], b = expected[i];
    if ((std::isnan(a) && std::isnan(b)) || a == b || (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= allowed))
      continue;
    return fmt::format("element {} of '{}' is {}, expected {}; rounding explains {:.2g}", i, tensor, numberText(a), numberText(b), allowed);
  }
  return "";
}

void TuneCheck::useSmall(std::vector<TuningInputs> problems, std::optional<int> ordinal) {
  for (TuningInputs &problem : problems) {
    auto tried = std::make_unique<TuneProblem>(program, std::move(problem), ordinal, shared);
    try {
      for (auto &[name, array] : evaluate(program, tried->evaluation()))
        expected[name] = std::move(array.data);
      small = std::move(tried);
      return;
    } catch (const ProgramError &) {   // the program requires something else of its lengths
      expected.clear();
    }
  }
}

std::optional<TuningInputs> TuneCheck::smallProblem() const {
  if (!small)
    return std::nullopt;
  TuningInputs all{{}, small->evaluation()};
  for (const auto &[tensor, view] : small->arguments().tensors) {
    all.shapes[tensor] = view.shape;
    if (const auto right = expected.find(tensor); right != expected.end()) {
      std::vector<double> &data = all.values.tensors.at(tensor).data = right->second;
      for (double &value : data)
        value = rounded(value, view.type);
    }
  }
  return all;
}

TuneCheck::Values TuneCheck::run(const Kernel &kernel, TuneProblem &problem) const {
  problem.clearStored();
  launch(kernel, problem);
  Values results;
  for (const std::string &tensor : problem.stored())
    results[tensor] = problem.sample(tensor, &problem == small.get() ? problem.elements(tensor) : sampled);
  return results;
}

std::string TuneCheck::check(const Kernel &kernel) {
  const bool isFirst = first.empty();
  if (small) {
    const Values results = run(kernel, *small);
    for (const auto &[tensor, result] : results) {
      const std::vector<double> &right = expected.at(tensor);
      if (isFirst) {
        const double rounding = 4 * roundoff(small->arguments().tensors.at(tensor).type) * largest(right);
        allowed[tensor] = std::max(rounding, std::min(4 * largestDifference(result, right), mostOff * largest(right)));
      }
      if (std::string wrong = difference(tensor, result, right, allowed.at(tensor)); !wrong.empty())
        return wrong;
    }
  }
  Values results = run(kernel, timed);
  if (isFirst) {
    first = std::move(results);
    return "";
  }
  for (const auto &[tensor, result] : results) {
    // Both are rounded, and a larger problem has larger numbers.
    const double rounding = 8 * roundoff(timed.arguments().tensors.at(tensor).type) * largest(first.at(tensor));
    const auto known = allowed.find(tensor);
    if (std::string wrong = difference(tensor, result, first.at(tensor), std::max(rounding, known == allowed.end() ? 0 : 2 * known->second));
        !wrong.empty())
      return wrong + ", as the default schedule computes it";
  }
  return "";
}

} // namespace tw
