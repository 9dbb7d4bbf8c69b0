// Approximate functions and conversions, one instruction each.
DEV float neg_inf() { return __int_as_float(0xff800000); }

// 2^x, relative error below 2^-22; subnormal numbers count as 0.
DEV float ex2(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// Logarithm to base 2, absolute error below 2^-22; subnormal numbers count as 0.
DEV float lg2(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// 1 / x, relative error below 2^-23; subnormal numbers count as 0.
DEV float rcp(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
// Relative error below 2^-11.
DEV float tanh_fast(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }

// The larger and the smaller one; NaN where either is NaN.
DEV float max_nan(float a, float b) { float y; asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }
DEV float min_nan(float a, float b) { float y; asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y; }

// Relative error below 2^-20; never beyond 1. A quotient of polynomials in x^2, fitted to tanh(x) / x up to 7.9, from where on tanh is 1 in f32 but for its last bit.
DEV float tanh_accurate(float x) {
  const float c = min_nan(max_nan(x, -7.9f), 7.9f), u = c * c;
  const float over = fmaf(fmaf(fmaf(1.1531858e-05f, u, 0.00296047563f), u, 0.129344195f), u, 0.999999881f);
  const float under = fmaf(fmaf(fmaf(fmaf(2.49255294e-07f, u, 0.000240012334f), u, 0.0238540936f), u, 0.462676466f), u, 1.f);
  return c * over * rcp(under);
}

// Two numbers, rounded to nearest even, in one word: `lo`, the one of the smaller index, in bits 0..15.
DEV u32 pack_bf16(float lo, float hi) { u32 r; asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }
DEV u32 pack_f16(float lo, float hi) { u32 r; asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo)); return r; }

// The two numbers of a word.
DEV float unpack_bf16_lo(u32 x) { return __int_as_float(x << 16); }
DEV float unpack_bf16_hi(u32 x) { return __int_as_float(x & 0xffff0000u); }
DEV float unpack_f16_lo(u32 x) { float y; asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %1;\ncvt.f32.f16 %0, l;\n}" : "=f"(y) : "r"(x)); return y; }
DEV float unpack_f16_hi(u32 x) { float y; asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %1;\ncvt.f32.f16 %0, h;\n}" : "=f"(y) : "r"(x)); return y; }

// a * b + c of both numbers of a word, rounded to nearest even.
DEV u32 fma_bf16x2(u32 a, u32 b, u32 c) { u32 r; asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
DEV u32 fma_f16x2(u32 a, u32 b, u32 c) { u32 r; asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
