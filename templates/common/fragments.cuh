// Register fragments: moves between the four lanes of a quad, and products of all rows of a warp.

// Words x[0..3] of four lanes are a 4x4 matrix; afterwards it is transposed: word j of lane l is what was word l of lane j.
// Called by whole warps.
DEV void quad_transpose(u32 (&x)[4], int lane) {
  const bool odd = lane & 1, up = lane & 2;
  u32 a = __shfl_xor_sync(~0u, odd ? x[0] : x[1], 1), b = __shfl_xor_sync(~0u, odd ? x[2] : x[3], 1);
  if (odd) {
    x[0] = a; x[2] = b;
  } else {
    x[1] = a; x[3] = b;
  }
  a = __shfl_xor_sync(~0u, up ? x[0] : x[2], 2); b = __shfl_xor_sync(~0u, up ? x[1] : x[3], 2);
  if (up) {
    x[0] = a; x[1] = b;
  } else {
    x[2] = a; x[3] = b;
  }
}

// Adds a[block] . b to eight columns of every block of 16 rows that a warp has: of d the four elements a block from `first` on.
template <class T, int BLOCKS, int N> DEV void mma_blocks(float (&d)[N], int first, const u32 (&a)[BLOCKS][4], const u32 (&b)[2] CALLER_) {
#pragma unroll
  for (int block = 0; block < BLOCKS; block++) {
    const int at = first + 4 * block;
    float c[4] = {d[at], d[at + 1], d[at + 2], d[at + 3]};
    if (T::kind == 0) mma_bf16_16816(c, a[block], b FOR_CALLER_); else mma_f16_16816(c, a[block], b FOR_CALLER_);
#pragma unroll
    for (int i = 0; i < 4; i++) d[at + i] = c[i];
  }
}
