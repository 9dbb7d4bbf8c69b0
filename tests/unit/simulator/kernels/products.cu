// One warpgroup multiplies byte images of its operands, which the host lays out, and writes the fragments as [64][n].
struct ProductParams {
  const u32* a;
  const u32* b;
  const u32* fragments;   // of a in registers: [step][thread][4]
  float* d;
  u64 descriptorA, descriptorB;   // for start address 0
  u32 bytesA, bytesB, stepsA[4], stepsB[4];
  int form;
};

DEV void copy_in(u32 to, const u32* from, u32 bytes) {
  for (u32 i = threadIdx.x * 16; i < bytes; i += 128 * 16) st_shared_v4(to + i, from[i / 4], from[i / 4 + 1], from[i / 4 + 2], from[i / 4 + 3]);
}

template <int N> DEV void write_fragments(const float (&d)[N / 2], float* to) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  for (int i = 0; i < N / 2; i++) to[(warp * 16 + (lane >> 2) + (i >> 1 & 1) * 8) * N + (i >> 2) * 8 + (lane & 3) * 2 + (i & 1)] = d[i];
}

// `multiply(d, a, b, acc)` is one wgmma; a in shared memory.
template <int N, class Multiply> DEV void shared_a(const ProductParams& p, u64 a, u64 b, Multiply multiply) {
  float d[N / 2];
  wgmma_fence();
  for (int k = 0; k < 4; k++) multiply(d, desc_add(a, p.stepsA[k] >> 4), desc_add(b, p.stepsB[k] >> 4), k != 0);
  wgmma_commit(); wgmma_wait<0>();
  write_fragments<N>(d, p.d);
}
// `multiply(d, r, b, acc)` is one wgmma; a in four registers.
template <int N, class Multiply> DEV void registers_a(const ProductParams& p, u64 b, Multiply multiply) {
  float d[N / 2];
  u32 r[4];
  for (int k = 0; k < 4; k++) {
    for (int j = 0; j < 4; j++) r[j] = p.fragments[(k * 128 + threadIdx.x) * 4 + j];
    wgmma_fence();
    multiply(d, r, desc_add(b, p.stepsB[k] >> 4), k != 0);
    wgmma_commit(); wgmma_wait<0>();
  }
  write_fragments<N>(d, p.d);
}

extern "C" __global__ void product(const __grid_constant__ ProductParams p) {
  const u32 shared = (smem_u32(dyn_smem()) + 1023) & ~1023u, second = shared + ((p.bytesA + 1023) & ~1023u);
  copy_in(shared, p.a, p.bytesA);
  copy_in(second, p.b, p.bytesB);
  fence_async_proxy();
  __syncthreads();
  const u64 a = desc_add(p.descriptorA, shared >> 4), b = desc_add(p.descriptorB, second >> 4);
  if (p.form == 0) shared_a<64>(p, a, b, [](float (&d)[64 / 2], u64 a, u64 b, int acc) { wgmma_ss<BF16, 64, 0, 0>(d, a, b, acc); });
  if (p.form == 1) shared_a<8>(p, a, b, [](float (&d)[8 / 2], u64 a, u64 b, int acc) { wgmma_ss<BF16, 8, 0, 0>(d, a, b, acc); });
  if (p.form == 2) shared_a<24>(p, a, b, [](float (&d)[24 / 2], u64 a, u64 b, int acc) { wgmma_ss<F16, 24, 0, 0>(d, a, b, acc); });
  if (p.form == 3) shared_a<256>(p, a, b, [](float (&d)[256 / 2], u64 a, u64 b, int acc) { wgmma_ss<F16, 256, 0, 0>(d, a, b, acc); });
  if (p.form == 4) shared_a<128>(p, a, b, [](float (&d)[128 / 2], u64 a, u64 b, int acc) { wgmma_ss<BF16, 128, 0, 1>(d, a, b, acc); });
  if (p.form == 5) shared_a<192>(p, a, b, [](float (&d)[192 / 2], u64 a, u64 b, int acc) { wgmma_ss<F16, 192, 1, 1>(d, a, b, acc); });
  if (p.form == 6) shared_a<64>(p, a, b, [](float (&d)[64 / 2], u64 a, u64 b, int acc) { wgmma_ss<BF16, 64, 1, 0>(d, a, b, acc); });
  if (p.form == 7) registers_a<64>(p, b, [](float (&d)[64 / 2], u32 (&r)[4], u64 b, int acc) { wgmma_rs<BF16, 64, 0>(d, r[0], r[1], r[2], r[3], b, acc); });
  if (p.form == 8) registers_a<176>(p, b, [](float (&d)[176 / 2], u32 (&r)[4], u64 b, int acc) { wgmma_rs<F16, 176, 0>(d, r[0], r[1], r[2], r[3], b, acc); });
  if (p.form == 9) registers_a<256>(p, b, [](float (&d)[256 / 2], u32 (&r)[4], u64 b, int acc) { wgmma_rs<BF16, 256, 1>(d, r[0], r[1], r[2], r[3], b, acc); });
}

