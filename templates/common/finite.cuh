// A weight of exactly 0 hides a row of the right operand, whatever that holds; in a product of matrices 0 times NaN or infinity is NaN.

// Of a word of two 16-bit numbers: bits 15 and 31, set for those that are NaN or infinite.
template <class T> DEV u32 not_finite(u32 word) {
  const u32 exponent = T::kind == 0 ? 0x7f807f80 : 0x7c007c00, above = T::kind == 0 ? 0x00800080 : 0x04000400;
  return ((word & exponent) + above) & 0x80008000;
}

// Two lowest bits of `plus` and of `minus` as numbers: 1 where the one is set, 1024 where the other is.
template <class T> DEV u32 signs_as_numbers(u32 plus, u32 minus) {
  const u32 one = T::kind == 0 ? 0x3f80 : 0x3c00, many = T::kind == 0 ? 0x4480 : 0x6400;
  return ((plus & 1) * one | (minus & 1) * many) | ((plus >> 1 & 1) * one | (minus >> 1 & 1) * many) << 16;
}

// 0 if all numbers are finite, else NaN.
template <int N> DEV float zero_times(const float (&x)[N]) {
  float sum[4] = {0.f, 0.f, 0.f, 0.f};
#pragma unroll
  for (int i = 0; i < N; i++) sum[i & 3] = fmaf(x[i], 0.f, sum[i & 3]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// Whether a tile of CHUNKS chunks of ROWS rows holds a NaN or an infinity. Called by all warps of warpgroup `cw`.
template <class T, int ROWS, int CHUNKS> DEV bool scan(u32 tile, int cw, int warp, int lane) {
  constexpr int pieces = ROWS * CHUNKS * 8, own_barrier = 5;   // 1..4 are turns
  const int thread = (warp & 3) * 32 + lane;
  // 0 times what is finite is 0, and anything else makes NaN, which stays. Zeros have a sign, bits 15 and 31.
  u32 sum[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (int i = thread; i < pieces; i += 128) {
    u32 x[4];
    ld_shared_v4(tile + 16 * i, x);
#pragma unroll
    for (int n = 0; n < 4; n++) sum[n] = T::kind == 0 ? fma_bf16x2(x[n], 0, sum[n]) : fma_f16x2(x[n], 0, sum[n]);
  }
  const u32 found = (sum[0] | sum[1] | sum[2] | sum[3]) & 0x7fff7fff;
  return bar_any(own_barrier + cw, 128, found != 0);
}

// isolate() but for the weights' signs and the registers of `acc`: bit i of plus[i / 64] says w[i] > 0, of minus[i / 64] w[i] < 0.
template <class T, bool ROWS_CONTRACTED, int ROWS, int CHUNKS, int WARPGROUPS, bool KEEP, int A, int W>
DEV void isolate_within(float (&acc)[A], const u64 (&plus)[2], const u64 (&minus)[2], u32 tile, int cw, int warp, int lane) {
  constexpr int pieces = ROWS * CHUNKS * 8, common_barrier = 9;
  const int thread = (warp & 3) * 32 + lane;

  // Bit i: whether +inf, and whether -inf is added to acc[i]; both make NaN.
  u64 rises[2] = {0, 0}, falls[2] = {0, 0};
  const u32 infinity = T::kind == 0 ? 0x7f80 : 0x7c00, one = T::kind == 0 ? 0x3f80 : 0x3c00;
#pragma unroll 1
  for (int kind = 0; kind < 3; kind++) {   // +inf, -inf, NaN
#pragma unroll 1
    for (int j = 0; j < A / 4; j++) {
      float count[4] = {0.f, 0.f, 0.f, 0.f};   // of elements of this kind, by the sign of their weights
      const int e = 8 * j + (lane >> 2);
#pragma unroll 1
      for (int kk = 0; kk < W / 8; kk++) {   // byte kk of the signs: a lane's share of the left operand
        u32 p = (u32)((kk < 8 ? plus[0] : plus[1]) >> (8 * (kk & 7))), m = (u32)((kk < 8 ? minus[0] : minus[1]) >> (8 * (kk & 7)));
        u32 a[4], b[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < 4; i++) a[i] = signs_as_numbers<T>(p >> (2 * i), m >> (2 * i));
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int k = 16 * kk + 2 * (lane & 3) + 8 * (i >> 1) + (i & 1), row = ROWS_CONTRACTED ? k : e, column = ROWS_CONTRACTED ? e : k;
          const u32 x = ld_shared_u16(tile + (column >> 6) * (ROWS * 128) + row * 128 + ((((column & 63) >> 3) ^ (row & 7)) << 4) + (column & 7) * 2);
          const bool is = kind == 0 ? x == infinity : kind == 1 ? x == (infinity | 0x8000) : (x & 0x7fff) > infinity;
          b[i >> 1] |= (is ? one : 0) << (16 * (i & 1));
        }
        if (T::kind == 0) mma_bf16_16816(count, a, b); else mma_f16_16816(count, a, b);
      }
      u32 up = 0, down = 0;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int n = (int)count[i];
        const bool same = (n & 1023) != 0, opposite = n >= 1024, nan = kind == 2 && n != 0;
        up |= (u32)(nan || (kind == 0 ? same : kind == 1 && opposite)) << i;
        down |= (u32)(nan || (kind == 0 ? opposite : kind == 1 && same)) << i;
      }
      if (j < 16) {
        rises[0] |= (u64)up << (4 * j); falls[0] |= (u64)down << (4 * j);
      } else {
        rises[1] |= (u64)up << (4 * (j - 16)); falls[1] |= (u64)down << (4 * (j - 16));
      }
    }
  }
#pragma unroll
  for (int i = 0; i < A; i++) {
    if (rises[i / 64] >> (i % 64) & 1) acc[i] -= neg_inf();
    if (falls[i / 64] >> (i % 64) & 1) acc[i] += neg_inf();
  }
  if (KEEP) return;

  bar_sync(common_barrier, 128 * WARPGROUPS);
#pragma unroll 1
  for (int i = cw * 128 + thread; i < pieces; i += 128 * WARPGROUPS) {
    u32 x[4];
    ld_shared_v4(tile + 16 * i, x);
#pragma unroll
    for (int n = 0; n < 4; n++) x[n] &= ~((not_finite<T>(x[n]) >> 15) * 0xffff);
    st_shared_v4(tile + 16 * i, x[0], x[1], x[2], x[3]);
  }
  fence_async_proxy();
  bar_sync(common_barrier, 128 * WARPGROUPS);
}

// An element of a tile of chunks of ROWS rows, as a number.
template <class T, int ROWS> DEV float tile_element(u32 tile, int row, int column) {
  const u32 x = ld_shared_u16(tile + (column >> 6) * (ROWS * 128) + row * 128 + ((((column & 63) >> 3) ^ (row & 7)) << 4) + (column & 7) * 2);
  return T::kind == 0 ? unpack_bf16_lo(x) : unpack_f16_lo(x);
}

// to[r * stride + c] += left[r, :] . right[:, c], without the products whose left element is 0. Left is ROWS x DEPTH; the right tile has RIGHT_ROWS
// rows, which are contracted if ROWS_CONTRACTED, else its columns are. Called by all `threads`.
template <class T, int ROWS, int DEPTH, int RIGHT_ROWS, int COLUMNS, bool ROWS_CONTRACTED>
APART void add_apart(u32 left, u32 right, float* to, i64 stride, int rows, int columns, int thread, int threads) {
#pragma unroll 1
  for (int i = thread; i < ROWS * COLUMNS; i += threads) {
    const int row = i / COLUMNS, column = i % COLUMNS;
    float sum = 0.f;
#pragma unroll 1
    for (int k = 0; k < DEPTH; k++) {
      const float weight = tile_element<T, ROWS>(left, row, k);
      if (weight != 0.f) sum += weight * tile_element<T, RIGHT_ROWS>(right, ROWS_CONTRACTED ? k : column, ROWS_CONTRACTED ? column : k);
    }
    if (row < rows && column < columns) red_add_f32(to + row * stride + column, sum);
  }
}

template <class T, bool ROWS_CONTRACTED, int ROWS, int CHUNKS, int WARPGROUPS, bool KEEP, int A, int W>
APART void isolate_apart(float (&acc)[A], const u64 (&plus)[2], const u64 (&minus)[2], u32 tile, int cw, int warp, int lane) {
  isolate_within<T, ROWS_CONTRACTED, ROWS, CHUNKS, WARPGROUPS, KEEP, A, W>(acc, plus, minus, tile, cw, warp, lane);
}

// Before acc += w . tile, where scan() holds: adds what the tile's NaNs and infinities make of the rows that see them, that is, whose weight is
// not 0, and sets them to 0 in the tile, for all warpgroups at once. ROWS_CONTRACTED: the tile's rows are contracted, else its columns are.
// KEEP: it is left as it is, for further weights. A warp has BLOCKS of 16 rows, done one after the other from BLOCK on. Called by all warps of
// all WARPGROUPS, whose number `cw` is. WITHIN: in line, for loops of their own; around a call all other registers would be spilled.
template <class T, bool ROWS_CONTRACTED, int ROWS, int CHUNKS, int WARPGROUPS, bool KEEP, int BLOCKS = 1, bool WITHIN = false, int BLOCK = 0, int A, int W>
DEV void isolate(float (&acc)[A], const float (&w)[W], u32 tile, int cw, int warp, int lane) {
  u64 plus[2] = {0, 0}, minus[2] = {0, 0};
  auto at = [](int i) { return i / 4 * (4 * BLOCKS) + 4 * BLOCK + i % 4; };   // where element i of the block is among those of all
#pragma unroll
  for (int i = 0; i < W / BLOCKS; i++) {
    plus[i / 64] |= (u64)(w[at(i)] > 0.f) << (i % 64);
    minus[i / 64] |= (u64)(w[at(i)] < 0.f) << (i % 64);
  }
  float sums[A / BLOCKS];   // in memory, if there is a call
#pragma unroll
  for (int i = 0; i < A / BLOCKS; i++) sums[i] = acc[at(i)];
  constexpr bool keep = KEEP || BLOCK + 1 < BLOCKS;
  if constexpr (WITHIN)
    isolate_within<T, ROWS_CONTRACTED, ROWS, CHUNKS, WARPGROUPS, keep, A / BLOCKS, W / BLOCKS>(sums, plus, minus, tile, cw, warp, lane);
  else
    isolate_apart<T, ROWS_CONTRACTED, ROWS, CHUNKS, WARPGROUPS, keep, A / BLOCKS, W / BLOCKS>(sums, plus, minus, tile, cw, warp, lane);
#pragma unroll
  for (int i = 0; i < A / BLOCKS; i++) acc[at(i)] = sums[i];
  if constexpr (BLOCK + 1 < BLOCKS) isolate<T, ROWS_CONTRACTED, ROWS, CHUNKS, WARPGROUPS, KEEP, BLOCKS, WITHIN, BLOCK + 1>(acc, w, tile, cw, warp, lane);
}
