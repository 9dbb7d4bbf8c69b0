// Memory between the kernels of a gradient, laid out without allocating.
#pragma once
#include "Given.h"
#include "tilewright/dsl/Gradient.h"

namespace tw {

/// Where each intermediate stands, in their order. Used again, it allocates nothing.
struct Places {
  struct Place {
    std::size_t offset = 0;
    std::span<const std::int64_t> shape, strides;
  };
  std::vector<Place> places;
  std::size_t bytes = 0;
  std::vector<std::int64_t> numbers;   // shapes and strides
};

/// As BetweenKernels says.
void layOut(const Gradient &gradient, const Given &given, Places &out);

/// The tensor of that name, or null.
[[nodiscard]] const GivenTensor *findTensor(const Given &given, std::string_view name);

} // namespace tw
