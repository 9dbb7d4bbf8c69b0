// A warp copies a box by 16 bytes; by 4, or by elements, where its rows start at multiples of fewer. What lanes store themselves they arrive for.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK-LABEL: copies(const
// CHECK:      mbar_init(sb + w_FULL, 32);
// CHECK:      mbar_init(sb + h_FULL, 64);
device.kernel @copies "sm80" items "q" 64 of [] {
  %wm = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
  %hm = device.tensor_map "h" bf16 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
  %km = device.tensor_map "keep" i8 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
  %ws = device.ring "w" offset 0 : !device.ring<1 x [32] f32>
  %hs = device.ring "h" offset 128 : !device.ring<1 x [32] bf16>
  %ks = device.ring "keep" offset 256 : !device.ring<1 x [32] i8>
  %wb = device.barriers "w" releases 4 offset 384 : !device.barriers<1>
  %hb = device.barriers "h" releases 4 offset 400 : !device.barriers<1>
  device.producer registers 0 {
    %wc = device.cursor "w" on %wb phase 1 : !device.barriers<1>
    %hc = device.cursor "h" on %hb phase 1 : !device.barriers<1>
    %at = device.block_index
    // CHECK:      copy_box<128, 1, 1, 1, 1, 0>(sb + w_AT, &p.tm_w,
    // CHECK-NEXT: cp_async_mbar_arrive(sb + w_FULL);
    // CHECK-NOT:  mbar_arrive(sb + w_FULL)
    device.acquire %wc bytes 128
    device.copy %wm[%at] to %ws at %wc : !device.ring<1 x [32] f32>
    device.advance %wc
    // CHECK:      copy_shifted_box<4, 128, 1, 1, 1, 1, 0>(sb + w_AT, &p.tm_w,
    // CHECK-NEXT: cp_async_mbar_arrive(sb + w_FULL);
    // CHECK-NEXT: w_phase ^= 1;
    device.acquire %wc bytes 128
    device.copy %wm[%at] to %ws at %wc divisor 8 : !device.ring<1 x [32] f32>
    device.advance %wc
    // CHECK:      copy_shifted_box<2, 64, 1, 1, 1, 1, 0>(sb + h_AT, &p.tm_h,
    // CHECK-NEXT: copy_shifted_box<1, 32, 1, 1, 1, 1, 0>(sb + keep_AT, &p.tm_keep,
    // CHECK-NEXT: cp_async_mbar_arrive(sb + h_FULL);
    // CHECK-NEXT: mbar_arrive(sb + h_FULL);
    device.acquire %hc bytes 96
    device.copy %hm[%at] to %hs at %hc divisor 2 : !device.ring<1 x [32] bf16>
    device.copy %km[%at] to %ks at %hc divisor 1 : !device.ring<1 x [32] i8>
    device.advance %hc
  }
  device.consumers 1 registers 0 {
  }
}
