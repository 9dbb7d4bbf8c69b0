// Boxes of tensors by cp.async, of 16 bytes wherever it goes, for the instruction sets that have no copy engine.

// What a TMap holds there (softwareMap of tilewright/device/TensorMap.h): dimensions fastest first, those that a tensor lacks of size 1.
struct SoftwareMap {
  u64 address;
  i64 strides[5];   // bytes; the first is the size of an element
  int sizes[5];     // elements
};

// Copies the box of BYTES0 bytes x B1 x B2 x B3 x B4 elements at element coordinates c0 (contiguous; a multiple of 16 bytes), c1, ...: row r of
// the box, counted in the order of dimensions 1 to 4, lands at dst + r * BYTES0; what is outside the tensor is 0. SWIZZLE 128: piece p of
// 16 bytes of row r is the p ^ r % 8th (dst is aligned to 1024 bytes); 0: the p-th. Called by THREADS threads, whole warps: `thread` is a thread's number
// among them, and piece n is copied by thread n % THREADS.
template <int BYTES0, int B1, int B2, int B3, int B4, int SWIZZLE, int THREADS = 32>
DEV void copy_box(u32 dst, const TMap* m, int c0, int c1, int c2, int c3, int c4, int thread CALLER_) {
  static_assert(BYTES0 > 0 && BYTES0 % 16 == 0, "a row of a box is whole pieces of 16 bytes");
  static_assert(SWIZZLE == 0 || (SWIZZLE == 128 && BYTES0 == 128), "the pieces of a row of 128 bytes are permuted within it, or not at all");
  constexpr int width = BYTES0 / 16, pieces = width * B1 * B2 * B3 * B4, steps = (pieces + THREADS - 1) / THREADS;
  // Where a step of THREADS pieces is whole rows, a thread stays in its column, and its row is the `own`-th of the step. Where moreover such a
  // step lies within dimension 1, `along`, its own rows are steps along that.
  constexpr bool whole_rows = THREADS % width == 0, along = whole_rows && (B2 * B3 * B4 == 1 || B1 % (whole_rows ? THREADS / width : 1) == 0);
  const u32 own = whole_rows ? (u32)thread / width : 0, own_column = whole_rows ? (u32)thread % width : 0;
  // The other indices of the thread's piece of a step; what the step number gives alone folds away.
  auto row = [&](int step) -> u32 {
    return whole_rows ? step * (THREADS / width) + (along ? 0 : own) : width % THREADS == 0 ? step * THREADS / width : (step * THREADS + thread) / width;
  };
  auto column = [&](int step) -> u32 {
    return whole_rows ? 0 : width % THREADS == 0 ? step * THREADS % width + thread : (step * THREADS + thread) % width;
  };
  auto i1 = [&](int step) -> u32 { return B2 * B3 * B4 == 1 ? row(step) : row(step) % B1; };
  auto i2 = [&](int step) -> u32 { return B2 == 1 ? 0 : B3 * B4 == 1 ? row(step) / B1 : row(step) / B1 % B2; };
  auto i3 = [&](int step) -> u32 { return B3 == 1 ? 0 : B4 == 1 ? row(step) / (B1 * B2) : row(step) / (B1 * B2) % B3; };
  auto i4 = [&](int step) -> u32 { return B4 == 1 ? 0 : row(step) / (B1 * B2 * B3); };

  const SoftwareMap& map = *(const SoftwareMap*)m;
  const i64 before = c0 * map.strides[0], after = map.sizes[0] * map.strides[0] - before;
  const u64 origin = map.address + (u64)(before + c1 * map.strides[1] + c2 * map.strides[2] + c3 * map.strides[3] + c4 * map.strides[4]) +
                     (along ? own * map.strides[1] : 0) + own_column * 16;
  auto from = [&](int step) -> u64 {
    return origin + column(step) * 16 +
           (u64)(i1(step) * map.strides[1] + i2(step) * map.strides[2] + i3(step) * map.strides[3] + i4(step) * map.strides[4]);
  };
  const u32 own_place = dst + own * BYTES0 + (SWIZZLE ? own_column ^ own % 8 : own_column) * 16;
  auto place = [&](int step) -> u32 {
    return whole_rows ? (own_place ^ (SWIZZLE ? step * (THREADS / width) % 8 * 16 : 0)) + step * THREADS * 16 : dst + (step * THREADS + thread) * 16;
  };
  auto is_piece = [&](int step) { return pieces % THREADS == 0 || step * THREADS + thread < pieces; };

  if (before >= 0 && after >= BYTES0 && c1 >= 0 && c1 + B1 <= map.sizes[1] && c2 >= 0 && c2 + B2 <= map.sizes[2] && c3 >= 0 &&
      c3 + B3 <= map.sizes[3] && c4 >= 0 && c4 + B4 <= map.sizes[4]) {   // nearly always
#pragma unroll 16
    for (int step = 0; step < steps; step++)
      if (is_piece(step)) cp_async_16(place(step), (const void*)from(step), 16 FOR_CALLER_);
    return;
  }
  // Bytes first to last of a row of the box are inside dimension 0.
  const int first = before >= 0 ? 0 : -before < BYTES0 ? (int)-before : BYTES0, last = after <= 0 ? 0 : after < BYTES0 ? (int)after : BYTES0;
  // A coordinate outside along a dimension where the box is 1 leaves nothing of dimension 1 inside.
  const bool some = (B2 > 1 || (u32)c2 < (u32)map.sizes[2]) & (B3 > 1 || (u32)c3 < (u32)map.sizes[3]) & (B4 > 1 || (u32)c4 < (u32)map.sizes[4]);
  const u32 size1 = some ? (u32)map.sizes[1] : 0;
#pragma unroll 4
  for (int step = 0; step < steps; step++) {
    const int byte = (int)(own_column + column(step)) * 16;
    const bool inside = (byte >= first) & (byte < last) & ((u32)c1 + i1(step) + (along ? own : 0) < size1) &
                        (B2 == 1 || (u32)c2 + i2(step) < (u32)map.sizes[2]) & (B3 == 1 || (u32)c3 + i3(step) < (u32)map.sizes[3]) &
                        (B4 == 1 || (u32)c4 + i4(step) < (u32)map.sizes[4]);
    if (is_piece(step)) cp_async_16(place(step), (const void*)(inside ? from(step) : map.address), inside ? min(16, last - byte) : 0 FOR_CALLER_);
  }
}

