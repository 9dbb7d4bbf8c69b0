// wgmma: products of a warpgroup, asynchronous. The 16 rows of each warp are one product here.
#pragma once
#include "Operands.h"

namespace tw::simulated {

/// Accumulator registers that products in flight own. Meanwhile their values are here, as [16][n], and the threads' own hold a mark.
struct Accumulator {
  float *registers[32];   // n / 2 of each lane
  int n;
  int inFlight;   // products
  int line;
  std::vector<float> values;
};

struct Product {
  int n, kind;
  bool registersA, accumulates;
  int line;
  Operand a, b;
  const std::uint32_t *registers[32][4];   // of a, in the threads, and what they held when the product was issued
  std::uint32_t issued[32][4];
  Accumulator *accumulator;
  int group;
};

/// Executes the oldest product of the warp.
void executeProduct(Warp &warp);

}   // namespace tw::simulated
