// Boxes of tensor maps into shared memory and out of it again.
struct BoxParams {
  TMap from, to;
  u32* image;        // of shared memory, as the box landed
  int rank, at[5], put[5], bytes, adds;   // read at, written at
};
extern "C" __global__ void box(const __grid_constant__ BoxParams p) {
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u, bar = shared + ((p.bytes + 127) & ~127);
  if (threadIdx.x == 0) { mbar_init(bar, 1); mbar_init_fence(); }
  __syncthreads();
  if (threadIdx.x == 0) {
    tma_prefetch_desc(&p.from);
    mbar_expect_tx(bar, p.bytes);
    if (p.rank == 1) tma_load_1d(shared, &p.from, bar, p.at[0]);
    if (p.rank == 2) tma_load_2d(shared, &p.from, bar, p.at[0], p.at[1], L2_EVICT_FIRST);
    if (p.rank == 3) tma_load_3d(shared, &p.from, bar, p.at[0], p.at[1], p.at[2], L2_EVICT_LAST);
    if (p.rank == 4) tma_load_4d(shared, &p.from, bar, p.at[0], p.at[1], p.at[2], p.at[3]);
    if (p.rank == 5) tma_load_5d(shared, &p.from, bar, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4]);
  }
  mbar_wait(bar, 0);
  for (int i = threadIdx.x * 4; i < p.bytes; i += blockDim.x * 4) p.image[i / 4] = ld_shared_u32(shared + i);
  __syncthreads();
  if (threadIdx.x == 0) {
    if (p.adds) tma_reduce_add_2d(&p.to, shared, p.put[0], p.put[1]);
    else if (p.rank == 1) tma_store_1d(&p.to, shared, p.put[0]);
    else if (p.rank == 2) tma_store_2d(&p.to, shared, p.put[0], p.put[1]);
    else if (p.rank == 3) tma_store_3d(&p.to, shared, p.put[0], p.put[1], p.put[2]);
    else if (p.rank == 4) tma_store_4d(&p.to, shared, p.put[0], p.put[1], p.put[2], p.put[3]);
    else tma_store_5d(&p.to, shared, p.put[0], p.put[1], p.put[2], p.put[3], p.put[4]);
    tma_store_commit(); tma_store_wait_read();
  }
}
