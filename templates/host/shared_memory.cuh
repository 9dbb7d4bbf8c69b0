// Shared memory by its 32-bit address: the simulator checks bounds, alignment and the order of every access.
DEV unsigned char* dyn_smem() { return simulator_->dynamicShared(); }
DEV u32 smem_u32(const void* p, LINE_) { return simulator_->sharedAddress(p, line_); }
DEV void smem_name(u32 a, u32 bytes, const char* name, int index = -1) { simulator_->nameShared(a, bytes, name, index); }

template <class T> DEV T load_shared_(u32 a, int line) { T v; simulator_->loadShared(a, &v, sizeof(T), line); return v; }
DEV u32 ld_shared_u32(u32 a, LINE_) { return load_shared_<u32>(a, line_); }
DEV float ld_shared_f32(u32 a, LINE_) { return load_shared_<float>(a, line_); }
DEV u32 ld_shared_u16(u32 a, LINE_) { return load_shared_<unsigned short>(a, line_); }
DEV void ld_shared_v2(u32 a, u32 (&r)[2], LINE_) { simulator_->loadShared(a, r, 8, line_); }
DEV void ld_shared_v4(u32 a, u32 (&r)[4], LINE_) { simulator_->loadShared(a, r, 16, line_); }
DEV void st_shared_u32(u32 a, u32 v, LINE_) { simulator_->storeShared(a, &v, 4, line_); }
DEV void st_shared_f32(u32 a, float v, LINE_) { simulator_->storeShared(a, &v, 4, line_); }
DEV void st_shared_u16(u32 a, u32 v, LINE_) { simulator_->storeShared(a, &v, 2, line_); }
DEV void st_shared_u8(u32 a, u32 v, LINE_) { simulator_->storeShared(a, &v, 1, line_); }
DEV void st_shared_v2(u32 a, u32 x, u32 y, LINE_) { const u32 v[2] = {x, y}; simulator_->storeShared(a, v, 8, line_); }
DEV void st_shared_v4(u32 a, u32 x, u32 y, u32 z, u32 w, LINE_) { const u32 v[4] = {x, y, z, w}; simulator_->storeShared(a, v, 16, line_); }

DEV void fence_async_proxy(LINE_) { simulator_->fenceAsyncProxy(line_); }
DEV void cp_async_16(u32 dst, const void* src, int source_bytes = 16, LINE_) { simulator_->copyAsync(dst, src, 16, source_bytes, line_); }
DEV void cp_async_4(u32 dst, const void* src, int source_bytes = 4, LINE_) { simulator_->copyAsync(dst, src, 4, source_bytes, line_); }
DEV void cp_async_commit(LINE_) { simulator_->copyAsyncCommit(line_); }
template <int N> DEV void cp_async_wait(LINE_) { simulator_->copyAsyncWait(N, line_); }

DEV void ldmatrix_x4(u32 (&r)[4], u32 a, LINE_) { simulator_->loadMatrices(a, 4, 0, r, line_); }
DEV void ldmatrix_x4_trans(u32 (&r)[4], u32 a, LINE_) { simulator_->loadMatrices(a, 4, 1, r, line_); }
DEV void ldmatrix_x2(u32 (&r)[2], u32 a, LINE_) { simulator_->loadMatrices(a, 2, 0, r, line_); }
DEV void ldmatrix_x2_trans(u32 (&r)[2], u32 a, LINE_) { simulator_->loadMatrices(a, 2, 1, r, line_); }
DEV void stmatrix_x4(u32 a, u32 r0, u32 r1, u32 r2, u32 r3, LINE_) { const u32 r[4] = {r0, r1, r2, r3}; simulator_->storeMatrices(a, 4, 0, r, line_); }
DEV void stmatrix_x4_trans(u32 a, u32 r0, u32 r1, u32 r2, u32 r3, LINE_) { const u32 r[4] = {r0, r1, r2, r3}; simulator_->storeMatrices(a, 4, 1, r, line_); }