// One warp: out[16][8] += 2 * a[16][16] . b[8][16]^T, by cp.async, ldmatrix, mma.sync and bulk reductions.
struct WarpProductParams {
  const unsigned short* a;
  const unsigned short* b;
  float* out;
  int half, bug;
};
extern "C" __global__ void warp_product(const __grid_constant__ WarpProductParams p) {
  const u32 shared = smem_u32(dyn_smem()), results = shared + 1024;
  const int lane = threadIdx.x;
  cp_async_16(shared + lane * 16, p.a + lane * 8);
  if (lane < 16) cp_async_16(shared + 512 + lane * 16, p.b + lane * 8);
  cp_async_commit();
  if (p.bug != 1) cp_async_wait<0>();
  __syncwarp();
  u32 a[4], b[2];
  float d[4] = {0, 0, 0, 0};
  ldmatrix_x4(a, shared + (lane & 15) * 32 + (lane >> 4) * 16);
  ldmatrix_x2(b, shared + 512 + (lane & 7) * 32 + (lane >> 3 & 1) * 16);
  if (p.half) mma_f16_16816(d, a, b); else mma_bf16_16816(d, a, b);
  for (int i = 0; i < 4; i++) st_shared_f32(results + (((lane >> 2) + (i >> 1) * 8) * 8 + (lane & 3) * 2 + (i & 1)) * 4, d[i]);
  if (p.bug != 2) fence_async_proxy();
  __syncwarp();
  if (lane == 0) {
    bulk_reduce_add_f32(p.out, results, 512); bulk_reduce_add_f32(p.out, results, 512);
    tma_store_commit(); tma_store_wait_all();
  }
}

// Matrices through stmatrix and back through ldmatrix, plain and transposed: four words of each lane and form.
struct MatricesParams { u32* out; };
extern "C" __global__ void matrices(const __grid_constant__ MatricesParams p) {
  const u32 shared = smem_u32(dyn_smem()), mine = shared + threadIdx.x * 16;
  u32 r[4], r2[2], x[4];
  for (u32 i = 0; i < 4; i++) x[i] = threadIdx.x * 8 + i * 2 + ((threadIdx.x * 8 + i * 2 + 1) << 16);
  u32* out = p.out + threadIdx.x * 28;
  stmatrix_x4(mine, x[0], x[1], x[2], x[3]); __syncwarp();
  ldmatrix_x4(r, mine);
  for (int i = 0; i < 4; i++) out[i] = r[i];
  ldmatrix_x4_trans(r, mine);
  for (int i = 0; i < 4; i++) out[4 + i] = r[i];
  ldmatrix_x2(r2, mine);
  for (int i = 0; i < 2; i++) out[8 + i] = r2[i];
  ldmatrix_x2_trans(r2, mine);
  for (int i = 0; i < 2; i++) out[10 + i] = r2[i];
  __syncwarp();
  stmatrix_x4_trans(mine, x[0], x[1], x[2], x[3]); __syncwarp();
  ldmatrix_x4(r, mine);
  for (int i = 0; i < 4; i++) out[12 + i] = r[i];
  __syncwarp();
  quad_transpose(x, threadIdx.x);
  for (int i = 0; i < 4; i++) out[16 + i] = x[i];
  out[20] = pack_bf16(1.00390625f, -3.f); out[21] = pack_f16(1.0009765625f, 65504.f);
  out[22] = __float_as_int(unpack_bf16_lo(out[20]) + unpack_bf16_hi(out[20])); out[23] = __float_as_int(unpack_f16_lo(out[21]) + unpack_f16_hi(out[21]));
  // 1.5 * 2 + 0.5 and -1 * 0 + 0; 0 times infinity, and 0 times the largest number.
  out[24] = fma_bf16x2(0xbf803fc0, 0x00004000, 0x00003f00); out[25] = fma_f16x2(0xbc003e00, 0x00004000, 0x00003800);
  out[26] = fma_bf16x2(0x7f80ff7f, 0, 0); out[27] = fma_f16x2(0x7c00fbff, 0, 0);
}
