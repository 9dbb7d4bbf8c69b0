// What lanes, warps and blocks do together, and the registers they have.
template <class T> DEV T shuffle_(u32 mask, T value, SimulatedShuffle mode, int argument, int width, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 32 bits, or twice as many in two");
  u32 x[sizeof(T) / 4]; __builtin_memcpy(x, &value, sizeof(T));
  for (u32& word : x) word = simulator_->shuffle(mask, word, mode, argument, width, line);
  __builtin_memcpy(&value, x, sizeof(T));
  return value;
}
template <class T> DEV T __shfl_sync(u32 m, T v, int lane, int width = 32, LINE_) { return shuffle_(m, v, shuffleIndex, lane, width, line_); }
template <class T> DEV T __shfl_up_sync(u32 m, T v, int by, int width = 32, LINE_) { return shuffle_(m, v, shuffleUp, by, width, line_); }
template <class T> DEV T __shfl_down_sync(u32 m, T v, int by, int width = 32, LINE_) { return shuffle_(m, v, shuffleDown, by, width, line_); }
template <class T> DEV T __shfl_xor_sync(u32 m, T v, int with, int width = 32, LINE_) { return shuffle_(m, v, shuffleXor, with, width, line_); }
DEV u32 __ballot_sync(u32 mask, int p, LINE_) { return simulator_->vote(mask, p != 0, voteBallot, line_); }
DEV int __any_sync(u32 mask, int p, LINE_) { return simulator_->vote(mask, p != 0, voteAny, line_); }
DEV int __all_sync(u32 mask, int p, LINE_) { return simulator_->vote(mask, p != 0, voteAll, line_); }
DEV u32 elect_one(LINE_) { return simulator_->vote(~0u, 0, voteElect, line_); }
DEV void __syncwarp(u32 mask = ~0u, LINE_) { simulator_->syncWarp(mask, line_); }
DEV void __syncthreads(LINE_) { simulator_->barrier(0, 0, 1, 0, line_); }
DEV void bar_sync(int id, int n, LINE_) { simulator_->barrier(id, n, 1, 0, line_); }
DEV void bar_arrive(int id, int n, LINE_) { simulator_->barrier(id, n, 0, 0, line_); }
DEV bool bar_any(int id, int n, bool x, LINE_) { return simulator_->barrier(id, n, 1, x, line_) != 0; }
DEV u32 opaque(u32 x) { return x; }
template <int N> DEV void reg_inc(LINE_) {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes a multiple of 8 from 24 to 256");
  simulator_->setRegisters(N, line_);
}
template <int N> DEV void reg_dec(LINE_) {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes a multiple of 8 from 24 to 256");
  simulator_->setRegisters(N, line_);
}
template <class T, int N> DEV void pin(T (&)[N]) {}
