#include "CompareElements.h"
#include "tilewright/kernel/Elements.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {

double unitRoundoff(Type type) {
  switch (type) {
  case Type::f16:
    return 0x1p-11;
  case Type::bf16:
    return 0x1p-8;
  case Type::f64:
    return 0x1p-53;
  default:
    return 0x1p-24;
  }
}

std::vector<std::int64_t> place(const std::vector<std::int64_t> &shape, std::size_t at) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; at /= std::size_t(shape[d]))
    index[d] = std::int64_t(at % std::size_t(shape[d]));
  return index;
}

Comparison compareElements(const std::string &tensor, const Array &result, const Array &expected, Type type,
                           const std::function<Tolerance(std::size_t at)> &toleranceOf, const Origin &origin) {
  Comparison c{tensor};
  c.isRight = true;
  if (result.shape != expected.shape || result.data.size() != expected.data.size()) {
    c.isRight = false;
    c.wrong = fmt::format("shape [{}], expected [{}]", fmt::join(result.shape, ", "), fmt::join(expected.shape, ", "));
    return c;
  }
  auto wholePlace = [&](std::size_t at) {
    std::vector<std::int64_t> index = place(expected.shape, at);
    if (origin.b)
      index[0] += origin.b;
    if (origin.h)
      index[1] += origin.h;
    return index;
  };
  auto wrong = [&](std::size_t at, const char *what) {
    if (c.wrong.empty())
      c.wrong = fmt::format("{} at [{}]: {}, expected {}", what, fmt::join(wholePlace(at), ", "), result.data[at], expected.data[at]);
    c.isRight = false;
  };
  double squares = 0;
  std::int64_t finite = 0;
  for (std::size_t at = 0; at < expected.data.size(); ++at) {
    const double got = result.data[at], want = expected.data[at];
    if (std::isnan(got) && std::isnan(want)) {
      ++c.nans;
      continue;
    }
    if (std::isnan(got) || std::isnan(want)) {
      wrong(at, std::isnan(got) ? "NaN" : "no NaN");
      continue;
    }
    if (!std::isfinite(got) || !std::isfinite(want)) {
      if (got != want && got != rounded(want, type))
        wrong(at, "an infinity on one side");
      continue;
    }
    const auto [tolerance, isLimited] = toleranceOf(at);
    const double error = std::abs(got - want);
    const bool isChecked = std::isfinite(tolerance);
    c.limited += isLimited;
    ++finite;
    squares += error * error;
    c.maxError = std::max(c.maxError, error);
    if (!isChecked)
      wrong(at, std::isnan(tolerance) ? "cannot be checked (the tolerance is nan)" : "cannot be checked (the tolerance is inf)");
    else if (error > tolerance)
      wrong(at, "too far off");
    const double share = isChecked && tolerance > 0 ? error / tolerance : isChecked && error == 0 ? 0 : INFINITY;
    if (c.worst.empty() || share > c.largestShare) {
      c.largestShare = share;
      c.worst = wholePlace(at);
      c.result = got;
      c.expected = want;
      c.tolerance = std::abs(tolerance);   // of NaN, without a sign
    }
  }
  c.rmsError = finite ? std::sqrt(squares / double(finite)) : 0;
  return c;
}

}   // namespace tw::cli
