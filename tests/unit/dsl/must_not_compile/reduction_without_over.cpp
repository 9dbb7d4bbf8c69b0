// refused: could not convert 'd' from 'tw::Axis' to 'tw::Over'
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile contract(Tile a, Tile b, Axis d) {
#ifdef WRONG
  return dot(a, b, d);
#else
  return dot(a, b, over(d));
#endif
}
