// Looking for numbers in lists of a tensor.

// Is x among n elements, stride apart? Stands in each element's code: the shorter, the sooner it is assembled.
template <class T> DEV bool is_among(const T* p, i64 stride, i64 n, i64 x) {
  bool found = false;
#pragma unroll 1
  for (int left = (int)n; left > 0 && !found; left--, p += stride) found = *p == (T)x;
  return found;
}

// Of the numbers from low to high: are all among the first `few` elements, is some among the first `many`? Of more than 64 it is not told whether all are.
template <class T> DEV void range_among(const T* p, i64 stride, i64 few, i64 many, i64 low, i64 high, bool& all, bool& some) {
  u64 met = 0;
  some = false;
#pragma unroll 1
  for (i64 i = 0; i < many; i++) {
    const i64 x = p[i * stride];
    const bool here = low <= x && x <= high;
    some |= here;
    if (here && i < few && x - low < 64) met |= (u64)1 << (x - low);
  }
  all = high - low < 64 && met == ~(u64)0 >> (63 - (high - low));
}
