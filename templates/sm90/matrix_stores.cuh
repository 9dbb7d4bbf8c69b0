// 8x8 matrices of 16-bit elements from a warp to shared memory, held as ldmatrix leaves them: lane l gives the address of row l % 8 of
// matrix l / 8; `trans`: the transposed matrix is held.
DEV void stmatrix_x4(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
DEV void stmatrix_x4_trans(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(a), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
}
