// Dots: one function a shape, descriptors, fences and waits with the registers they concern, rounding, the repeat by one warp.
// RUN: tilewright opt --emit-cuda=facts %s -o /dev/null | FileCheck %s

// CHECK:      // instruction wgmma_rs F16 40 1
// CHECK-NEXT: // instruction wgmma_ss F16 96 0
// CHECK:      // [64, 96] = [64, 80] . [80, 96]: a tile, the contracted axis side by side
// CHECK-NEXT: DEV void dot0(float (&d)[48], u64 a, u64 b) {
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int kk = 0; kk < 5; kk++)
// CHECK-NEXT:     wgmma_ss<F16, 96, 0, 0>(d, a + ((kk >> 2) * 1024 + 2 * (kk & 3)), b + ((kk >> 2) * 768 + 2 * (kk & 3)), kk != 0);
// CHECK-NEXT: }
// CHECK-NEXT: // [64, 40] += [64, 96] . [96, 40]: registers, columns side by side
// CHECK-NEXT: DEV void dot1(float (&d)[20], const u32 (&a)[24], u64 b) {
// CHECK-NEXT:   #pragma unroll
// CHECK-NEXT:   for (int kk = 0; kk < 6; kk++)
// CHECK-NEXT:     wgmma_rs<F16, 40, 1>(d, a[4 * kk], a[4 * kk + 1], a[4 * kk + 2], a[4 * kk + 3], b + (kk * 128), 1);
// CHECK-NEXT: }
// CHECK-NEXT: // [16, 96] = [16, 80] . [80, 96], by one warp: `row` is this lane's row of the left tile
// CHECK-NEXT: DEV void repeat0(float (&d)[48], u32 a, u32 b, int row, int lane) {
// CHECK:        for (int j = 0; j < 3; j++) {
// CHECK-NEXT:     float part[4][4] = {};
// CHECK-NEXT:     const int n = 32 * j + (lane & 7);
// CHECK:            ldmatrix_x4(x, a + (kk >> 2) * 16384 + row * 128 + ((((kk & 3) * 2 + (lane >> 4)) ^ (row & 7)) << 4));
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int i = 0; i < 4; i++) {
// CHECK-NEXT:         ldmatrix_x2(y, b + (kk >> 2) * 12288 + n * 128 + ((((kk & 3) * 2 + ((lane >> 3) & 1)) ^ (n & 7)) << 4) + 1024 * i);
// CHECK-NEXT:         mma_f16_16816(part[i], x, y);
// CHECK:          for (int i = 0; i < 16; i++) d[16 * j + i] = part[i / 4][i % 4];
// CHECK-NOT:  DEV void
// CHECK-LABEL: dots(const
device.kernel @dots "sm90a" items "q" 128 of [] {
  %As = device.ring "A" offset 0 : !device.ring<1 x [128, 80] f16>
  %Bs = device.ring "B" offset 32768 : !device.ring<2 x [96, 80] f16>
  %Cs = device.ring "C" offset 81920 : !device.ring<2 x [96, 40] f16>
  %Ab = device.barriers "A" releases 8 offset 107520 : !device.barriers<1>
  %Bb = device.barriers "B" releases 8 offset 107536 : !device.barriers<2>
  %Cb = device.barriers "C" releases 8 offset 107568 : !device.barriers<2>
  device.consumers 2 registers 0 {
    // CHECK:      const u64 A_left = desc_sw128(sb + A_AT + cw * 64 * 128, 16, 1024);
    // CHECK-NEXT: const u64 B_right = desc_sw128(sb + B_AT, 16, 1024);
    // CHECK-NEXT: const u64 C_rows = desc_sw128(sb + C_AT, 12288, 1024);
    %ac = device.cursor "A" on %Ab phase 0 : !device.barriers<1>
    %bc = device.cursor "B" on %Bb phase 0 : !device.barriers<2>
    %cc = device.cursor "C" on %Cb phase 0 : !device.barriers<2>
    %ct = device.cursor "C_back" on %Cb phase 0 trailing : !device.barriers<2>
    // CHECK:      float s[48];   // 96 columns
    // CHECK-NEXT: u32 s_16[24];   // 96 columns, two elements a register
    // CHECK-NEXT: float acc[20];   // 40 columns
    %s = device.registers "s" : !device.fragment<96 x f32>
    %p = device.registers "s_16" : !device.operand<96 x f16>
    %acc = device.registers "acc" : !device.fragment<40 x f32>
    // CHECK:      pin(s); wgmma_fence();
    // CHECK-NEXT: dot0(s, A_left, B_right + B_slot * (B_BYTES / 16));
    // CHECK-NEXT: wgmma_commit();
    // CHECK-NEXT: wgmma_wait<0>(); pin(s);
    // CHECK-NEXT: #pragma unroll
    // CHECK-NEXT: for (int j = 0; j < 24; j++) s_16[j] = pack_f16(s[2 * j], s[2 * j + 1]);
    // CHECK-NEXT: pin(acc); pin(s_16); wgmma_fence();
    // CHECK-NEXT: dot1(acc, s_16, C_rows + C_slot * (C_BYTES / 16));
    // CHECK-NEXT: dot0(s, A_left, B_right + B_slot * (B_BYTES / 16));
    // CHECK-NEXT: wgmma_wait<1>();
    // CHECK-NEXT: repeat0(s, sb + A_AT, sb + B_AT + B_slot * B_BYTES, cw * 64 + (warp & 3) * 16 + (lane & 15), lane);
    device.fence %s : !device.fragment<96 x f32>
    device.multiply %s, %As at %ac, %Bs at %bc depth 80 : !device.fragment<96 x f32>, !device.ring<1 x [128, 80] f16>, !device.ring<2 x [96, 80] f16>
    device.commit
    device.wait 0 %s : !device.fragment<96 x f32>
    device.pack %s into %p : !device.fragment<96 x f32>, !device.operand<96 x f16>
    device.fence %acc, %p : !device.fragment<40 x f32>, !device.operand<96 x f16>
    device.multiply %acc, %p, %Cs at %cc depth 96 transposed accumulate : !device.fragment<40 x f32>, !device.operand<96 x f16>, !device.ring<2 x [96, 40] f16>
    device.multiply %s, %As at %ac, %Bs at %bc depth 80 : !device.fragment<96 x f32>, !device.ring<1 x [128, 80] f16>, !device.ring<2 x [96, 80] f16>
    device.wait 1
    device.repeat %s, %As at %ac, %Bs at %bc depth 80 : !device.fragment<96 x f32>, !device.ring<1 x [128, 80] f16>, !device.ring<2 x [96, 80] f16>
    // CHECK-NEXT: mbar_wait(sb + C_FULL + 8 * C_slot, C_phase);
    // CHECK-NEXT: const bool found = scan<F16, 96, 1>(sb + C_AT + C_slot * C_BYTES, cw, warp, lane);
    // CHECK-NEXT: if (found)
    // CHECK-NEXT:   isolate<F16, true, 96, 1, 2, true>(acc, s, sb + C_AT + C_slot * C_BYTES, cw, warp, lane);
    // CHECK-NEXT: if (scan<F16, 96, 1>(sb + C_AT + C_back_slot * C_BYTES, cw, warp, lane))
    // CHECK-NEXT:   isolate<F16, true, 96, 1, 2, false>(acc, s, sb + C_AT + C_back_slot * C_BYTES, cw, warp, lane);
    // CHECK-NEXT: __syncwarp();
    // CHECK-NEXT: if (lane == 0) mbar_arrive(sb + C_EMPTY + 8 * C_back_slot);
    %found = device.scan %Cs at %cc : !device.ring<2 x [96, 40] f16>
    device.isolate %acc, %s, %Cs at %cc if %found depth 96 transposed keep : !device.fragment<40 x f32>, !device.fragment<96 x f32>, !device.ring<2 x [96, 40] f16>
    device.isolate %acc, %s, %Cs at %ct depth 96 transposed : !device.fragment<40 x f32>, !device.fragment<96 x f32>, !device.ring<2 x [96, 40] f16>
    device.release %ct
  }
}
