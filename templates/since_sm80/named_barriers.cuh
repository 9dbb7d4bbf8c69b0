// Barriers by number: 1..15, of `n` threads, a multiple of 32. Number 0 is __syncthreads().
DEV void bar_sync(int id, int n) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(n) : "memory"); }
// Arrives without waiting.
DEV void bar_arrive(int id, int n) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(n) : "memory"); }
// Waits, and says whether `x` held in any thread.
DEV bool bar_any(int id, int n, bool x) {
  u32 r;
  asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nbar.red.or.pred q, %2, %3, p;\nselp.u32 %0, 1, 0, q;\n}"
               : "=r"(r) : "r"((u32)x), "r"(id), "r"(n) : "memory");
  return r;
}
