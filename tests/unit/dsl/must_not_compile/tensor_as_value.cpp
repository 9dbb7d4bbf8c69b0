// refused: no match for 'operator*'
#include "tilewright/dsl/Dsl.h"
using namespace tw;
Tile twice(Tensor x, Axis q) {
#ifdef WRONG
  return x * 2.0;
#else
  return x(q) * 2.0;
#endif
}
