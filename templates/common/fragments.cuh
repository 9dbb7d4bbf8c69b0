// Moves of register fragments between the four lanes of a quad.

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
