// Tables of distances between row and column.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK: constexpr u32 bias_AT = 65536, bias_BYTES = 640;   // 8 x [143] i32
// CHECK: __syncwarp();   // all lanes have read what was there before
// CHECK-NEXT: #pragma unroll
// CHECK-NEXT: for (int at = lane; at < 143; at += 32) {
// CHECK-NEXT:   const int distance = row - (lane >> 2) - 127 + at;
// CHECK-NEXT:   st_shared_u32(sb + bias_AT + (4 * cw + (warp & 3)) * bias_BYTES + 4 * at, __float_as_uint(log1pf((float)distance)));
// CHECK-NEXT: }
// CHECK-NEXT: __syncwarp();
// The elements of a thread have 34 distances: those of the second row are the first row's, 8 columns before.
// CHECK: u32 bias_of[34];   // of the distances of the thread's elements
// CHECK: for (int i = 0; i < 64; i++) {
// CHECK-NEXT: const int r = (i >> 1) & 1, c = 8 * (i >> 2) + (i & 1);
// CHECK-NEXT: if (i < 4 || (i & 3) < 2) bias_of[2 * ((i >> 2) - r + 1) + (i & 1)] = ld_shared_u32(sb + bias_AT + (4 * cw + (warp & 3)) * bias_BYTES + 4 * ((lane >> 2) + 8 * r - col - c + 127));
// CHECK-NEXT: const float sum = t[i] + __uint_as_float(bias_of[2 * ((i >> 2) - r + 1) + (i & 1)]);
device.kernel @tables "sm90a" items "q" 128 of [] {
  %Ts = device.ring "bias" offset 65536 : !device.ring<8 x [143] i32>
  device.consumers 2 registers 240 {
    %t = device.registers "t" : !device.fragment<128 x f32>
    device.tabulate %Ts width 128 : !device.ring<8 x [143] i32> {
    ^bb0(%d: i32):
      %x = arith.sitofp %d : i32 to f32
      %y = math.log1p %x : f32
      device.yield %y : f32
    }
    device.each_element 128 {
      %v = device.look_up %Ts : !device.ring<8 x [143] i32> -> f32
      %old = device.get %t : !device.fragment<128 x f32> -> f32
      %new = arith.addf %old, %v : f32
      device.set %new in %t : f32, !device.fragment<128 x f32>
    }
  }
}
