// Reductions of tiles in shared memory.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK: constexpr u32 K_AT = 0, K_BYTES = 32768;
// CHECK-NEXT: constexpr u32 norms_AT = 65536, norms_BYTES = 512;   // 2 x [128] f32
// CHECK: mbar_wait(sb + K_FULL + 8 * K_slot, K_phase);
// CHECK-NEXT: reduce_tile<BF16, 128, 72>(sb + K_AT + K_slot * K_BYTES, sb + norms_AT + cw * norms_BYTES, cw, warp, lane, [](float a, float b) { return a + b; }, [&](float x2) {
// CHECK-NEXT:   return x2 * x2;
// CHECK-NEXT: });
// CHECK-NEXT: reduce_tile<BF16, 128, 72>({{.*}}, [](float a, float b) { return max_nan(a, b); }, [&](float x2) {
// CHECK-NEXT:   return fabsf(x2) + p.eps;
// CHECK-NEXT: });
// CHECK: ld_shared_v2(sb + norms_AT + cw * norms_BYTES + 4 * (col + c), norms_pair);
// CHECK: __syncwarp();
// CHECK-NEXT: if (lane == 0) mbar_arrive(sb + K_EMPTY + 8 * K_slot);
device.kernel @reductions "sm90a" items "q" 128 of [] {
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 128] swizzle 128
  %eps = device.scalar "eps" : f32
  %Ks = device.ring "K" offset 0 : !device.ring<2 x [128, 72] bf16>
  %Ns = device.ring "norms" offset 65536 : !device.ring<2 x [128] f32>
  %Kb = device.barriers "K" releases 8 offset 66560 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
  }
  device.consumers 2 registers 240 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %t = device.registers "t" : !device.fragment<128 x f32>
    device.await %kc
    device.reduce_tile sum %Ks at %kc columns 72 into %Ns : !device.ring<2 x [128, 72] bf16> into !device.ring<2 x [128] f32> {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %x : f32
      device.yield %y : f32
    }
    device.reduce_tile max %Ks at %kc columns 72 into %Ns : !device.ring<2 x [128, 72] bf16> into !device.ring<2 x [128] f32> {
    ^bb0(%x: f32):
      %y = math.absf %x : f32
      %z = arith.addf %y, %eps : f32
      device.yield %z : f32
    }
    device.each_element 128 {
      %v = device.load_column %Ns : !device.ring<2 x [128] f32> -> f32
      device.set %v in %t : f32, !device.fragment<128 x f32>
    }
    device.release %kc
    device.advance %kc
  }
}
