// Warps of 32 rows: a thread holds 4 of them, and every word of a right operand serves two products.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK:      // [32, 40] = [32, 80] . [80, 40], by each warp: a tile, the contracted axis side by side; `row` is this lane's row of a left tile
// CHECK-NEXT: DEV void dot0(float (&d)[40], u32 a, u32 b, int row, int lane) {
// CHECK:        for (int i = 0; i < 40; i++) d[i] = 0.f;
// CHECK-NEXT:   const u32 a_own = a + row * 128 + (((lane >> 4) ^ (lane & 7)) << 4);
// CHECK-NEXT:   const u32 b_own = b + ((lane & 7) + (lane >> 4) * 8) * 128 + ((((lane >> 3) & 1) ^ (lane & 7)) << 4);
// CHECK:        for (int kk = 0; kk < 5; kk++) {
// CHECK-NEXT:     u32 x[2][4];
// CHECK-NEXT:     ldmatrix_x4(x[0], (a_own ^ (kk & 3) * 32) + (kk >> 2) * 16384);
// CHECK-NEXT:     ldmatrix_x4(x[1], (a_own ^ (kk & 3) * 32) + (kk >> 2) * 16384 + 2048);
// CHECK:          for (int j = 0; j < 2; j++) {
// CHECK-NEXT:       u32 y[4];
// CHECK-NEXT:       ldmatrix_x4(y, (b_own ^ (kk & 3) * 32) + (kk >> 2) * 5120 + j * 2048);
// CHECK-NEXT:       const u32 y0[2] = {y[0], y[1]};
// CHECK-NEXT:       mma_blocks<F16>(d, 8 * (2 * j), x, y0);
// CHECK-NEXT:       const u32 y1[2] = {y[2], y[3]};
// CHECK-NEXT:       mma_blocks<F16>(d, 8 * (2 * j + 1), x, y1);
// CHECK-NEXT:     }
// CHECK-NEXT:     u32 y[2];
// CHECK-NEXT:     ldmatrix_x2(y, (b_own ^ (kk & 3) * 32) + (kk >> 2) * 5120 + 2 * 2048);
// CHECK-NEXT:     mma_blocks<F16>(d, 8 * (2 * 2), x, y);
// CHECK:      // [32, 40] += [32, 32] . [32, 40], by each warp: registers, columns side by side;
// CHECK-NEXT: DEV void dot1(float (&d)[40], const u32 (&a)[16], u32 b, int row, int lane) {
// CHECK-NEXT:   const u32 b_own = b + (lane & 15) * 128 + (((lane >> 4) ^ (lane & 7)) << 4);
// CHECK:          x[0][0] = a[8 * kk + 0];
// CHECK-NEXT:     x[0][1] = a[8 * kk + 1];
// CHECK-NEXT:     x[0][2] = a[8 * kk + 4];
// CHECK-NEXT:     x[0][3] = a[8 * kk + 5];
// CHECK-NEXT:     x[1][0] = a[8 * kk + 2];
// CHECK-NEXT:     x[1][1] = a[8 * kk + 3];
// CHECK-NEXT:     x[1][2] = a[8 * kk + 6];
// CHECK-NEXT:     x[1][3] = a[8 * kk + 7];
// CHECK:            ldmatrix_x4_trans(y, (b_own ^ (j & 3) * 32) + (j >> 2) * 4096 + kk * 2048);
// CHECK:      // [32, 40] = [32, 80] . [80, 40], by one warp: `row` is this lane's row of the left tile
// CHECK-NEXT: DEV void repeat0(float (&d)[40], u32 a, u32 b, int row, int lane) {
// CHECK:          d[8 * j] = part[0];
// CHECK:          ldmatrix_x4(x, a + (kk >> 2) * 16384 + row * 128 + ((((kk & 3) * 2 + (lane >> 4)) ^ (row & 7)) << 4) + 2048);
// CHECK:          d[8 * j + 4] = part[0];
// CHECK-LABEL: rows(const
// CHECK:      const int row = cw * 128 + (warp & 3) * 32 + (lane >> 2), col = 2 * (lane & 3);
device.kernel @rows "sm80" items "q" 128 of [] {
  %x = device.tensor "X" : !device.pointer<bf16>
  %f = device.tensor "F" : !device.pointer<f32>
  %As = device.ring "A" offset 0 : !device.ring<1 x [128, 80] f16>
  %Bs = device.ring "B" offset 32768 : !device.ring<1 x [40, 80] f16>
  %Cs = device.ring "C" offset 43008 : !device.ring<1 x [32, 40] f16>
  %Hs = device.ring "H" offset 47104 : !device.ring<1 x [40] bf16>
  %Ab = device.barriers "A" releases 4 offset 47232 : !device.barriers<1>
  device.consumers 1 rows 32 registers 0 {
    %ac = device.cursor "A" on %Ab phase 0 : !device.barriers<1>
    // CHECK:      float s[40];   // 40 columns
    // CHECK-NEXT: u32 p2[16];   // 32 columns, two elements a register
    // CHECK-NEXT: float w[32];   // 32 columns
    // CHECK-NEXT: float m[4];
    %s = device.registers "s" : !device.fragment<40 x f32>
    %p = device.registers "p" : !device.operand<32 x f16>
    %w = device.registers "w" : !device.fragment<32 x f32>
    %m = device.registers "m" : !device.rows<f32>
    %at = device.registers "at" : !device.rows<i64>
    %in = device.registers "in" : !device.rows<i1>
    %one = arith.constant 1.0 : f32
    %columns = arith.constant 40 : i32
    // CHECK:      m[0] = m[1] = m[2] = m[3] = 1.f;
    device.fill %m with %one : !device.rows<f32>, f32
    // CHECK:      dot0(s, sb + A_AT, sb + B_AT, cw * 128 + (warp & 3) * 32 + (lane & 15), lane);
    device.multiply %s, %As at %ac, %Bs at %ac depth 80 : !device.fragment<40 x f32>, !device.ring<1 x [128, 80] f16>, !device.ring<1 x [40, 80] f16>
    // CHECK:      float m_e[8];
    // CHECK:      for (int i = 0; i < 40; i++) {
    // CHECK-NEXT:   const int r = (i >> 1) & 3, c = 8 * (i >> 3) + (i & 1);
    // CHECK-NEXT:   if ((i & 7) == 0) H_pair = ld_shared_u32(sb + H_AT + 2 * (col + c));
    // CHECK:        m_e[i & 7] = i < 8 ? s[i] : max_nan(m_e[i & 7], s[i]);
    // CHECK:      for (int r = 0; r < 4; r++) {
    // CHECK-NEXT:   m[r] = max_nan(m_e[2 * r], m_e[2 * r + 1]);
    device.each_element 40 {
      %h = device.load_column %Hs at %ac : !device.ring<1 x [40] bf16> -> f32
      %c = device.column
      %cf = arith.sitofp %c : i32 to f32
      %r = device.get %m : !device.rows<f32> -> f32
      %a = arith.addf %h, %cf : f32
      %b = arith.addf %a, %r : f32
      device.set %b in %s : f32, !device.fragment<40 x f32>
      %v = device.get %s : !device.fragment<40 x f32> -> f32
      device.combine max %v into %m : f32, !device.rows<f32>
    }
    // CHECK:      for (int r = 0; r < 4; r++) {
    // CHECK:        for (int e = 0; e < 10; e++) {
    // CHECK-NEXT:     const int i = 8 * (e >> 1) + 2 * r + (e & 1);
    // CHECK-NEXT:     s[i] = 8.f * s[i];
    device.each_row {
      device.each_element 40 {
        %eight = arith.constant 8.0 : f32
        %v = device.get %s : !device.fragment<40 x f32> -> f32
        %y = arith.mulf %eight, %v : f32
        device.set %y in %s : f32, !device.fragment<40 x f32>
      }
    }
    // CHECK:      for (int j = 0; j < 16; j++) p2[j] = pack_f16(w[2 * j], w[2 * j + 1]);
    device.pack %w into %p : !device.fragment<32 x f32>, !device.operand<32 x f16>
    // CHECK:      dot1(s, p2, sb + C_AT, cw * 128 + (warp & 3) * 32 + (lane & 15), lane);
    device.multiply %s, %p, %Cs at %ac depth 32 transposed accumulate : !device.fragment<40 x f32>, !device.operand<32 x f16>, !device.ring<1 x [32, 40] f16>
    // CHECK:      repeat0(s, sb + A_AT, sb + B_AT, cw * 128 + (warp & 3) * 32 + (lane & 15), lane);
    device.repeat %s, %As at %ac, %Bs at %ac depth 80 : !device.fragment<40 x f32>, !device.ring<1 x [128, 80] f16>, !device.ring<1 x [40, 80] f16>
    // CHECK:        isolate<F16, true, 32, 1, 1, false, 2>(s, w, sb + C_AT, cw, warp, lane);
    device.isolate %s, %w, %Cs at %ac depth 32 transposed : !device.fragment<40 x f32>, !device.fragment<32 x f32>, !device.ring<1 x [32, 40] f16>
    // CHECK:      __any_sync(~0u, in[0] || in[1] || in[2] || in[3]);
    // CHECK:      zero_times<40>(s)
    %any = device.any %in
    %spoiled = device.spoiled %s : !device.fragment<40 x f32>
    %again = arith.ori %any, %spoiled : i1
    scf.if %again {
      device.join sum %m : !device.rows<f32>
    }
    // CHECK:      for (int r = 0; r < 4; r++) {
    // CHECK:        for (int j = 0; j < 4; j++) x[j] = pack_bf16(s[32 * g + 8 * j + 2 * r], s[32 * g + 8 * j + 2 * r + 1]);
    // CHECK:          if (in[r]) st_global_u32(out + 8 * j + col, pack_bf16(s[8 * j + 2 * r], s[8 * j + 2 * r + 1]));
    device.store_tile %s, %x[%at] if %in columns %columns : !device.fragment<40 x f32>, !device.pointer<bf16>
    // CHECK:      for (int r = 0; r < 4; r++)
    // CHECK-NEXT:   if ((lane & 3) == 0 && in[r]) p.F[at[r]] = m[r];
    device.store_rows %m, %f[%at] if %in : !device.rows<f32>, !device.pointer<f32>
  }
}
