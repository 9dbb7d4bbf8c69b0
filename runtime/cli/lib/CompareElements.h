// One tensor beside another, element by element, each within its tolerance.
#pragma once
#include "Check.h"
#include <functional>

namespace tw::cli {

[[nodiscard]] double unitRoundoff(Type type);

/// An element's place from its number.
[[nodiscard]] std::vector<std::int64_t> place(const std::vector<std::int64_t> &shape, std::size_t at);

struct Tolerance {
  double size = 0;
  bool isLimited = false;   // rounding alone may explain more
};

/// `type` is that of the elements. A NaN must be in both, and infinities must be equal. `toleranceOf` the number of an element that is finite in both: one
/// that is not finite itself accepts nothing.
[[nodiscard]] Comparison compareElements(const std::string &tensor, const Array &result, const Array &expected, Type type,
                                         const std::function<Tolerance(std::size_t at)> &toleranceOf, const Origin &origin = {});

}   // namespace tw::cli
