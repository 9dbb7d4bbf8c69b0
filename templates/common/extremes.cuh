// The least and the most of a table's elements, by which a tile is told to be empty or full.

// Sixteen bytes that are read at once.
struct alignas(16) FourWords { u32 word[4]; };

DEV void no_extremes_(int& least, int& most) { least = 0x7fffffff; most = -least - 1; }
DEV void no_extremes_(i64& least, i64& most) { least = 0x7fffffffffffffffll; most = -least - 1; }
DEV void no_extremes_(float& least, float& most) { most = neg_inf(); least = -most; }
DEV void take_extreme_(int x, int& least, int& most) { least = min(least, x); most = max(most, x); }
DEV void take_extreme_(i64 x, i64& least, i64& most) { least = min(least, x); most = max(most, x); }
DEV void take_extreme_(float x, float& least, float& most) { least = min_nan(least, x); most = max_nan(most, x); }
DEV int of_word_(const int*, u32 word) { return (int)word; }
DEV float of_word_(const float*, u32 word) { return __uint_as_float(word); }

// What elements are compared in.
template <class T> struct Compared_ { typedef int type; };
template <> struct Compared_<i64> { typedef i64 type; };
template <> struct Compared_<float> { typedef float type; };

// Of n elements, stride apart, which are those of a tile at most; of none the furthest numbers the wrong way round. Each lane has elements of its own, a
// row of a tile apart from its neighbour's: read by fours, they cost a quarter of the accesses. Who lists tiles has few registers: loops that seldom turn are not unrolled.
template <class T, class W> DEV void row_extremes(const T* p, i64 stride, i64 n, W& least, W& most) {
  typename Compared_<T>::type low, high;
  no_extremes_(low, high);
  const int count = n > 0 ? (int)n : 0;
  int i = 0;
  if constexpr (sizeof(T) == 4) {
    if (stride == 1) {
#pragma unroll 1
      for (; i < count && (u64)(p + i) % 16; i++) take_extreme_(p[i], low, high);
#pragma unroll 4
      for (; i + 4 <= count; i += 4) {
        const FourWords four = *(const FourWords*)(p + i);
        for (int j = 0; j < 4; j++) take_extreme_(of_word_(p, four.word[j]), low, high);
      }
    }
  }
#pragma unroll 1
  for (; i < count; i++) take_extreme_((typename Compared_<T>::type)p[i * stride], low, high);
  no_extremes_(least, most);
  if (count) { least = low; most = high; }
}

// Of 16-bit floats.
template <class T> DEV void row_extremes(const unsigned short* p, i64 stride, i64 n, float& least, float& most) {
  no_extremes_(least, most);
  for (i64 i = 0; i < n; i++) take_extreme_(T::kind == 0 ? unpack_bf16_lo(p[i * stride]) : unpack_f16_lo(p[i * stride]), least, most);
}

// The same for all lanes of a warp, which ask for one row: each looks at a part of it, of fours where it can.
template <class... T, class E, class W> DEV void warp_row_extremes(const E* p, i64 stride, i64 n, W& least, W& most, int lane) {
  const i64 part = (n + 127) / 128 * 4, first = lane * part, rest = n - first;
  row_extremes<T...>(p + first * stride, stride, rest < part ? rest : part, least, most);
#pragma unroll
  for (int d = 16; d; d >>= 1) {
    W low = __shfl_xor_sync(~0u, least, d), high = __shfl_xor_sync(~0u, most, d);
    take_extreme_(low, least, low);
    take_extreme_(high, high, most);
  }
}

// Extremes that a lane found before. Tables are the same during a launch, and items ask for the same rows again and again.
template <class W> struct KnownExtremes { const void* row; int count; W least, most; };
template <class W, int TURNS> DEV void forget_extremes(KnownExtremes<W> (&known)[TURNS]) {
  for (int i = 0; i < TURNS; i++) known[i].row = 0;
}

// The same, but of the row that the lane looked at in this turn of a list before, they are known.
template <class... T, class E, class W, int TURNS> DEV void known_row_extremes(const E* p, i64 stride, i64 n, W& least, W& most, KnownExtremes<W> (&known)[TURNS], int turn) {
  if (turn < TURNS && known[turn].row == p && known[turn].count == n) {
    least = known[turn].least;
    most = known[turn].most;
    return;
  }
  row_extremes<T...>(p, stride, n, least, most);
  if (turn < TURNS) {
    known[turn].row = p;
    known[turn].count = (int)n;
    known[turn].least = least;
    known[turn].most = most;
  }
}
