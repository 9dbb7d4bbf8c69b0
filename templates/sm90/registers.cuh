// The register file: its split between warpgroups, and values pinned in order.

// Registers a thread of this warpgroup has from here on: a multiple of 8 from 24 to 256. Called by whole warpgroups.
template <int N> DEV void reg_inc() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N> DEV void reg_dec() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes a multiple of 8 from 24 to 256");
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

// Uses and redefines every register at this point of the volatile order. Nothing else tells the compiler that wgmma in flight still
// writes an accumulator, or still reads an operand, until wgmma_wait.
template <int N> DEV void pin(float (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+f"(r[i])::"memory");
}
template <int N> DEV void pin(u32 (&r)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) asm volatile("" : "+r"(r[i])::"memory");
}

// The same number, of which the compiler cannot know that: what is computed from it is computed where it is used, and waits in no register.
DEV u32 opaque(u32 x) { u32 y; asm volatile("mov.u32 %0, %1;" : "=r"(y) : "r"(x)); return y; }

// 1 in one lane of the warp, 0 in the others.
DEV u32 elect_one() { u32 r; asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(r)); return r; }
