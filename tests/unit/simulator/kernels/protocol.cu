// Small kernels that keep the rules, and break one of them where `bug` says so.
struct Probe {
  float* out;
  const float* in;
  int* turn;
  int bug, count;
};

// Every warp hands values from lane to lane through shared memory, three times.
extern "C" __global__ void staging(const __grid_constant__ Probe p) {
  const u32 mine = smem_u32(dyn_smem()) + (threadIdx.x >> 5) * 128;
  const int lane = threadIdx.x & 31;
  float v = threadIdx.x;
  for (int round = 0; round < 3; round++) {
    st_shared_f32(mine + 4 * lane, v + round);
    if (p.bug != 1) __syncwarp();
    v += ld_shared_f32(mine + 4 * (31 - lane));
    if (p.bug != 2) __syncwarp();
  }
  p.out[threadIdx.x] = v;
}

// Thread 0 copies `count` tiles of 32 floats through a ring of two slots; warp 1 adds them up.
extern "C" __global__ void ring(const __grid_constant__ Probe p) {
  const u32 shared = (smem_u32(dyn_smem()) + 127) & ~127u, bars = shared + 256;
  auto full = [&](int slot) { return bars + 8 * slot; };
  auto empty = [&](int slot) { return bars + 16 + 8 * slot; };
  smem_name(shared, 256, "tiles");
  smem_name(full(0), 16, "full");
  smem_name(empty(0), 16, "empty");
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++) {
      mbar_init(full(i), 1);
      if (p.bug != 1) mbar_init(empty(i), p.bug == 2 ? 2 : 1);
    }
    if (p.bug != 3) mbar_init_fence();
  }
  if (p.bug != 4) __syncthreads();
  if (threadIdx.x == 0) {
    for (int n = 0, slot = 0, phase = p.bug == 5 ? 0 : 1; n < p.count; n++) {
      if (p.bug != 6) mbar_wait(empty(slot), phase);
      mbar_expect_tx(full(slot), p.bug == 7 ? 64 : p.bug == 8 ? 144 : 128);
      bulk_load(shared + 128 * slot, p.in + 32 * n, 128, full(slot));
      if (++slot == 2) { slot = 0; phase ^= 1; }
    }
  } else if (threadIdx.x >= 32) {
    const int lane = threadIdx.x & 31;
    float sum = 0;
    for (int n = 0, slot = 0, phase = p.bug == 9 ? 1 : 0; n < p.count; n++) {
      if (p.bug != 10) mbar_wait(full(slot), phase);
      if (p.bug == 11) { __syncwarp(); if (lane == 0) mbar_arrive(empty(slot)); }
      sum += ld_shared_f32(shared + 128 * slot + 4 * lane);
      if (p.bug != 14) __syncwarp();
      if (p.bug != 11 && p.bug != 12 && lane == 0) mbar_arrive(empty(slot));
      if (p.bug == 13 && lane == 0) mbar_arrive(empty(slot));
      if (++slot == 2) { slot = 0; phase ^= p.bug != 15; }
    }
    p.out[lane] = sum;
  }
}

// One warpgroup: out[0] = element 0 of a product of matrices of ones, depth 32 by two products of 16.
extern "C" __global__ void product_rules(const __grid_constant__ Probe p) {
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u;
  for (u32 i = threadIdx.x * 4; i < 64 * 128; i += 512) { st_shared_u32(shared + i, 0x3f803f80); st_shared_u32(shared + 8192 + i, 0x3f803f80); }
  if (p.bug != 1) fence_async_proxy();
  if (p.bug != 2) __syncthreads();
  const u64 a = desc_sw128(shared + (p.bug == 3 ? 256 : 0), 16, 1024), b = desc_sw128(shared + 8192, 16, p.bug == 4 ? 65536 : 1024);
  float d[32], e[32];
  u32 r[4] = {0x3f803f80, 0x3f803f80, 0x3f803f80, 0x3f803f80};
  for (int i = 0; i < 32; i++) d[i] = e[i] = 0;
  if (p.bug != 5) wgmma_fence();
  wgmma_ss<BF16, 64, 0, 0>(d, a, b, 0);
  wgmma_ss<BF16, 64, 0, 0>(d, desc_add(a, p.bug == 6 && threadIdx.x >= 32 ? 4 : 2), desc_add(b, 2), 1);
  if (p.bug == 7) d[3] = 1;
  wgmma_commit();
  wgmma_rs<BF16, 64, 0>(e, r[0], r[1], r[2], r[3], b, 0);
  if (p.bug == 8) r[2] = 0;
  wgmma_commit();
  if (p.bug != 9) wgmma_wait<1>();
  const float first = d[0];
  if (p.bug == 10) st_shared_u32(shared + 8192 + threadIdx.x * 4, 0);
  if (p.bug != 11) wgmma_wait<0>();
  if (p.bug == 12) { e[0] += 1; wgmma_rs<BF16, 64, 0>(e, r[0], r[1], r[2], r[3], b, 1); wgmma_commit(); wgmma_wait<0>(); }
  if (p.bug == 14) {   // the fence is before the write
    wgmma_fence(); e[0] += 1; wgmma_rs<BF16, 64, 0>(e, r[0], r[1], r[2], r[3], b, 1); wgmma_commit(); wgmma_wait<0>();
  }
  if (p.bug == 15) {   // an operand written after the fence
    wgmma_fence(); r[1] = 0; wgmma_rs<BF16, 64, 0>(e, r[0], r[1], r[2], r[3], b, 0); wgmma_commit(); wgmma_wait<0>();
  }
  if (p.bug == 13 && threadIdx.x < 32) { wgmma_fence(); wgmma_rs<BF16, 64, 0>(e, r[0], r[1], r[2], r[3], b, 1); wgmma_commit(); wgmma_wait<0>(); }
  if (threadIdx.x == 0) { p.out[0] = first; p.out[1] = e[0]; }
}

