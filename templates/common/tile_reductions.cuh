// Values of a row of a tile in shared memory, made of all its elements.

// vector[row] = the first COLUMNS of map(x) along each row of a tile of ROWS rows, combined. Called by all warps of warpgroup `cw`, which reads the vector
// afterwards; what it read there before may be overwritten.
template <class T, int ROWS, int COLUMNS, class Combine, class Map>
DEV void reduce_tile(u32 tile, u32 vector, int cw, int warp, int lane, Combine combine, Map map) {
  constexpr int own_barrier = 5, pieces = (COLUMNS + 7) / 8;   // 1..4 are turns; 8 elements each
  // Neighbouring threads share a row, where there are more of them than rows.
  constexpr int sharers = ROWS <= 16 && pieces >= 8 ? 8 : ROWS <= 32 && pieces >= 4 ? 4 : ROWS <= 64 && pieces >= 2 ? 2 : 1;
  const int thread = (warp & 3) * 32 + lane, part = thread % sharers;
  constexpr int passes = (ROWS * sharers + 127) / 128;
  float made[passes];
#pragma unroll
  for (int pass = 0; pass < passes; pass++) {
    const int row = (pass * 128 + thread) / sharers;
    made[pass] = 0.f;
    if (row < ROWS) {
#pragma unroll 2
      for (int piece = part; piece < pieces; piece += sharers) {
        u32 x[4];
        ld_shared_v4(tile + (piece >> 3) * (ROWS * 128) + row * 128 + (((piece & 7) ^ (row & 7)) << 4), x);
#pragma unroll
        for (int i = 0; i < 8; i++) {
          const u32 word = x[i >> 1];
          const float element = map(T::kind == 0 ? (i & 1 ? unpack_bf16_hi(word) : unpack_bf16_lo(word)) : (i & 1 ? unpack_f16_hi(word) : unpack_f16_lo(word)));
          if (8 * piece + i < COLUMNS) made[pass] = piece == part && i == 0 ? element : combine(made[pass], element);
        }
      }
    }
#pragma unroll
    for (int distance = 1; distance < sharers; distance *= 2) made[pass] = combine(made[pass], __shfl_xor_sync(~0u, made[pass], distance));
  }
  bar_sync(own_barrier + cw, 128);   // all have read what was there before
#pragma unroll
  for (int pass = 0; pass < passes; pass++) {
    const int row = (pass * 128 + thread) / sharers;
    if (part == 0 && row < ROWS) st_shared_u32(vector + 4 * row, __float_as_uint(made[pass]));
  }
  bar_sync(own_barrier + cw, 128);
}
