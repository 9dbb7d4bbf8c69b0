// Calls every primitive of the device templates once, in the three kinds of code that have them.
struct Params {
  TMap map;
  float* f;
  int* i;
  u32* u;
  int c;
};

extern "C" __global__ void primitives(const __grid_constant__ Params p) {
  const u32 shared = smem_u32(dyn_smem()), lane = threadIdx.x & 31;
  smem_name(shared, 16, "all");
  float x = p.f[lane];
  x = ex2(x) + lg2(x) + rcp(x) + tanh_fast(x) + tanh_accurate(x) + neg_inf();
  x = max_nan(x, min_nan(x, 3));
  u32 w = pack_bf16(x, 1) ^ pack_f16(x, 2);
  w = fma_bf16x2(w, w, w) ^ fma_f16x2(w, w, w);
  x += unpack_bf16_lo(w) + unpack_bf16_hi(w) + unpack_f16_lo(w) + unpack_f16_hi(w);
  st_global_v4(p.u, w, w, w, w); st_global_v2(p.u + 4, w, w); st_global_u32(p.u + 6, w);
  st_release(p.i, ld_acquire(p.i)); red_add_f32(p.f, x);

  u32 r2[2], r4[4];
  w += ld_shared_u32(shared) + ld_shared_u16(shared); x += ld_shared_f32(shared);
  ld_shared_v2(shared, r2); ld_shared_v4(shared, r4);
  st_shared_u32(shared, w); st_shared_f32(shared, x); st_shared_u16(shared, w); st_shared_u8(shared, w); st_shared_v2(shared, r2[0], r2[1]);
  ld_global_v4(p.u, r4); x += tile_element<BF16, 64>(shared, lane, 1) + tile_element<F16, 128>(shared, lane, 2);
  st_shared_v4(shared, r4[0], r4[1], r4[2], r4[3]);
  fence_async_proxy();
  cp_async_16(shared, p.u); cp_async_16(shared, p.u, 8); cp_async_4(shared, p.u); cp_async_4(shared, p.u, 2); cp_async_commit(); cp_async_wait<1>(); cp_async_wait<0>();

  bar_sync(1, 128); bar_arrive(2, 256); x += bar_any(3, 128, x > 0);
  mbar_init(shared, 1); mbar_init_fence(); mbar_arrive(shared); mbar_expect_tx(shared, 16); mbar_expect_tx_noarrive(shared, 16);
  w += mbar_try(shared, 0); mbar_wait(shared, 1); mbar_inval(shared);

  if (elect_one()) {
    tma_prefetch_desc(&p.map);
    tma_load_1d(shared, &p.map, shared, p.c); tma_load_2d(shared, &p.map, shared, p.c, 1, L2_EVICT_FIRST);
    tma_load_3d(shared, &p.map, shared, p.c, 1, 2, L2_EVICT_LAST);
    tma_load_4d(shared, &p.map, shared, p.c, 1, 2, 3); tma_load_5d(shared, &p.map, shared, p.c, 1, 2, 3, 4);
    tma_store_1d(&p.map, shared, p.c); tma_store_2d(&p.map, shared, p.c, 1); tma_store_3d(&p.map, shared, p.c, 1, 2);
    tma_store_4d(&p.map, shared, p.c, 1, 2, 3); tma_store_5d(&p.map, shared, p.c, 1, 2, 3, 4); tma_reduce_add_1d(&p.map, shared, p.c);
    tma_reduce_add_2d(&p.map, shared, p.c, 1); tma_reduce_add_3d(&p.map, shared, p.c, 1, 2); tma_reduce_add_4d(&p.map, shared, p.c, 1, 2, 3);
    tma_reduce_add_5d(&p.map, shared, p.c, 1, 2, 3, 4);
    bulk_load(shared, p.f, 64, shared); bulk_store(p.f, shared, 64); bulk_reduce_add_f32(p.f, shared, 64);
    tma_store_commit(); tma_store_wait_read_n<1>(); tma_store_wait_read(); tma_store_wait_all();
  }

  w += ceil_div(p.c, 64) + floor_div(p.c, 64);
  i64 least, most;
  no_extremes_(least, most); row_extremes(p.i, 1, p.c, least, most); take_extreme_((i64)of_word_(p.i, w), least, most);
  row_extremes<BF16>((const unsigned short*)p.u, 2, p.c, x, x);
  warp_row_extremes(p.i, 1, p.c, least, most, lane); warp_row_extremes<BF16>((const unsigned short*)p.u, 2, p.c, x, x, lane);
  KnownExtremes<i64> known[4]; forget_extremes(known); known_row_extremes(p.i, 1, p.c, least, most, known, 3);
  KnownExtremes<float> known_floats[4]; known_row_extremes<BF16>((const unsigned short*)p.u, 2, p.c, x, x, known_floats, 3);
  reduce_tile<BF16, 128, 72>(shared, shared, 0, 0, lane, [](float a, float b) { return a + b; }, [&](float y) { return x * y; });
  bool all, some;
  range_among(p.i, 1, p.c, p.c, least, most, all, some);
  w += all + some + is_among(p.i, 1, p.c, least);
  w += (u32)(least + most);
  float d4[4] = {x, x, x, x};
  ldmatrix_x4(r4, shared); mma_bf16_16816(d4, r4, r2);
  ldmatrix_x4_trans(r4, shared); ldmatrix_x2(r2, shared); mma_f16_16816(d4, r4, r2);
  ldmatrix_x2_trans(r2, shared);
  stmatrix_x4(shared, r4[0], r4[1], r4[2], r4[3]); stmatrix_x4_trans(shared, r2[0], r2[1], r4[0], r4[1]);
  quad_transpose(r4, lane);
  u32 blocks[1][4] = {{r4[0], r4[1], r4[2], r4[3]}};
  mma_blocks<BF16>(d4, 0, blocks, r2); mma_blocks<F16>(d4, 0, blocks, r2);
  p.f[lane] = d4[0] + d4[1] + d4[2] + d4[3] + x;
  p.u[lane] = w + r4[0] + r4[1] + r4[2] + r4[3];
}

