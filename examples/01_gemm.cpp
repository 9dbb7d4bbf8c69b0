// A matrix product is a fold: walk the contracted axis tile by tile and add up dots.
//
// It shows the whole way once: axes and tensors, a program, build, launch, and the check against the
// float64 interpreter. Run it with TILEWRIGHT_DUMP=/tmp/dump to see every stage of the compiler.
#include "support/Example.h"

int main() {
  using namespace tw;
  // Axes have names, and nothing says how wide their tiles are: that is the schedule's business.
  Axis row("row"), column("column"), inner("inner");
  Tensor A("A", Type::f32, 2), B("B", Type::f32, 2), C("C", Type::f32, 2);

  // The step is called once, while the program is being described. `sum` is over [row, column].
  auto [product] = fold(inner, std::tuple{full(0, {row, column})}, [&](Tile sum) {
    return std::tuple{sum + dot(A(row, inner), B(inner, column), over(inner))};
  });
  Program gemm{"gemm", {store(C, {row, column}, product)}};
  std::printf("%s\n", print(gemm).c_str());

  // The column axis lies whole inside a tile, so the kernel is made for its length; rows and the
  // contracted length come at launch.
  Kernel kernel = build(gemm, {.extents = {{"column", 96}}});
  std::printf("%s\n", kernel.describe().c_str());

  int wrong = 0;
  for (std::int64_t rows : {1, 200})
    for (std::int64_t length : {77, 512}) {   // no new compile for a new length
      auto a = example::Floats::random({rows, length}, 1), b = example::Floats::random({length, 96}, 2), c = example::Floats({rows, 96});
      kernel.launch({.tensors = {{"A", a.view()}, {"B", b.view()}, {"C", c.view()}}});
      auto expected = evaluate(gemm, {.tensors = {{"A", a.array()}, {"B", b.array()}}});
      wrong += example::compare("C", c, expected.at("C"), 1e-5 * std::sqrt(double(length)));
    }
  return wrong ? 1 : 0;
}
