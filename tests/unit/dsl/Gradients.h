// Gradients of a program by gradient() and by the tape.
#pragma once
#include "support/Arrays.h"
#include "support/Compare.h"
#include "support/Tape.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>

namespace tw::tests {

struct Lengths {
  std::int64_t B, H, Hkv, Sq, Skv, D, Dv;
};

/// Q, K, V, and slopes of alibi.
inline Evaluation attentionInputs(const Lengths &s, unsigned seed = 1, double spread = 1) {
  Evaluation in{{}, {}};
  in.tensors["Q"] = randomArray({s.B, s.H, s.Sq, s.D}, seed, Type::f64, spread);
  in.tensors["K"] = randomArray({s.B, s.Hkv, s.Skv, s.D}, seed + 1, Type::f64, spread);
  in.tensors["V"] = randomArray({s.B, s.Hkv, s.Skv, s.Dv}, seed + 2, Type::f64, spread);
  in.tensors["slopes"] = randomArray({s.H}, seed + 3, Type::f64, 0.1);
  return in;
}

/// What of `in` the program mentions.
inline Evaluation restricted(const Program &program, const Evaluation &in) {
  Evaluation own{{}, in.scalars, in.extents, in.foldTile};
  for (const auto &tensor : tensorsOf(program))
    if (auto found = in.tensors.find(tensor->name); found != in.tensors.end())
      own.tensors.insert(*found);
  return own;
}

struct Gradients {
  Gradient made;
  std::map<std::string, Array> got, expected;   // expected by input, got by the name of its gradient
  [[nodiscard]] const Array &of(const std::string &input) const { return got.at(made.gradients.at(input)); }
};

/// All gradients of a program, for random derivatives of its outputs.
inline Gradients gradientsOf(const Program &program, Evaluation in, const GradientOptions &options = {}) {
  Gradients result{gradient(program, options), {}, {}};
  in = restricted(program, in);
  Tape tape(program, in);
  const auto outputs = tape.forward();
  std::map<std::string, Array> upstream;
  Evaluation all = in;
  unsigned seed = 100;
  for (const auto &[output, name] : result.made.upstream)
    all.tensors[name] = upstream[output] = randomArray(outputs.at(output).shape, ++seed);
  result.expected = tape.backward(upstream);
  result.got = evaluateGradient(result.made, all);
  return result;
}

/// The gradients are the tape's; each of `inputs` has one.
inline Gradients checkGradients(const Program &program, const Evaluation &in, const std::vector<std::string> &inputs, const GradientOptions &options = {}, Tolerance tolerance = {1e-10, 1e-10},
                                Nans nans = Nans::refused) {
  Gradients result = gradientsOf(program, in, options);
  for (const std::string &input : inputs) {
    REQUIRE(result.made.gradients.count(input));
    const Comparison comparison = compare(result.of(input), result.expected.at(input), tolerance, nans);
    INFO("gradient of " << input << ": " << comparison.summary);
    CHECK(comparison.ok);
  }
  return result;
}

} // namespace tw::tests
