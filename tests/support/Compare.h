// Compares a result with an oracle: how far, how far on average, and where worst.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Type.h"
#include <cmath>
#include <string>

namespace tw::tests {

/// |result − oracle| ≤ absolute + relative · |oracle|, for each element.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

/// Half the distance of two neighbouring numbers near 1: what one rounding to the type costs.
[[nodiscard]] inline double unitRoundoff(Type type) {
  switch (type) {
  case Type::f16: return 0x1p-11;
  case Type::bf16: return 0x1p-8;
  case Type::f32: return 0x1p-24;
  case Type::f64: return 0x1p-53;
  default: return 0;
  }
}

/// What theory allows a sum Σ a·b of `depth` products with Σ|a·b| ≤ `bound` (a weighted mean of values
/// up to v: bound v), where a and the result are each rounded to `type` once and sums are kept in f32
/// (f64 for f64): the first roundings, and the usual √depth·u of a sum of rounded terms, eightfold for the
/// tail. `terms` widens the f32 part for work between two sums (a score that goes through exp: its size).
[[nodiscard]] inline Tolerance roundingOf(Type type, double bound, double depth, double terms = 1) {
  const double u = unitRoundoff(type), sums = unitRoundoff(type == Type::f64 ? Type::f64 : Type::f32);
  return {bound * (2 * u + 8 * sums * terms * std::sqrt(std::max(depth, 1.0))), u};
}

/// Whether NaN may occur. Declared, it must stand in the same places of result and oracle.
enum class Nans { refused, declared };

struct Comparison {
  bool ok = false;
  double maxError = 0, rms = 0;   // over elements finite in both
  std::string summary;            // what is wrong or how near it is; names the worst element
  explicit operator bool() const { return ok; }
};

/// `[1, 0, 3]` of a flat position.
[[nodiscard]] inline std::string position(const std::vector<std::int64_t> &shape, std::size_t at) {
  std::vector<std::size_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; at /= std::size_t(shape[d]))
    index[d] = at % std::size_t(shape[d]);
  std::string out = "[";
  for (std::size_t i : index)
    out += (out.size() > 1 ? ", " : "") + std::to_string(i);
  return out + "]";
}

/// Element by element. Infinities must be the same; a NaN on either side fails unless declared, and
/// then unless it stands on both.
[[nodiscard]] inline Comparison compare(const Array &result, const Array &oracle, Tolerance tolerance, Nans nans = Nans::refused) {
  Comparison c;
  auto wrong = [&](std::string what) {
    c.ok = false;
    c.summary = std::move(what);
    return c;
  };
  if (result.shape != oracle.shape || result.data.size() != oracle.data.size())
    return wrong("shapes differ");
  double squares = 0, worstExcess = -1;
  std::size_t worst = 0, finite = 0;
  for (std::size_t i = 0; i < oracle.data.size(); ++i) {
    const double got = result.data[i], want = oracle.data[i];
    auto here = [&] { return " at " + position(oracle.shape, i) + ": result " + std::to_string(got) + ", oracle " + std::to_string(want); };
    if (std::isnan(got) || std::isnan(want)) {
      if (nans == Nans::refused)
        return wrong(std::string("NaN in the ") + (std::isnan(want) ? "oracle" : "result") + here());
      if (!std::isnan(got) || !std::isnan(want))
        return wrong("NaN on one side only" + here());
      continue;
    }
    if (std::isinf(got) || std::isinf(want)) {
      if (got != want)
        return wrong("infinity on one side only" + here());
      continue;
    }
    const double error = std::abs(got - want), excess = error - tolerance.absolute - tolerance.relative * std::abs(want);
    c.maxError = std::max(c.maxError, error);
    squares += error * error;
    ++finite;
    if (finite == 1 || excess > worstExcess) {
      worstExcess = excess;
      worst = i;
    }
  }
  c.rms = finite ? std::sqrt(squares / double(finite)) : 0;
  c.ok = finite == 0 || worstExcess <= 0;
  char text[256];
  std::snprintf(text, sizeof text, "max error %.3g, rms %.3g", c.maxError, c.rms);
  c.summary = text;
  if (finite) {
    std::snprintf(text, sizeof text, ": result %.9g, oracle %.9g, allowed %.3g", result.data[worst], oracle.data[worst],
                  tolerance.absolute + tolerance.relative * std::abs(oracle.data[worst]));
    c.summary += ", worst at " + position(oracle.shape, worst) + text;
  }
  return c;
}

} // namespace tw::tests
