// Every variant of the gallery: its gradients are the tape's, and the tape's are slopes.
#include "Gradients.h"

using namespace tw;
using namespace tw::tests;

namespace {

/// What the gallery makes to try a variant with, in float64.
Evaluation inputsOf(const std::string &variant, const Lengths &s) {
  Evaluation in = attentionInputs(s, 3);
  std::mt19937_64 random(7);
  for (const Capture &capture : factsOf(variant, Type::f64).captures)
    in.tensors[capture.name] = capture.make({s.B, s.H, s.Hkv, s.Sq, s.Skv, s.D, s.Dv}, random);
  return in;
}

std::vector<std::string> variants() {
  std::vector<std::string> names;
  for (const Variant &variant : gallery())
    names.push_back(variant.name);
  for (const char *two : {"sink+window(5,2)", "dropout+sink", "gated+softcap(5)+causal", "differential+causal", "tanhgated+alibi", "offbyone+causal", "gated+dropout", "retention+causal", "sigmoid+alibi"})
    names.push_back(two);
  return names;
}

std::vector<std::string> floatInputs(const Program &program) {
  std::vector<std::string> names;
  for (const auto &tensor : tensorsOf(program))
    if (isFloat(tensor->type) && std::none_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return store.tensor.name() == tensor->name; }))
      names.push_back(tensor->name);
  return names;
}

} // namespace

TEST_CASE("gradients of every variant of the gallery are the tape's, rows without a key too") {
  const std::string variant = GENERATE(from_range(variants()));
  const Program program = makeVariant(variant, {.type = Type::f64});
  for (const Lengths &s : {Lengths{2, 4, 2, 37, 45, 8, 16}, Lengths{2, 2, 1, 41, 18, 8, 8}}) {
    INFO(variant << " Sq " << s.Sq << " Skv " << s.Skv);
    Evaluation in = inputsOf(variant, s);
    in.foldTile = 16;
    const Gradients result = checkGradients(program, in, floatInputs(program), {}, {1e-9, 1e-9});
    for (const auto &[input, name] : result.made.gradients)
      CHECK(std::all_of(result.got.at(name).data.begin(), result.got.at(name).data.end(), [](double x) { return std::isfinite(x); }));
  }
}

TEST_CASE("the tape's gradients of every variant are slopes") {
  const std::string variant = GENERATE(from_range(variants()));
  INFO(variant);
  const Program program = makeVariant(variant, {.type = Type::f64});
  const Lengths s{1, 2, 1, 7, 9, 8, 8};
  const Evaluation in = restricted(program, inputsOf(variant, s));
  Tape tape(program, in);
  const auto out = tape.forward();
  std::map<std::string, Array> weights;
  unsigned seed = 30;
  for (const auto &[name, array] : out)
    weights[name] = randomArray(array.shape, ++seed);
  auto loss = [&](const Evaluation &at) {
    double sum = 0;
    for (const auto &[name, array] : evaluate(program, at))
      for (std::size_t i = 0; i < array.data.size(); ++i)
        sum += std::isfinite(array.data[i]) ? array.data[i] * weights.at(name).data[i] : 0;
    return sum;
  };
  const auto gradients = tape.backward(weights);
  for (const std::string &name : floatInputs(program)) {
    const Array &array = in.tensors.at(name);
    for (std::size_t i = array.data.size() / 3; i < array.data.size(); i += array.data.size() / 2 + 1) {
      Evaluation above = in, below = in;
      const double step = 1e-6;
      above.tensors[name].data[i] += step;
      below.tensors[name].data[i] -= step;
      INFO(name << " at " << position(array.shape, i));
      CHECK(gradients.at(name).data[i] == Approx((loss(above) - loss(below)) / (2 * step)).margin(1e-7).epsilon(1e-5));
    }
  }
}
