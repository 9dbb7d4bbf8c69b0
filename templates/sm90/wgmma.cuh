// Matrix products of a warpgroup, asynchronous: d[64][N] = a[64][16] . b[16][N] (+ d where `acc` is not 0).
// Registers of d: element i of a lane is row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2.

// Before the first product after registers of d or a were touched.
DEV void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Closes a group of products; the wait is for all groups but the last N.
DEV void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEV void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

// Both operands in shared memory, by descriptor; TA, TB 1: the operand is contiguous along M, N instead of K.
// Only the shapes that a kernel uses are defined (wgmmaWrapper of tilewright/templates/Templates.h).
template <class T, int N, int TA = 0, int TB = 0> DEV void wgmma_ss(float (&d)[N / 2], u64 a, u64 b, int acc);
// a in registers: words of columns 2 * (lane % 4) of rows lane / 4 and 8 further, then the same 8 columns further.
template <class T, int N, int TB = 0> DEV void wgmma_rs(float (&d)[N / 2], const u32& a0, const u32& a1, const u32& a2, const u32& a3, u64 b, int acc);
