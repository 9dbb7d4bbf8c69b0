// The attention level: a variant in a few lines, with a score step and a mask of your own.
#include "support/Example.h"

int main() {
  using namespace tw;
  Tensor Q("Q", Type::f32, 4), K("K", Type::f32, 4), V("V", Type::f32, 4), O("O", Type::f32, 4), lse("lse", Type::f32, 3);

  Attention variant("near_thirds", Q, K, V, O);
  variant.lse(lse);
  // A step of the score is arithmetic on values; `at` says where each score sits.
  variant.score([](Tile s, const At &at) { return s - 0.1 * log(1.0 + abs(at.query + (at.keys - at.queries) - at.key)); });
  // So is a mask. Here every third key, and none after the query.
  variant.mask([](const At &at) { return (at.key % 3 == 0) & (at.key <= at.query + (at.keys - at.queries)); });
  Program program = variant.program();
  std::printf("%s\n", print(program).c_str());

  Kernel kernel = build(program, {.extents = {{"d", 64}, {"e", 64}}});
  auto q = example::Floats::random({1, 8, 100, 64}, 1), k = example::Floats::random({1, 2, 100, 64}, 2),
       v = example::Floats::random({1, 2, 100, 64}, 3), o = example::Floats({1, 8, 100, 64}), l = example::Floats({1, 8, 100});
  kernel.launch({.tensors = {{"Q", q.view()}, {"K", k.view()}, {"V", v.view()}, {"O", o.view()}, {"lse", l.view()}}});
  auto expected = evaluate(program, {.tensors = {{"Q", q.array()}, {"K", k.array()}, {"V", v.array()}}});
  return example::compare("O", o, expected.at("O"), 1e-5) + example::compare("lse", l, expected.at("lse"), 1e-5);
}