// The same where c0 is a multiple of UNIT bytes only: 4 by cp.async; 2 or 1, an element, by a load and a store of the thread, which no arrival for
// cp.async counts. Unit n is copied by thread n % THREADS.
template <int UNIT, int BYTES0, int B1, int B2, int B3, int B4, int SWIZZLE, int THREADS = 32>
DEV void copy_shifted_box(u32 dst, const TMap* m, int c0, int c1, int c2, int c3, int c4, int thread CALLER_) {
  static_assert(UNIT == 1 || UNIT == 2 || UNIT == 4, "a unit is 4 bytes, or an element of 2 or 1");
  static_assert(BYTES0 > 0 && BYTES0 % 16 == 0, "a row of a box is whole pieces of 16 bytes");
  static_assert(SWIZZLE == 0 || (SWIZZLE == 128 && BYTES0 == 128), "the pieces of a row of 128 bytes are permuted within it, or not at all");
  constexpr int width = BYTES0 / UNIT, units = width * B1 * B2 * B3 * B4;
  const SoftwareMap& map = *(const SoftwareMap*)m;
  const i64 before = c0 * map.strides[0], after = map.sizes[0] * map.strides[0] - before;
  const int first = before >= 0 ? 0 : -before < BYTES0 ? (int)-before : BYTES0, last = after <= 0 ? 0 : after < BYTES0 ? (int)after : BYTES0;
#pragma unroll 4
  for (int n = thread; n < units; n += THREADS) {
    const u32 row = (u32)n / width;
    const int byte = n % width * UNIT;
    const int i1 = c1 + (int)(row % B1), i2 = c2 + (int)(row / B1 % B2), i3 = c3 + (int)(row / (B1 * B2) % B3), i4 = c4 + (int)(row / (B1 * B2 * B3));
    const bool inside = (byte >= first) & (byte < last) & ((u32)i1 < (u32)map.sizes[1]) & ((u32)i2 < (u32)map.sizes[2]) &
                        ((u32)i3 < (u32)map.sizes[3]) & ((u32)i4 < (u32)map.sizes[4]);
    const u64 from = map.address + (inside ? (u64)(before + byte + i1 * map.strides[1] + i2 * map.strides[2] + i3 * map.strides[3] + i4 * map.strides[4]) : 0);
    const u32 place = dst + row * BYTES0 + (SWIZZLE ? (u32)byte ^ row % 8 * 16 : (u32)byte);
    if (UNIT == 4)
      cp_async_4(place, (const void*)from, inside ? min(4, last - byte) : 0 FOR_CALLER_);
    else if (UNIT == 2)
      st_shared_u16(place, inside ? *(const unsigned short*)from : 0 FOR_CALLER_);
    else
      st_shared_u8(place, inside ? *(const unsigned char*)from : 0 FOR_CALLER_);
  }
}

