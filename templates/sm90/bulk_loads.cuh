// Copies from global to shared memory by the copy engine. Bytes that land are counted on the mbarrier `bar` of the block.
DEV void tma_prefetch_desc(const TMap* m) { asm volatile("prefetch.tensormap [%0];" ::"l"(m) : "memory"); }

// The box of tensor map `m` at element coordinates c0 (contiguous), c1, ... Elements outside the tensor are 0 and count as bytes too.
DEV void tma_load_1d(u32 dst, const TMap* m, u32 bar, int c0, u64 hint = L2_EVICT_NORMAL) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3}], [%2], %4;"
               ::"r"(dst), "l"(m), "r"(bar), "r"(c0), "l"(hint) : "memory");
}
DEV void tma_load_2d(u32 dst, const TMap* m, u32 bar, int c0, int c1, u64 hint = L2_EVICT_NORMAL) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3,%4}], [%2], %5;"
               ::"r"(dst), "l"(m), "r"(bar), "r"(c0), "r"(c1), "l"(hint) : "memory");
}
DEV void tma_load_3d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, u64 hint = L2_EVICT_NORMAL) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3,%4,%5}], [%2], %6;"
               ::"r"(dst), "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "l"(hint) : "memory");
}
DEV void tma_load_4d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, int c3, u64 hint = L2_EVICT_NORMAL) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3,%4,%5,%6}], [%2], %7;"
               ::"r"(dst), "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "l"(hint) : "memory");
}
DEV void tma_load_5d(u32 dst, const TMap* m, u32 bar, int c0, int c1, int c2, int c3, int c4, u64 hint = L2_EVICT_NORMAL) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3,%4,%5,%6,%7}], [%2], %8;"
               ::"r"(dst), "l"(m), "r"(bar), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(hint) : "memory");
}

// `bytes` from `src` on, a multiple of 16 as both addresses are.
DEV void bulk_load(u32 dst, const void* src, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(dst), "l"(src), "r"(bytes), "r"(bar) : "memory");
}
