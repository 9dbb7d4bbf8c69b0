// What variants of the gallery read besides Q, K and V.
#pragma once
#include "support/Arrays.h"
#include "tilewright/dsl/Dsl.h"
#include <random>
#include <string>

namespace tw::tests {

/// Every capture of a variant, made by seed and rounded to its type.
inline void addCaptures(Evaluation &inputs, const std::string &variant, const VariantShape &n, Type type, std::uint64_t seed = 4) {
  std::mt19937_64 random(seed);
  for (const Capture &capture : factsOf(variant, type).captures) {
    Array array = capture.make(n, random);
    for (double &x : array.data)
      x = roundTo(x, capture.type);
    inputs.tensors[capture.name] = std::move(array);
  }
}

} // namespace tw::tests
