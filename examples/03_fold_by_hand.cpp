// Causal attention written as a fold, by hand: the online softmax carries a running maximum, a running
// sum and the weighted values. Everything the attention level does, it does like this.
#include "support/Example.h"

int main() {
  using namespace tw;
  Axis b("b"), h("h"), q("q"), k("k"), d("d"), e("e");
  Tensor Q("Q", Type::f32, 4), K("K", Type::f32, 4), V("V", Type::f32, 4), O("O", Type::f32, 4);
  Tile scale = scalar("scale", Type::f32, Sign::positive);       // given at launch: another one needs no compile
  Tile group = named("group", extent(h) / K.dimension(1));       // heads of Q that share a head of K

  Tile query = Q(b, h, q, d);                                                          // [b, h, q, d]
  auto [m, l, acc] = fold(k, std::tuple{full(-infinity, {b, h, q}), full(0, {b, h, q}), full(0, {b, h, q, e})}, [&](Tile m, Tile l, Tile acc) {
    Tile s = dot(query, K(b, h / group, k, d), over(d)) * scale;                       // [b, h, q, k]
    s = where(k <= q + (extent(k) - extent(q)), s, -infinity);
    Tile top = named("top", max(m, max(s, over(k))));                                  // [b, h, q]
    Tile base = where(-infinity < top, top, 0.0);                                      // a row without a key yet
    Tile p = named("p", exp(s - base)), shrink = named("shrink", exp(m - base));
    return std::tuple{top, l * shrink + sum(p, over(k)), acc * shrink + dot(p, V(b, h / group, k, e), over(k))};
  });
  Program program{"causal_by_hand", {store(O, {b, h, q, e}, where(0.0 < l, acc / l, 0.0))}};
  (void)m;

  Kernel kernel = build(program, {.extents = {{"d", 64}, {"e", 40}}});
  auto x = example::Floats::random({2, 4, 70, 64}, 1), y = example::Floats::random({2, 2, 131, 64}, 2),
       v = example::Floats::random({2, 2, 131, 40}, 3), o = example::Floats({2, 4, 70, 40});
  kernel.launch({.tensors = {{"Q", x.view()}, {"K", y.view()}, {"V", v.view()}, {"O", o.view()}}, .scalars = {{"scale", 0.125}}});
  auto expected = evaluate(program, {.tensors = {{"Q", x.array()}, {"K", y.array()}, {"V", v.array()}}, .scalars = {{"scale", 0.125}}});
  return example::compare("O", o, expected.at("O"), 1e-5);
}
