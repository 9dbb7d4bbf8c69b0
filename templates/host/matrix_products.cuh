// Matrix products of a warpgroup, asynchronous, and of a warp.
DEV void wgmma_fence(LINE_) { simulator_->wgmmaFence(line_); }
DEV void wgmma_commit(LINE_) { simulator_->wgmmaCommit(line_); }
template <int N> DEV void wgmma_wait(LINE_) { simulator_->wgmmaWait(N, line_); }
template <class T, int N, int TA = 0, int TB = 0> DEV void wgmma_ss(float (&d)[N / 2], u64 a, u64 b, int acc, LINE_) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma takes N from 8 to 256 in steps of 8");
  simulator_->wgmma(N, T::kind, TA, TB, d, nullptr, a, b, acc, line_);
}
template <class T, int N, int TB = 0>
DEV void wgmma_rs(float (&d)[N / 2], const u32& a0, const u32& a1, const u32& a2, const u32& a3, u64 b, int acc, LINE_) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "wgmma takes N from 8 to 256 in steps of 8");
  const u32* const a[4] = {&a0, &a1, &a2, &a3};
  simulator_->wgmma(N, T::kind, 0, TB, d, a, 0, b, acc, line_);
}
DEV void mma_bf16_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], LINE_) { simulator_->mma(d, a, b, BF16::kind, line_); }
DEV void mma_f16_16816(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], LINE_) { simulator_->mma(d, a, b, F16::kind, line_); }
