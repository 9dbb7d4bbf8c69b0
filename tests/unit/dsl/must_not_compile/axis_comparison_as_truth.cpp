// refused: invalid cast from type 'tw::Tile' to type 'bool'
#include "tilewright/dsl/Dsl.h"
using namespace tw;
bool isTheSame(Axis a, Axis b) {
#ifdef WRONG
  return bool(a == b);
#else
  return same(a, b);
#endif
}
