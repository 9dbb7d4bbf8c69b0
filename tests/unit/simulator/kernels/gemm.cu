// c[M][N] = a[M][K] . b[K][N] in bf16: tiles of 128 x 64 x 64, a ring of three slots, one warpgroup that copies and two that multiply,
// results through stmatrix and TMA stores.
constexpr int TILE_M = 128, TILE_N = 64, TILE_K = 64, SLOTS = 3;
constexpr u32 A_BYTES = TILE_M * TILE_K * 2, B_BYTES = TILE_N * TILE_K * 2, C_BYTES = TILE_M * TILE_N * 2;
constexpr u32 A_AT = 0, B_AT = A_AT + SLOTS * A_BYTES, C_AT = B_AT + SLOTS * B_BYTES, BARS_AT = C_AT + C_BYTES;
struct GemmParams {
  TMap a, b, c;
  int K, bug;
};

extern "C" __global__ void __launch_bounds__(384, 1) gemm(const __grid_constant__ GemmParams p) {
  const u32 sb = (smem_u32(dyn_smem()) + 1023) & ~1023u;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, group = warp >> 2;
  const int m0 = blockIdx.x * TILE_M, n0 = blockIdx.y * TILE_N, steps = (p.K + TILE_K - 1) / TILE_K;
  auto full = [&](int i) { return sb + BARS_AT + 8 * i; };
  auto empty = [&](int i) { return sb + BARS_AT + 8 * (SLOTS + i); };
  smem_name(sb + A_AT, SLOTS * A_BYTES, "a"); smem_name(sb + B_AT, SLOTS * B_BYTES, "b"); smem_name(sb + C_AT, C_BYTES, "c");
  for (int i = 0; i < SLOTS; i++) { smem_name(full(i), 8, "full", i); smem_name(empty(i), 8, "empty", i); }
  if (threadIdx.x == 0) {
    for (int i = 0; i < SLOTS; i++) { mbar_init(full(i), 1); mbar_init(empty(i), 8); }
    mbar_init_fence();
  }
  __syncthreads();
  if (group == 0) {
    reg_dec<40>();
    if (warp == 0 && elect_one()) {
      for (int k = 0, slot = 0, phase = 1; k < steps; k++) {
        mbar_wait(empty(slot), phase);
        mbar_expect_tx(full(slot), A_BYTES + B_BYTES);
        tma_load_2d(sb + A_AT + slot * A_BYTES, &p.a, full(slot), k * TILE_K, m0);
        tma_load_2d(sb + B_AT + slot * B_BYTES, &p.b, full(slot), n0, k * TILE_K);
        if (++slot == SLOTS) { slot = 0; phase ^= 1; }
      }
    }
  } else {
    reg_inc<232>();
    float acc[TILE_N / 2];
    const int half = group - 1;
    for (int k = 0, slot = 0, phase = 0; k < steps; k++) {
      if (p.bug != 1) mbar_wait(full(slot), phase);
      pin(acc); wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < TILE_K / 16; kk++)
        wgmma_ss<BF16, 64, 0, 1>(acc, desc_sw128(sb + A_AT + slot * A_BYTES + half * 64 * 128 + kk * 32, 16, 1024),
                                 desc_sw128(sb + B_AT + slot * B_BYTES + kk * 16 * 128, TILE_K * 128, 1024), (k | kk) != 0);
      wgmma_commit();
      if (p.bug != 2) { wgmma_wait<0>(); pin(acc); }
      if (lane == 0) mbar_arrive(empty(slot));
      if (p.bug == 2) { wgmma_wait<0>(); pin(acc); }
      if (++slot == SLOTS) { slot = 0; phase ^= 1; }
    }
    // Each warp has 16 rows of c; in shared memory rows of 128 bytes, 128-byte swizzle.
    const int first = half * 64 + (warp & 3) * 16;
#pragma unroll
    for (int c = 0; c < TILE_N / 16; c++) {
      u32 at = (first + (lane & 15)) * 128 + (c * 2 + (lane >> 4)) * 16;
      at ^= p.bug == 3 ? at >> 3 & 0x30 : at >> 3 & 0x70;
      stmatrix_x4(sb + C_AT + at, pack_bf16(acc[8 * c], acc[8 * c + 1]), pack_bf16(acc[8 * c + 2], acc[8 * c + 3]),
                  pack_bf16(acc[8 * c + 4], acc[8 * c + 5]), pack_bf16(acc[8 * c + 6], acc[8 * c + 7]));
    }
    if (p.bug != 4) fence_async_proxy();
    if (p.bug != 5) bar_sync(1, 256);
    if (warp == 4 && elect_one()) {
      tma_store_2d(&p.c, sb + C_AT, n0, m0);
      tma_store_commit();
      if (p.bug != 6) tma_store_wait_read();
    }
  }
}
