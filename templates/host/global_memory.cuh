// Global memory is the host's own. Bounds are kept by guard pages around every buffer.
DEV void st_global_v4(void* p, u32 a, u32 b, u32 c, u32 d, LINE_) {
  simulator_->checkGlobal(p, 16, 16, line_);
  const u32 v[4] = {a, b, c, d}; __builtin_memcpy(p, v, 16);
}
DEV void st_global_v2(void* p, u32 a, u32 b, LINE_) {
  simulator_->checkGlobal(p, 8, 8, line_);
  const u32 v[2] = {a, b}; __builtin_memcpy(p, v, 8);
}
DEV void st_global_u32(void* p, u32 a, LINE_) {
  simulator_->checkGlobal(p, 4, 4, line_);
  __builtin_memcpy(p, &a, 4);
}
DEV void ld_global_v4(const void* p, u32 (&r)[4], LINE_) {
  simulator_->checkGlobal(p, 16, 16, line_);
  __builtin_memcpy(r, p, 16);
}
DEV int ld_acquire(const int* p, LINE_) { simulator_->yield(1, line_); return *(const volatile int*)p; }
DEV void st_release(int* p, int v) { *(volatile int*)p = v; }
DEV void red_add_f32(float* p, float v) { *p += v; }
template <class T> DEV T atomicAdd(T* p, T v) { const T old = *p; *p = old + v; return old; }
template <class T> DEV T atomicMax(T* p, T v) { const T old = *p; if (v > old) *p = v; return old; }
template <class T> DEV T __ldg(const T* p) { return *p; }
DEV void __threadfence() {}
DEV void __nanosleep(u32, LINE_) { simulator_->yield(1, line_); }