// 64 threads write a tile of 64 floats, and one stores it, twice.
extern "C" __global__ void storing(const __grid_constant__ Probe p) {
  const u32 tile = smem_u32(dyn_smem());
  smem_name(tile, 256, "tile");
  for (int round = 0; round < 2; round++) {
    st_shared_f32(tile + 4 * threadIdx.x, threadIdx.x + round);
    if (p.bug != 1) fence_async_proxy();
    if (p.bug != 2) __syncthreads();
    if (threadIdx.x == 0) {
      bulk_store(p.out + 64 * round, tile, 256);
      if (p.bug != 3) tma_store_commit();
      if (p.bug != 4 || round == 1) { if (p.bug != 5 || round == 0) tma_store_wait_read(); }
    }
    __syncthreads();
  }
}

// Named barriers: warps 0 and 1 hand over to warps 2 and 3.
extern "C" __global__ void handing(const __grid_constant__ Probe p) {
  const u32 shared = smem_u32(dyn_smem());
  const int warp = threadIdx.x >> 5, half = threadIdx.x & 63;
  if (warp < 2) {
    st_shared_f32(shared + 4 * half, half);
    if (p.bug == 1) bar_arrive(1, 64);
    else if (p.bug == 2) bar_arrive(1, 100);
    else if (p.bug == 3) bar_arrive(17, 128);
    else if (p.bug != 4 || warp == 0) bar_arrive(1, 128);
    if (p.bug == 6) bar_arrive(1, 128);
  } else {
    if (p.bug != 5) bar_sync(1, 128);
    p.out[half] = ld_shared_f32(shared + 4 * (63 - half));
  }
  const bool any = bar_any(2, 128, threadIdx.x == 77);
  if (threadIdx.x == 0) p.out[64] = any;
}

// What lanes of a warp do together.
extern "C" __global__ void lanes(const __grid_constant__ Probe p) {
  const int lane = threadIdx.x;
  if (p.bug == 1) { if (lane < 16) __syncwarp(); else __syncwarp(0xffff0000u); }
  if (p.bug == 2 && lane == 5) return;
  if (p.bug == 3 && lane < 16) __shfl_xor_sync(0xffff0000u, lane, 1);
  if (p.bug == 4 && lane < 16) p.out[lane] = __shfl_sync(0x0000ffffu, lane, 20);
  int sum = 0;
  sum += __shfl_xor_sync(~0u, lane, 3) == (lane ^ 3);
  sum += __shfl_up_sync(~0u, lane, 1, 8) == (lane % 8 ? lane - 1 : lane);
  sum += __shfl_down_sync(~0u, lane, 2) == (lane < 30 ? lane + 2 : lane);
  sum += __shfl_sync(~0u, lane, 9, 16) == (lane & 16) + 9;
  sum += __ballot_sync(~0u, lane & 1) == 0xaaaaaaaau;
  sum += __any_sync(~0u, lane == 9) && !__any_sync(~0u, 0);
  sum += __all_sync(~0u, lane < 32) && !__all_sync(~0u, lane < 31);
  sum += __popc(__ballot_sync(~0u, elect_one())) == 1;
  p.out[lane] = sum;
}

// What a thread may not touch.
extern "C" __global__ void bounds(const __grid_constant__ Probe p) {
  const u32 shared = smem_u32(dyn_smem());
  float local[8];
  for (int i = 0; i < 8; i++) local[i] = i;
  if (p.bug == 1) p.out[threadIdx.x] = ld_shared_f32(shared + 4 * threadIdx.x);
  if (p.bug == 2) st_shared_f32(shared + 4096 - 4 + 4 * threadIdx.x, 1);
  if (p.bug == 3) st_shared_u32(shared + 2, 1);
  if (p.bug == 4) local[8 + p.count] = 1;
  if (p.bug == 5) p.out[128 + threadIdx.x] = 1;
  if (p.bug == 6 && threadIdx.x == 0) bulk_store(p.out + 96, shared, 256);
  if (p.bug == 7) st_global_v4(p.out + 1, 0, 0, 0, 0);
  if (p.bug == 8 && threadIdx.x == 0) { mbar_init(shared, 1); st_shared_u32(shared + 4, 0); }
  if (p.bug == 9) p.out[0] = 1 / p.count;
  if (p.bug == 10 && threadIdx.x == 0) mbar_init(shared + 4, 1);
  if (p.bug == 11 && threadIdx.x == 0) mbar_arrive(shared);
  if (p.bug == 12 && threadIdx.x == 0) { mbar_init(shared, 1); mbar_init(shared, 1); }
  if (p.bug == 13) p.out[1] = smem_u32(local);
  for (int i = 0; i < 8; i++) local[0] += local[i];
  if (p.bug == 0) p.out[threadIdx.x] = local[0];
}

// The register file of four warpgroups.
extern "C" __global__ void registers(const __grid_constant__ Probe p) {
  if (threadIdx.x < 128) { if (p.bug == 1) reg_dec<40>(); else reg_dec<24>(); }
  else { if (p.bug == 1) reg_inc<168>(); else reg_inc<152>(); }
}

// Blocks take turns by a counter in global memory, the last one first where bug is 1.
extern "C" __global__ void turns(const __grid_constant__ Probe p) {
  const int me = p.bug == 1 ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  if (threadIdx.x == 0)
    while (ld_acquire(p.turn) != me) {}
  __syncthreads();
  p.out[threadIdx.x] = p.out[threadIdx.x] * 2 + me;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) st_release(p.turn, me + 1);
}