// The same of a tensor of any strides, along dimension 0 too, from any element on: element by element, of ELEMENT bytes, in units of at most 4. Those of 4 go
// by cp.async, smaller ones by a load and a store of the thread.
template <int ELEMENT, int BYTES0, int B1, int B2, int B3, int B4, int SWIZZLE, int THREADS = 32>
DEV void copy_strided_box(u32 dst, const TMap* m, int c0, int c1, int c2, int c3, int c4, int thread CALLER_) {
  static_assert(ELEMENT == 1 || ELEMENT == 2 || ELEMENT == 4 || ELEMENT == 8, "an element has 1, 2, 4 or 8 bytes");
  static_assert(BYTES0 > 0 && BYTES0 % 16 == 0, "a row of a box is whole pieces of 16 bytes");
  static_assert(SWIZZLE == 0 || (SWIZZLE == 128 && BYTES0 == 128), "the pieces of a row of 128 bytes are permuted within it, or not at all");
  constexpr int unit = ELEMENT < 4 ? ELEMENT : 4, width = BYTES0 / unit, units = width * B1 * B2 * B3 * B4;
  const SoftwareMap& map = *(const SoftwareMap*)m;
#pragma unroll 4
  for (int n = thread; n < units; n += THREADS) {
    const u32 row = (u32)n / width;
    const int byte = n % width * unit, i0 = c0 + byte / ELEMENT;
    const int i1 = c1 + (int)(row % B1), i2 = c2 + (int)(row / B1 % B2), i3 = c3 + (int)(row / (B1 * B2) % B3), i4 = c4 + (int)(row / (B1 * B2 * B3));
    const bool inside = ((u32)i0 < (u32)map.sizes[0]) & ((u32)i1 < (u32)map.sizes[1]) & ((u32)i2 < (u32)map.sizes[2]) &
                        ((u32)i3 < (u32)map.sizes[3]) & ((u32)i4 < (u32)map.sizes[4]);
    const u64 from = map.address + (inside ? (u64)(i0 * map.strides[0] + byte % ELEMENT + i1 * map.strides[1] + i2 * map.strides[2] + i3 * map.strides[3] + i4 * map.strides[4]) : 0);
    const u32 place = dst + row * BYTES0 + (SWIZZLE ? (u32)byte ^ row % 8 * 16 : (u32)byte);
    if (unit == 4)
      cp_async_4(place, (const void*)from, inside ? 4 : 0 FOR_CALLER_);
    else if (unit == 2)
      st_shared_u16(place, inside ? *(const unsigned short*)from : 0 FOR_CALLER_);
    else
      st_shared_u8(place, inside ? *(const unsigned char*)from : 0 FOR_CALLER_);
  }
}
