// Boxes by cp.async through a ring of two slots: warp 0 copies them, warps 1 and 2 take each what has landed.
struct BoxesParams {
  TMap map;
  u32* image;   // of every box, as it landed
  int at[5], shift[5], count, shape, bug;
};

// UNIT: bytes that are copied at once; elements of 2 and 1 are stored by the lane that copies them, which arrives for them too.
template <int BYTES0, int B1, int B2, int B3, int B4, int SWIZZLE, int UNIT = 16> DEV void boxes_of(const BoxesParams& p) {
  constexpr int box_bytes = BYTES0 * B1 * B2 * B3 * B4, slot_bytes = (box_bytes + 1023) & ~1023;
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u, bars = shared + 2 * slot_bytes;
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  auto full = [&](int slot) { return bars + 8 * slot; };
  auto empty = [&](int slot) { return bars + 16 + 8 * slot; };
  smem_name(shared, 2 * slot_bytes, "boxes"); smem_name(full(0), 16, "full"); smem_name(empty(0), 16, "empty");
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) { mbar_init(full(i), (p.bug == 1 ? 31 : 32) + (UNIT < 4 && p.bug != 12 ? 32 : 0)); mbar_init(empty(i), 2); }
    mbar_init_fence();
  }
  __syncthreads();
  if (warp == 0) {
    for (int n = 0, slot = 0, phase = 1; n < p.count; n++) {
      if (p.bug != 2) mbar_wait(empty(slot), phase);
      if (p.bug == 3) cp_async_mbar_arrive(full(slot));
      const u32 to = shared + slot * slot_bytes;
      const int c0 = p.at[0] + n * p.shift[0], c1 = p.at[1] + n * p.shift[1], c2 = p.at[2] + n * p.shift[2], c3 = p.at[3] + n * p.shift[3],
                c4 = p.at[4] + n * p.shift[4];
      if constexpr (UNIT == 16) copy_box<BYTES0, B1, B2, B3, B4, SWIZZLE>(to, &p.map, c0, c1, c2, c3, c4, lane);
      else copy_shifted_box<UNIT, BYTES0, B1, B2, B3, B4, SWIZZLE>(to, &p.map, c0, c1, c2, c3, c4, lane);
      if (UNIT < 4 && p.bug != 12) mbar_arrive(full(slot));
      if (p.bug == 4) mbar_arrive(full(slot));
      else if (p.bug == 5) { cp_async_commit(); cp_async_wait<1>(); mbar_arrive(full(slot)); }
      else if (p.bug == 100) { cp_async_commit(); cp_async_wait<0>(); mbar_arrive(full(slot)); }   // right, if slow
      else if (p.bug == 101) { cp_async_commit(); cp_async_mbar_arrive(full(slot)); cp_async_wait<1>(); }   // right
      else if (p.bug != 3 && (p.bug != 6 || lane != 31)) cp_async_mbar_arrive(full(slot));
      if (++slot == 2) { slot = 0; phase ^= 1; }
    }
  } else {
    for (int n = 0, slot = 0, phase = 0; n < p.count; n++) {
      if (p.bug != 7 && (p.bug != 8 || n + 1 < p.count)) mbar_wait(full(slot), phase);
      if (p.bug == 9) { __syncwarp(); if (lane == 0) mbar_arrive(empty(slot)); }
      if (p.bug != 8 || n + 1 < p.count)
        for (int i = ((warp - 1) * 32 + lane) * 16; i < box_bytes; i += 1024) {
          u32 x[4];
          ld_shared_v4(shared + slot * slot_bytes + i, x);
          st_global_v4(p.image + (n * box_bytes + i) / 4, x[0], x[1], x[2], x[3]);
        }
      if (p.bug != 10) __syncwarp();
      if (p.bug != 9 && p.bug != 11 && lane == 0) mbar_arrive(empty(slot));
      if (++slot == 2) { slot = 0; phase ^= 1; }
    }
  }
}

extern "C" __global__ void boxes(const __grid_constant__ BoxesParams p) {
  if (p.shape == 0) boxes_of<128, 16, 1, 1, 1, 128>(p);
  if (p.shape == 1) boxes_of<128, 6, 2, 3, 1, 128>(p);
  if (p.shape == 2) boxes_of<128, 7, 1, 1, 1, 128>(p);
  if (p.shape == 3) boxes_of<128, 64, 2, 1, 2, 128>(p);
  if (p.shape == 4) boxes_of<64, 8, 2, 2, 2, 0>(p);
  if (p.shape == 5) boxes_of<96, 5, 3, 1, 1, 0>(p);
  if (p.shape == 6) boxes_of<16, 40, 1, 1, 1, 0>(p);
  if (p.shape == 7) boxes_of<32, 2, 5, 3, 1, 0>(p);
  if (p.shape == 8) boxes_of<1024, 1, 1, 1, 1, 0>(p);
  if (p.shape == 9) boxes_of<1536, 2, 1, 1, 2, 0>(p);
  if (p.shape == 10) boxes_of<16, 1, 1, 1, 1, 0>(p);
  if (p.shape == 11) boxes_of<128, 16, 1, 1, 1, 128, 4>(p);
  if (p.shape == 12) boxes_of<128, 6, 2, 3, 1, 128, 2>(p);
  if (p.shape == 13) boxes_of<64, 8, 2, 2, 2, 0, 4>(p);
  if (p.shape == 14) boxes_of<96, 5, 3, 1, 1, 0, 2>(p);
  if (p.shape == 15) boxes_of<48, 3, 1, 2, 1, 0, 1>(p);
  if (p.shape == 16) boxes_of<256, 1, 1, 1, 1, 0, 1>(p);
}

