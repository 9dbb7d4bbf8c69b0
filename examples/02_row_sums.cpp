// Row sums of |A · Bᵀ|, without the product ever being in memory.
//
// A fold may do anything between its dots and its reductions; the compiler fuses it into one pass.
#include "support/Example.h"

int main() {
  using namespace tw;
  Axis t("t"), v("v"), d("d");
  Tensor A("A", Type::f32, 2), B("B", Type::f32, 2), R("R", Type::f32, 1);

  auto [total] = fold(v, std::tuple{full(0, {t})}, [&](Tile total) {
    Tile product = named("product", dot(A(t, d), B(v, d), over(d)));      // [t, v]
    return std::tuple{total + sum(abs(product), over(v))};                // [t]
  });
  Program program{"row_sums", {store(R, {t}, total)}};

  // A program that makes no sense is refused where it is written, before anything is compiled.
  try {
    auto [oops] = fold(v, std::tuple{full(0, {t})}, [&](Tile total) { return std::tuple{total + dot(A(t, d), B(v, d), over(d))}; });
    (void)oops;
    return 1;
  } catch (const ProgramError &error) {
    std::printf("As it should be refused:\n%s\n", error.what());
  }

  Kernel kernel = build(program, {.extents = {{"d", 64}}});
  auto a = example::Floats::random({130, 64}, 1), b = example::Floats::random({1000, 64}, 2), r = example::Floats({130});
  kernel.launch({.tensors = {{"A", a.view()}, {"B", b.view()}, {"R", r.view()}}});
  auto expected = evaluate(program, {.tensors = {{"A", a.array()}, {"B", b.array()}}});
  return example::compare("R", r, expected.at("R"), 1e-5);
}
