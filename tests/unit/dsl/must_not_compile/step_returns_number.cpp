// refused: the step of a fold returns std::tuple{...} of Tiles
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile zero(Axis q, Axis k) {
  auto [sum] = fold(k, std::tuple{full(0, {q})}, [&](Tile so) {
#ifdef WRONG
    return std::tuple{0.0};
#else
    return std::tuple{so * 0.0};
#endif
  });
  return sum;
}
