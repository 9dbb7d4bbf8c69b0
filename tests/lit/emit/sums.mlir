// What consumers compute for each other, and what they add to tensors.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// Barriers of which 8 warps fill the slots.
// CHECK-LABEL: shared(const
// CHECK:      mbar_init(sb + x_FULL, 8);
// CHECK-NEXT: mbar_init(sb + x_EMPTY, 8);
// All 64 rows, and columns of its own: two chunks of 64, one a warpgroup.
// CHECK-DAG:  const u64 x_whole = desc_sw128(sb + x_AT, 16, 1024);
// CHECK-DAG:  const u64 K_rows_own = desc_sw128(sb + K_AT + cw * 16384, 16384, 1024);
// CHECK:      mbar_wait(sb + x_EMPTY, x_phase ^ 1);
// CHECK-NEXT: {
// CHECK-NEXT:   const u32 x = sb + x_AT + cw * 8192 + ((lane >> 4) * 8 + (lane & 7)) * 128 + ((((warp & 3) * 2 + ((lane >> 3) & 1)) ^ (lane & 7)) << 4);
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int i = 0; i < 4; i++) stmatrix_x4_trans(x + i * 2048, w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]);
// CHECK-NEXT: }
// CHECK-NEXT: fence_async_proxy();
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: if (lane == 0) mbar_arrive(sb + x_FULL);
// CHECK-NEXT: mbar_wait(sb + x_FULL, x_phase);
// CHECK:      dot0(part, x_whole, K_rows_own);
// CHECK:      if (found) {
// CHECK-NEXT:   add_apart<BF16, 64, 128, 128, 128, true>(sb + x_AT, sb + K_AT, p.Sum + 3ll, p.Sum_s0, p.Sum_dim0, p.Sum_dim1, cw * 128 + (warp & 3) * 32 + lane, 256);
// CHECK-NEXT: }
// CHECK-NEXT: if (lane == 0) tma_store_wait_read();
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: {
// CHECK-NEXT:   const u32 x = sb + Sum_AT + (cw * 4 + (warp & 3)) * Sum_BYTES, e = x + (lane >> 2) * 128 + (lane & 1) * 8;
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int j = 0; j < 8; j++) {
// CHECK-NEXT:       const u32 c = e + (j >> 2) * 2048 + ((((j & 3) * 2 + ((lane >> 1) & 1)) ^ (lane >> 2) ^ (lane & 4)) << 4);
// CHECK-NEXT:       st_shared_v2(c, __float_as_uint(lane & 4 ? part[4 * (j ^ 2)] : part[4 * j]), __float_as_uint(lane & 4 ? part[4 * (j ^ 2) + 1] : part[4 * j + 1]));
// CHECK-NEXT:       st_shared_v2(c + 8 * 128, __float_as_uint(lane & 4 ? part[4 * (j ^ 2) + 2] : part[4 * j + 2]), __float_as_uint(lane & 4 ? part[4 * (j ^ 2) + 3] : part[4 * j + 3]));
// CHECK-NEXT:     }
// CHECK-NEXT:     fence_async_proxy();
// CHECK-NEXT:     __syncwarp();
// CHECK-NEXT:     if (lane == 0 && !found) {
// CHECK-NEXT:       tma_reduce_add_2d(&p.tm_Sum, x + 0, 0 + cw * 64, 64 + (warp & 3) * 16);
// CHECK-NEXT:       tma_reduce_add_2d(&p.tm_Sum, x + 2048, 0 + cw * 64 + 32, 64 + (warp & 3) * 16);
// CHECK-NEXT:       tma_store_commit();
// CHECK-NEXT:     }
// CHECK-NEXT: }
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: if (lane == 0) mbar_arrive(sb + x_EMPTY);
// CHECK:      if (lane == 0) tma_store_wait_read();   // shared memory must stay until the last sums have left it
device.kernel @shared "sm90a" items "k" 128 of [] {
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %Sum = device.tensor "Sum" : !device.pointer<f32>
  %stride = device.stride "Sum" 0
  %rows = device.dimension "Sum" 0
  %columns = device.dimension "Sum" 1
  %K = device.ring "K" offset 0 : !device.ring<1 x [128, 128] bf16>
  %x = device.ring "x" offset 32768 : !device.ring<1 x [64, 128] bf16>
  %out = device.ring "Sum" offset 49152 : !device.ring<8 x [1024] f32>
  %Kb = device.barriers "K" releases 8 offset 81920 : !device.barriers<1>
  %xb = device.barriers "x" releases 8 arrivals 8 offset 81936 : !device.barriers<1>
  device.consumers 2 registers 240 {
    %w = device.registers "w" : !device.operand<64 x bf16>
    %part = device.registers "part" : !device.fragment<64 x f32>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %xc = device.cursor "x" on %xb phase 0 : !device.barriers<1>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %at = arith.constant 3 : i64
    %found = device.scan %K at %kc : !device.ring<1 x [128, 128] bf16>
    device.reserve %xc
    device.publish %w to %x at %xc : !device.operand<64 x bf16>, !device.ring<1 x [64, 128] bf16>
    device.await %xc
    device.fence %part : !device.fragment<64 x f32>
    device.multiply %part, %x at %xc, %K at %kc depth 128 transposed shares : !device.fragment<64 x f32>, !device.ring<1 x [64, 128] bf16>, !device.ring<1 x [128, 128] bf16>
    device.commit
    device.wait 0 %part : !device.fragment<64 x f32>
    scf.if %found {
      device.add_apart %x at %xc, %K at %kc to %Sum[%at] by %stride rows %rows columns %columns width 128 transposed : !device.ring<1 x [64, 128] bf16>, !device.ring<1 x [128, 128] bf16>, !device.pointer<f32>
    }
    device.add_tile %part to %map[%c0, %c64] through %out shares unless %found : !device.fragment<64 x f32>, !device.ring<8 x [1024] f32>
    device.release %xc
    device.advance %xc
  }
}

// Halves of 64 columns lie in one chunk; without sharing a warpgroup has rows of its own.
// CHECK-LABEL: halves(const
// CHECK-DAG:  const u64 K_rows_own = desc_sw128(sb + K_AT + cw * 64, 16384, 1024);
// CHECK-DAG:  const u64 y_left = desc_sw128(sb + y_AT + cw * 64 * 128, 16, 1024);
// CHECK:      tma_reduce_add_2d(&p.tm_Sum, x + 0, 0, 0 + cw * 64 + (warp & 3) * 16);
device.kernel @halves "sm90a" items "k" 128 of [] {
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %K = device.ring "K" offset 0 : !device.ring<1 x [128, 64] bf16>
  %x = device.ring "x" offset 16384 : !device.ring<1 x [64, 128] bf16>
  %y = device.ring "y" offset 32768 : !device.ring<1 x [128, 128] bf16>
  %out = device.ring "Sum" offset 65536 : !device.ring<8 x [1024] f32>
  %b = device.barriers "K" releases 8 offset 98304 : !device.barriers<1>
  device.consumers 2 registers 240 {
    %half = device.registers "half" : !device.fragment<32 x f32>
    %part = device.registers "part" : !device.fragment<64 x f32>
    %c = device.cursor "K" on %b phase 0 : !device.barriers<1>
    %c0 = arith.constant 0 : i32
    device.multiply %half, %x at %c, %K at %c depth 128 transposed shares : !device.fragment<32 x f32>, !device.ring<1 x [64, 128] bf16>, !device.ring<1 x [128, 64] bf16>
    device.multiply %part, %y at %c, %K at %c depth 128 transposed : !device.fragment<64 x f32>, !device.ring<1 x [128, 128] bf16>, !device.ring<1 x [128, 64] bf16>
    device.add_tile %part to %map[%c0, %c0] through %out : !device.fragment<64 x f32>, !device.ring<8 x [1024] f32>
  }
}

// Two outboxes a warp, taken in turn: it waits for all sums but the last. A slot that is published at a cursor of its own is empty in that one's phase.
// CHECK-LABEL: turns(const
// CHECK:      for (int i = 0; i < 16; i++) smem_name(sb + Sum_AT + i * Sum_BYTES, Sum_BYTES, "Sum", i);
// CHECK:      int Sum_turn = 0;
// CHECK:      int x_slot = 0, x_phase = 0;
// CHECK-NEXT: int x_ahead_slot = 0, x_ahead_phase = 1;
// CHECK-NEXT: mbar_wait(sb + x_EMPTY + 8 * x_ahead_slot, x_ahead_phase);
// CHECK-NEXT: {
// CHECK-NEXT:   const u32 x = sb + x_AT + x_ahead_slot * x_BYTES + cw * 8192 +
// CHECK:      if (lane == 0) mbar_arrive(sb + x_FULL + 8 * x_ahead_slot);
// CHECK-NEXT: if (++x_ahead_slot == 2) { x_ahead_slot = 0; x_ahead_phase ^= 1; }
// CHECK-NEXT: mbar_wait(sb + x_FULL + 8 * x_slot, x_phase);
// CHECK:      if (lane == 0) tma_store_wait_read_n<1>();
// CHECK-NEXT: __syncwarp();
// CHECK-NEXT: {
// CHECK-NEXT:   const u32 x = sb + Sum_AT + (Sum_turn * 8 + cw * 4 + (warp & 3)) * Sum_BYTES, e =
// CHECK:        if (lane == 0) {
// CHECK-NEXT:     tma_reduce_add_2d(
// CHECK-NEXT:     tma_reduce_add_2d(
// CHECK-NEXT:   }
// CHECK-NEXT:   if (lane == 0) tma_store_commit();
// CHECK-NEXT:   Sum_turn ^= 1;
// CHECK-NEXT: }
// CHECK:      if (lane == 0) tma_store_wait_read();   // shared memory must stay until the last sums have left it
device.kernel @turns "sm90a" items "k" 128 of [] {
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %x = device.ring "x" offset 0 : !device.ring<2 x [64, 128] bf16>
  %out = device.ring "Sum" offset 32768 : !device.ring<16 x [1024] f32>
  %xb = device.barriers "x" releases 8 arrivals 8 offset 98304 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %w = device.registers "w" : !device.operand<64 x bf16>
    %part = device.registers "part" : !device.fragment<64 x f32>
    %xc = device.cursor "x" on %xb phase 0 : !device.barriers<2>
    %xa = device.cursor "x_ahead" on %xb phase 1 : !device.barriers<2>
    %c0 = arith.constant 0 : i32
    device.reserve %xa
    device.publish %w to %x at %xa : !device.operand<64 x bf16>, !device.ring<2 x [64, 128] bf16>
    device.advance %xa
    device.await %xc
    device.add_tile %part to %map[%c0, %c0] through %out shares : !device.fragment<64 x f32>, !device.ring<16 x [1024] f32>
    device.release %xc
    device.advance %xc
  }
}
