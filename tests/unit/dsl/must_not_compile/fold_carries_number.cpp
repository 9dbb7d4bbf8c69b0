// refused: a fold carries Tiles: full(0, {b, h, q}) makes one
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile total(Axis q, Axis k, Tile x) {
#ifdef WRONG
  auto start = std::tuple{0.0};
#else
  auto start = std::tuple{full(0, {q})};
#endif
  auto [sum] = fold(k, start, [&](Tile so) { return std::tuple{so + tw::sum(x, over(k))}; });
  return sum;
}
