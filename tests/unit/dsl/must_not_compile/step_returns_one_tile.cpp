// refused: the step of a fold returns std::tuple{...} of Tiles
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile total(Axis q, Axis k, Tile x) {
  auto [sum] = fold(k, std::tuple{full(0, {q})}, [&](Tile so) {
    Tile next = so + tw::sum(x, over(k));
#ifdef WRONG
    return next;
#else
    return std::tuple{next};
#endif
  });
  return sum;
}