// Every lane of warp 0 copies its own 16 bytes twice, the second time counted on an mbarrier with the first; warp 1 reads both.
struct OwnParams {
  const u32* in;
  u32* out;
  int bug;
};
extern "C" __global__ void own(const __grid_constant__ OwnParams p) {
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u, lane = threadIdx.x & 31;
  const u32 once = shared + 16 * lane, twice = once + 512, bar = shared + 1024;
  if (threadIdx.x == 0) { mbar_init(bar, 32); mbar_init(bar + 8, 32); mbar_init_fence(); }
  __syncthreads();
  if (threadIdx.x < 32) {
    cp_async_16(once, p.in + 4 * lane, lane % 17); cp_async_commit();
    if (p.bug == 1) p.out[lane] = ld_shared_u32(once);
    if (p.bug == 2) cp_async_16(once, p.in);
    if (p.bug == 3) { cp_async_wait<1>(); p.out[lane] = ld_shared_u32(once); }
    cp_async_wait<0>();
    p.out[lane] = ld_shared_u32(once);
    cp_async_16(twice, p.in + 4 * lane);
    cp_async_mbar_arrive(p.bug == 4 ? bar + 8 : bar);
    if (p.bug == 4) cp_async_mbar_arrive(bar);
    if (p.bug == 5) cp_async_16(once, p.in + 4 * lane);   // nobody waits for it
  } else {
    mbar_wait(bar, 0);
    p.out[32 + lane] = ld_shared_u32(once) + ld_shared_u32(twice);
    if (p.bug == 4) mbar_wait(bar + 8, 0);
  }
}

// One box that all threads of the block copy, and read when every one of them has arrived.
template <int THREADS, int BYTES0, int B1, int B2, int B3, int B4, int SWIZZLE, int UNIT = 16> DEV void box_by_all(const BoxesParams& p) {
  constexpr int box_bytes = BYTES0 * B1 * B2 * B3 * B4;
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u, full = shared + ((box_bytes + 1023) & ~1023);
  if (threadIdx.x == 0) { mbar_init(full, UNIT < 4 ? 2 * THREADS : THREADS); mbar_init_fence(); }
  __syncthreads();
  if constexpr (UNIT == 16) copy_box<BYTES0, B1, B2, B3, B4, SWIZZLE, THREADS>(shared, &p.map, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4], threadIdx.x);
  else copy_shifted_box<UNIT, BYTES0, B1, B2, B3, B4, SWIZZLE, THREADS>(shared, &p.map, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4], threadIdx.x);
  if (UNIT < 4) mbar_arrive(full);
  cp_async_mbar_arrive(full);
  mbar_wait(full, 0);
  for (int i = threadIdx.x * 16; i < box_bytes; i += THREADS * 16) {
    u32 x[4];
    ld_shared_v4(shared + i, x);
    st_global_v4(p.image + i / 4, x[0], x[1], x[2], x[3]);
  }
}

template <int THREADS> DEV void boxes_by_all(const BoxesParams& p) {
  if (p.shape == 0) box_by_all<THREADS, 128, 16, 1, 1, 1, 128>(p);
  if (p.shape == 1) box_by_all<THREADS, 128, 6, 2, 3, 1, 128>(p);
  if (p.shape == 2) box_by_all<THREADS, 128, 7, 1, 1, 1, 128>(p);
  if (p.shape == 3) box_by_all<THREADS, 128, 64, 2, 1, 2, 128>(p);
  if (p.shape == 4) box_by_all<THREADS, 64, 8, 2, 2, 2, 0>(p);
  if (p.shape == 5) box_by_all<THREADS, 96, 5, 3, 1, 1, 0>(p);
  if (p.shape == 6) box_by_all<THREADS, 16, 40, 1, 1, 1, 0>(p);
  if (p.shape == 7) box_by_all<THREADS, 32, 2, 5, 3, 1, 0>(p);
  if (p.shape == 8) box_by_all<THREADS, 1024, 1, 1, 1, 1, 0>(p);
  if (p.shape == 9) box_by_all<THREADS, 1536, 2, 1, 1, 2, 0>(p);
  if (p.shape == 10) box_by_all<THREADS, 16, 1, 1, 1, 1, 0>(p);
  if (p.shape == 11) box_by_all<THREADS, 128, 16, 1, 1, 1, 128, 4>(p);
  if (p.shape == 12) box_by_all<THREADS, 128, 6, 2, 3, 1, 128, 2>(p);
  if (p.shape == 13) box_by_all<THREADS, 64, 8, 2, 2, 2, 0, 4>(p);
  if (p.shape == 14) box_by_all<THREADS, 96, 5, 3, 1, 1, 0, 2>(p);
  if (p.shape == 15) box_by_all<THREADS, 48, 3, 1, 2, 1, 0, 1>(p);
  if (p.shape == 16) box_by_all<THREADS, 256, 1, 1, 1, 1, 0, 1>(p);
}

extern "C" __global__ void by_all(const __grid_constant__ BoxesParams p) {
  if (p.count == 128) boxes_by_all<128>(p);
  if (p.count == 256) boxes_by_all<256>(p);
  if (p.count == 384) boxes_by_all<384>(p);
}
