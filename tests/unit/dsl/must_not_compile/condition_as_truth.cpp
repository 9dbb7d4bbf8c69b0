// refused: from 'tw::Tile' to 'bool'
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile larger(Tile a, Tile b) {
#ifdef WRONG
  if (a < b)
    return b;
  return a;
#else
  return where(a < b, b, a);
#endif
}
