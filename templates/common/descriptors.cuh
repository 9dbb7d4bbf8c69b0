// Matrix descriptors of wgmma: where an operand lies in shared memory. Bits 0..13 hold the start address, 16..29 the leading and
// 32..45 the stride byte offset, all in units of 16 bytes; bits 62..63 the swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
DEV u64 desc_make(u32 addr, u32 lbo_bytes, u32 sbo_bytes, u32 mode) {
  return (u64)((addr & 0x3ffff) >> 4) | ((u64)(lbo_bytes >> 4) << 16) | ((u64)(sbo_bytes >> 4) << 32) | ((u64)mode << 62);
}

// 128-byte swizzle. A chunk is rows x 64 elements of 2 bytes, 128 bytes a row, aligned to 1024 bytes.
// K contiguous: sbo is 1024, the distance of 8 rows; lbo is unused.
// N contiguous: lbo is the distance of chunks of 64 columns; sbo is 1024, the distance of 8 rows of K.
DEV u64 desc_sw128(u32 addr, u32 lbo_bytes, u32 sbo_bytes) { return desc_make(addr, lbo_bytes, sbo_bytes, 1); }

// Steps through a tile, in units of 16 bytes: the start address is in the low word, so only that changes.
DEV u64 desc_add(u64 d, u32 units16) { return (d & 0xffffffff00000000ull) | (u32)((u32)d + units16); }
