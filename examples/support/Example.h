// What the examples share: random inputs, and the check against the float64 interpreter.
#pragma once
#include "tilewright/tilewright.h"
#include <cmath>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace example {

/// A row-major f32 array with a shape.
struct Floats {
  std::vector<std::int64_t> shape;
  std::vector<float> data;

  explicit Floats(std::vector<std::int64_t> shape)
      : shape(std::move(shape)),
        data(std::size_t(std::accumulate(this->shape.begin(), this->shape.end(), std::int64_t(1), std::multiplies<>()))) {}

  static Floats random(std::vector<std::int64_t> shape, unsigned seed) {
    Floats made(std::move(shape));
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    for (float &x : made.data)
      x = normal(generator);
    return made;
  }

  tw::TensorView view() { return {data.data(), tw::Type::f32, shape, {}}; }
  tw::Array array() const { return {shape, {data.begin(), data.end()}}; }
};

/// Compares one result with what evaluate() says; prints a line; 0 if it is right, else 1.
inline int compare(const char *what, const Floats &result, const tw::Array &expected, double tolerance) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.data.size(); ++i) {
    double a = result.data[i], b = expected.data[i];
    double difference = a == b ? 0 : std::abs(a - b) / (1 + std::abs(b));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  std::printf("%-8s worst error against float64: %.2g (allowed %.2g)  %s\n", what, worst, tolerance, worst <= tolerance ? "right" : "WRONG");
  return worst <= tolerance ? 0 : 1;
}

} // namespace example
