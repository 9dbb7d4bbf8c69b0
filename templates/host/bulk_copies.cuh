// Copies by the copy engine. What the level-2 cache is told changes nothing here.
DEV void tma_prefetch_desc(const TMap*) {}
DEV void tma_load_1d(u32 dst, const TMap* m, u32 bar, int c0, u64 = L2_EVICT_NORMAL, LINE_) {
  const int at[5] = {c0};
  simulator_->tensorLoad(1, dst, m, bar, at, line_);
}
DEV void tma_load_2d(u32 dst, const TMap* m, u32 bar, int c0, int c1, u64 = L2_EVICT_NORMAL, LINE_) {
  const int at[5] = {c0, c1};
  simulator_->tensorLoad(2, dst, m, bar, at, line_);
}
DEV void tma_load_3d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, u64 = L2_EVICT_NORMAL, LINE_) {
  const int at[5] = {c0, c1, c2};
  simulator_->tensorLoad(3, dst, m, bar, at, line_);
}
DEV void tma_load_4d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, int c3, u64 = L2_EVICT_NORMAL, LINE_) {
  const int at[5] = {c0, c1, c2, c3};
  simulator_->tensorLoad(4, dst, m, bar, at, line_);
}
DEV void tma_load_5d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, int c3, int c4, u64 = L2_EVICT_NORMAL, LINE_) {
  const int at[5] = {c0, c1, c2, c3, c4};
  simulator_->tensorLoad(5, dst, m, bar, at, line_);
}
DEV void tma_store_1d(const TMap* m, u32 src, int c0, LINE_) {
  const int at[5] = {c0};
  simulator_->tensorStore(1, m, src, at, 0, line_);
}
DEV void tma_store_2d(const TMap* m, u32 src, int c0, int c1, LINE_) {
  const int at[5] = {c0, c1};
  simulator_->tensorStore(2, m, src, at, 0, line_);
}
DEV void tma_store_3d(const TMap* m, u32 src, int c0, int c1, int c2, LINE_) {
  const int at[5] = {c0, c1, c2};
  simulator_->tensorStore(3, m, src, at, 0, line_);
}
DEV void tma_store_4d(const TMap* m, u32 src, int c0, int c1, int c2, int c3, LINE_) {
  const int at[5] = {c0, c1, c2, c3};
  simulator_->tensorStore(4, m, src, at, 0, line_);
}
DEV void tma_store_5d(const TMap* m, u32 src, int c0, int c1, int c2, int c3, int c4, LINE_) {
  const int at[5] = {c0, c1, c2, c3, c4};
  simulator_->tensorStore(5, m, src, at, 0, line_);
}
DEV void tma_reduce_add_1d(const TMap* m, u32 src, int c0, LINE_) {
  const int at[5] = {c0};
  simulator_->tensorStore(1, m, src, at, 1, line_);
}
DEV void tma_reduce_add_2d(const TMap* m, u32 src, int c0, int c1, LINE_) {
  const int at[5] = {c0, c1};
  simulator_->tensorStore(2, m, src, at, 1, line_);
}
DEV void tma_reduce_add_3d(const TMap* m, u32 src, int c0, int c1, int c2, LINE_) {
  const int at[5] = {c0, c1, c2};
  simulator_->tensorStore(3, m, src, at, 1, line_);
}
DEV void tma_reduce_add_4d(const TMap* m, u32 src, int c0, int c1, int c2, int c3, LINE_) {
  const int at[5] = {c0, c1, c2, c3};
  simulator_->tensorStore(4, m, src, at, 1, line_);
}
DEV void tma_reduce_add_5d(const TMap* m, u32 src, int c0, int c1, int c2, int c3, int c4, LINE_) {
  const int at[5] = {c0, c1, c2, c3, c4};
  simulator_->tensorStore(5, m, src, at, 1, line_);
}
DEV void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar, LINE_) { simulator_->bulkLoad(dst, src, bytes, bar, line_); }
DEV void bulk_store(void* dst, u32 src, u32 bytes, LINE_) { simulator_->bulkStore(dst, src, bytes, 0, line_); }
DEV void bulk_reduce_add_f32(float* dst, u32 src, u32 bytes, LINE_) { simulator_->bulkStore(dst, src, bytes, 1, line_); }
DEV void tma_store_commit(LINE_) { simulator_->bulkCommit(line_); }
template <int N> DEV void tma_store_wait_read_n(LINE_) { simulator_->bulkWait(N, 1, line_); }
DEV void tma_store_wait_read(LINE_) { simulator_->bulkWait(0, 1, line_); }
DEV void tma_store_wait_all(LINE_) { simulator_->bulkWait(0, 0, line_); }