extern "C" __global__ void __launch_bounds__(256, 1) products(const __grid_constant__ Params p) {
  if (threadIdx.x < 128) reg_dec<40>(); else reg_inc<200>();
  const u32 shared = smem_u32(dyn_smem());
  const u64 a = desc_sw128(opaque(shared), 16, 1024), b = desc_add(desc_make(shared, 16, 512, 2), 2);
  float d[4], e[128], f[32];
  u32 r[4] = {p.u[0], p.u[1], p.u[2], p.u[3]};
  pin(d); pin(e); pin(f); wgmma_fence();
  wgmma_ss<BF16, 8, 0, 0>(d, a, b, 0); wgmma_ss<F16, 256, 1, 1>(e, a, b, 0); wgmma_rs<F16, 64, 1>(f, r[0], r[1], r[2], r[3], b, 0);
  wgmma_commit(); wgmma_wait<0>();
  pin(d); pin(e); pin(f); pin(r);
  if (zero_times(f) != 0.f) return;
  if (scan<BF16, 64, 1>(shared, 0, threadIdx.x >> 5, threadIdx.x & 31) || scan<F16, 64, 1>(shared, 0, threadIdx.x >> 5, threadIdx.x & 31)) return;
  const u64 plus[2] = {~0ull, 0}, minus[2] = {0, ~0ull};
  isolate_within<BF16, true, 64, 1, 2, false, 32, 32>(f, plus, minus, shared, 0, threadIdx.x >> 5, threadIdx.x & 31);
  isolate<BF16, true, 64, 1, 2, false>(f, f, shared, 0, threadIdx.x >> 5, threadIdx.x & 31);
  isolate<F16, false, 64, 1, 2, true>(f, f, shared, 0, threadIdx.x >> 5, threadIdx.x & 31);
  p.f[threadIdx.x] = d[0] + e[127] + f[31] + (float)(not_finite<BF16>(r[0]) | signs_as_numbers<F16>(r[1], r[2]));
}
