// The functions of CUDA's mathematics that kernels use, and approximate functions and conversions. Approximate functions are exact
// to rounding here; they flush subnormal numbers where the instruction does.
extern "C" {
float acoshf(float) noexcept; float asinhf(float) noexcept; float atan2f(float, float) noexcept; float atanf(float) noexcept;
float ceilf(float) noexcept; float copysignf(float, float) noexcept; float cosf(float) noexcept; float erff(float) noexcept;
float exp2f(float) noexcept; float expf(float) noexcept; float expm1f(float) noexcept; float fabsf(float) noexcept;
float floorf(float) noexcept; float fmaf(float, float, float) noexcept; float fmaxf(float, float) noexcept; float fminf(float, float) noexcept;
float fmodf(float, float) noexcept; float log1pf(float) noexcept; float log2f(float) noexcept; float logf(float) noexcept;
float powf(float, float) noexcept; float rintf(float) noexcept; float roundf(float) noexcept; float sinf(float) noexcept;
float sqrtf(float) noexcept; float tanhf(float) noexcept; float truncf(float) noexcept; int abs(int) noexcept;
}
DEV float rsqrtf(float x) { return 1.f / sqrtf(x); }
DEV float __int_as_float(u32 x) { float f; __builtin_memcpy(&f, &x, 4); return f; }
DEV float __uint_as_float(u32 x) { return __int_as_float(x); }
DEV int __float_as_int(float f) { int x; __builtin_memcpy(&x, &f, 4); return x; }
DEV u32 __float_as_uint(float f) { return (u32)__float_as_int(f); }
DEV float __expf(float x) { return expf(x); }
DEV float __logf(float x) { return logf(x); }
DEV float __log2f(float x) { return log2f(x); }
DEV float __fdividef(float a, float b) { return a / b; }
DEV float __frcp_rn(float x) { return 1.f / x; }
DEV float __fsqrt_rn(float x) { return sqrtf(x); }
DEV bool isinf(float x) { return __builtin_isinf(x); }
DEV bool isnan(float x) { return __builtin_isnan(x); }
DEV bool isfinite(float x) { return __builtin_isfinite(x); }
DEV int __popc(u32 x) { return __builtin_popcount(x); }
DEV int __clz(int x) { return x ? __builtin_clz(x) : 32; }
DEV int __ffs(int x) { return __builtin_ffs(x); }
DEV u32 __umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
template <class T> DEV T min(T a, T b) { return a < b ? a : b; }
template <class T> DEV T max(T a, T b) { return a > b ? a : b; }

DEV float neg_inf() { return -__builtin_inff(); }
DEV float flush_subnormal_(float x) { return fabsf(x) < 1.17549435e-38f ? copysignf(0.f, x) : x; }
DEV float ex2(float x) { return flush_subnormal_(exp2f(flush_subnormal_(x))); }
DEV float lg2(float x) { return log2f(flush_subnormal_(x)); }
DEV float rcp(float x) { return flush_subnormal_(1.f / flush_subnormal_(x)); }
DEV float tanh_fast(float x) { return tanhf(x); }
DEV float tanh_accurate(float x) { return tanhf(x); }
DEV float max_nan(float a, float b) { return a != a ? a : b != b ? b : fmaxf(a, b); }
DEV float min_nan(float a, float b) { return a != a ? a : b != b ? b : fminf(a, b); }

DEV u32 bf16_bits_(float f) {
  const u32 x = __float_as_uint(f);
  return f != f ? 0x7fff : (x + 0x7fff + (x >> 16 & 1)) >> 16;
}
DEV u32 f16_bits_(float f) {
  if (f != f)
    return 0x7fff;
  const _Float16 h = (_Float16)f; unsigned short bits; __builtin_memcpy(&bits, &h, 2); return bits;
}
DEV float f16_value_(u32 bits) { const unsigned short low = bits; _Float16 h; __builtin_memcpy(&h, &low, 2); return h; }
DEV u32 pack_bf16(float lo, float hi) { return bf16_bits_(lo) | bf16_bits_(hi) << 16; }
DEV u32 pack_f16(float lo, float hi) { return f16_bits_(lo) | f16_bits_(hi) << 16; }
DEV float unpack_bf16_lo(u32 x) { return __int_as_float(x << 16); }
DEV float unpack_bf16_hi(u32 x) { return __int_as_float(x & 0xffff0000u); }
DEV float unpack_f16_lo(u32 x) { return f16_value_(x & 0xffff); }
DEV float unpack_f16_hi(u32 x) { return f16_value_(x >> 16); }
// Of 8, and of 11 bits a number, a product is exact in f32; the sum is rounded twice, to f32 first.
DEV u32 fma_bf16x2(u32 a, u32 b, u32 c) {
  return pack_bf16(fmaf(unpack_bf16_lo(a), unpack_bf16_lo(b), unpack_bf16_lo(c)), fmaf(unpack_bf16_hi(a), unpack_bf16_hi(b), unpack_bf16_hi(c)));
}
DEV u32 fma_f16x2(u32 a, u32 b, u32 c) {
  return pack_f16(fmaf(unpack_f16_lo(a), unpack_f16_lo(b), unpack_f16_lo(c)), fmaf(unpack_f16_hi(a), unpack_f16_hi(b), unpack_f16_hi(c)));
}
