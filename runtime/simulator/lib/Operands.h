// Where the elements of a wgmma operand lie in shared memory, by its descriptor: CUTLASS's canonical layouts.
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// A matrix operand in shared memory.
struct Operand {
  std::uint64_t descriptor;
  bool transposed;   // contiguous along M or N, not K
};

/// 16 bytes, 8 elements, of an operand: they run along k from (row, k) on, or along the rows where it is transposed.
struct OperandPiece {
  std::uint32_t offset;   // in the block's shared memory
  int row, k;             // a column, for b
};

/// The pieces that hold rows begin..end (multiples of 8) and 16 k. Stops where one lies outside shared memory; reports a swizzled operand
/// that does not start on its pattern.
void findPieces(const Operand &operand, int begin, int end, const char *what, int line, std::vector<OperandPiece> &pieces);

}   // namespace tw::simulated
