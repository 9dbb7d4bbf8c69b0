// Arrays of test data: reproducible by seed, rounded to the type a kernel will read.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Type.h"
#include <cmath>
#include <random>

namespace tw::tests {

/// The nearest number of the type, ties to even; overflow to infinity.
[[nodiscard]] inline double roundTo(double x, Type type) {
  if (type == Type::f64 || !isFloat(type) || x == 0 || !std::isfinite(x))
    return x;
  if (type == Type::f32)
    return double(float(x));
  const int digits = type == Type::f16 ? 11 : 8, least = type == Type::f16 ? -24 : -133;
  const double largest = type == Type::f16 ? 65504 : 3.3895313892515355e38;
  int exponent;
  std::frexp(x, &exponent);                                    // |x| in [2^(exponent−1), 2^exponent)
  const double step = std::ldexp(1.0, std::max(exponent - digits, least));
  const double rounded = std::nearbyint(x / step) * step;
  return std::abs(rounded) > largest ? std::copysign(INFINITY, x) : rounded;
}

[[nodiscard]] inline Array zeros(std::vector<std::int64_t> shape) {
  std::size_t points = 1;
  for (std::int64_t n : shape)
    points *= std::size_t(n);
  return {std::move(shape), std::vector<double>(points, 0.0)};
}

/// Normal numbers of the given spread.
[[nodiscard]] inline Array randomArray(std::vector<std::int64_t> shape, unsigned seed, Type type = Type::f64, double spread = 1) {
  Array array = zeros(std::move(shape));
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, spread);
  for (double &x : array.data)
    x = roundTo(normal(generator), type);
  return array;
}

} // namespace tw::tests
