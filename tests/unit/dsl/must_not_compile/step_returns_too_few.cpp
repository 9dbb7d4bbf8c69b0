// refused: the step of a fold returns one value for each carried value
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile total(Axis q, Axis k, Tile x) {
  auto [top, sum] = fold(k, std::tuple{full(-infinity, {q}), full(0, {q})}, [&](Tile top, Tile so) {
    Tile next = so + tw::sum(x, over(k));
#ifdef WRONG
    return std::tuple{next};
#else
    return std::tuple{top, next};
#endif
  });
  return sum;
}
