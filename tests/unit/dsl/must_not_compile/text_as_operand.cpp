// refused: no match for 'operator+'
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile plusOne(Tile a) {
#ifdef WRONG
  return a + "1";
#else
  return a + 1;
#endif
}
