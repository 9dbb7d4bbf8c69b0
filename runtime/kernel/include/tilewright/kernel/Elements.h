// Numbers to and from the memory of tensors.
#pragma once
#include "tilewright/dsl/Type.h"
#include <cstdint>
#include <span>
#include <vector>

namespace tw {

/// Writes `value` as an element of type `type`: rounded to nearest, ties to even; beyond the largest number an infinity. To
/// an integer type it is cut off towards zero, and held at the type's ends; NaN gives 0. To bool: whether it is not 0.
void putElement(double value, Type type, void *element);
/// The number that an element stands for. An i64 beyond ±2^53 is rounded.
[[nodiscard]] double getElement(Type type, const void *element);

/// The number that `value` becomes as an element of type `type`.
[[nodiscard]] double rounded(double value, Type type);

/// All of them: values.size() elements side by side.
void putElements(std::span<const double> values, Type type, void *elements);
[[nodiscard]] std::vector<double> getElements(Type type, const void *elements, std::size_t count);

/// The largest difference of two that are finite in both; as many in each.
[[nodiscard]] double largestDifference(std::span<const double> a, std::span<const double> b);

} // namespace tw
