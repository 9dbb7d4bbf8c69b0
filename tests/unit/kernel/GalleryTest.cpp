// Every variant of the gallery on the CPU, against evaluate().
#include "Launched.h"
#include "support/Compare.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

Evaluation inputsOf(const std::string &variant, const Lengths &n, Type type) {
  Evaluation inputs = randomInputs(n, type);
  std::mt19937_64 random(5);
  for (const Capture &capture : factsOf(variant, type).captures) {
    Array array = capture.make({n.b, n.h, n.hkv, n.sq, n.skv, n.d, n.dv}, random);
    for (double &x : array.data)
      x = rounded(x, capture.type);
    inputs.tensors[capture.name] = std::move(array);
  }
  return inputs;
}

void check(const std::string &variant, Type type, const std::vector<Lengths> &shapes) {
  const Program program = makeVariant(variant, {.type = type});
  const Kernel kernel = build(program, headDims(shapes.front()));   // one for all of them
  for (const Lengths &n : shapes) {
    const Evaluation inputs = inputsOf(variant, n, type);
    auto stored = outputs(n);
    if (!factsOf(variant).hasLse)
      stored.erase("lse");
    Tensors tensors(program, inputs, stored);
    kernel.launch(tensors.arguments);
    for (const auto &[name, want] : evaluate(program, inputs)) {
      const auto compared = compare(tensors.read(name), want, roundingOf(name == "O" ? type : Type::f32, 4, double(n.skv + n.d), 40));
      INFO(variant << " in " << tw::name(type) << ", " << n.sq << " by " << n.skv << ", " << name << ": " << compared.summary);
      CHECK(compared.ok);
    }
  }
}

} // namespace

TEST_CASE("every variant of the gallery on the CPU is that of evaluate()") {
  const std::vector<Lengths> shapes{{2, 4, 2, 67, 131, 16, 24}, {1, 2, 1, 150, 90, 16, 24}, {3, 3, 1, 1, 5, 16, 24}, {1, 1, 1, 5, 0, 16, 24}};
  for (const Variant &variant : gallery())
    check(variant.name, Type::f32, shapes);
}

TEST_CASE("variants in other types") {
  const std::vector<Lengths> shapes{{1, 2, 1, 70, 200, 8, 8}};
  for (const char *variant : {"qknorm", "bias", "t5", "graph", "dropout", "differential", "gated"})
    for (Type type : {Type::f16, Type::bf16, Type::f64})
      check(variant, type, shapes);
}

TEST_CASE("variants combine") {
  const std::vector<Lengths> shapes{{2, 4, 2, 67, 131, 16, 24}};
  for (const char *variant : {"documents+causal+alibi", "sink+streaming+softcap(10)", "differential+padded+dropout(0.5)+gated", "sigmoid+prefix+t5(16,40)", "jagged+relative(5)+offbyone"})
    check(variant, Type::f32, shapes);
}
