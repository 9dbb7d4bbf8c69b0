// Barriers in shared memory, 8 bytes each, that count arrivals. A phase completes when the count reaches 0.
DEV void mbar_init(u32 bar, u32 count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory"); }
DEV void mbar_inval(u32 bar) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(bar) : "memory"); }
// There is no copy engine that would have to see the barriers.
DEV void mbar_init_fence() {}
DEV void mbar_arrive(u32 bar) { asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared.b64 state, [%0];\n}" ::"r"(bar) : "memory"); }
// Arrives when every cp.async that this thread has issued so far is complete. One of the arrivals that the barrier was initialised with.
#ifdef PLAIN_ARRIVALS   // for checkers that do not know the instruction: the thread waits, and then arrives
DEV void cp_async_mbar_arrive(u32 bar) {
  asm volatile("cp.async.wait_all;" ::: "memory");
  mbar_arrive(bar);
}
#else
DEV void cp_async_mbar_arrive(u32 bar) { asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(bar) : "memory"); }
#endif
// Whether the phase of this parity has completed. Since sm_90 the thread may be put to sleep for a while, and asks less often.
#if __CUDA_ARCH__ >= 900
#define MBARRIER_ASK "try_wait"
#else
#define MBARRIER_ASK "test_wait"
#endif
DEV u32 mbar_try(u32 bar, u32 parity) {
  u32 ok;
  asm volatile("{\n.reg .pred p;\nmbarrier." MBARRIER_ASK ".parity.shared.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(ok) : "r"(bar), "r"(parity) : "memory");
  return ok;
}
// Waits until the phase of this parity has completed; a barrier just initialised answers at once to parity 1.
DEV void mbar_wait(u32 bar, u32 parity) { while (!mbar_try(bar, parity)) {} }
