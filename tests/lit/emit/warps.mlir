// The same kernel where there are no copy engine and no products in the background: a warp copies, and each warp multiplies for itself.
// RUN: sed -e 's/"sm90a"/"sm80"/' -e 's/registers [0-9]* {/registers 0 {/' %S/../device/whole.mlir | tilewright opt --emit-cuda -o /dev/null | FileCheck %s

// CHECK:      // [16, 128] = [16, 128] . [128, 128], by each warp: a tile, the contracted axis side by side; `row` is this lane's row of a left tile
// CHECK-NEXT: DEV void dot0(float (&d)[64], u32 a, u32 b, int row, int lane) {
// CHECK:        for (int i = 0; i < 64; i++) d[i] = 0.f;
// CHECK:        for (int kk = 0; kk < 8; kk++) {
// CHECK-NEXT:     u32 x[1][4];
// CHECK-NEXT:     ldmatrix_x4(x[0], (a_own ^ (kk & 3) * 32) + (kk >> 2) * 16384);
// CHECK:          for (int j = 0; j < 8; j++) {
// CHECK-NEXT:       u32 y[4];
// CHECK-NEXT:       ldmatrix_x4(y, (b_own ^ (kk & 3) * 32) + (kk >> 2) * 16384 + j * 2048);
// CHECK:            mma_blocks<BF16>(d, 4 * (2 * j + 1), x, y1);
// CHECK:      // [16, 128] += [16, 128] . [128, 128], by each warp: registers, columns side by side;
// CHECK-NEXT: DEV void dot1(float (&d)[64], const u32 (&a)[32], u32 b, int row, int lane) {
// CHECK-NOT:    d[i] = 0.f
// CHECK:          x[0][0] = a[4 * kk + 0];
// CHECK-NEXT:     x[0][1] = a[4 * kk + 1];
// CHECK-NEXT:     x[0][2] = a[4 * kk + 2];
// CHECK-NEXT:     x[0][3] = a[4 * kk + 3];
// CHECK:            ldmatrix_x4_trans(y, (b_own ^ (j & 3) * 32) + (j >> 2) * 16384 + kk * 2048);
// CHECK:      __launch_bounds__(288, 1) causal(
// Every lane of the producer arrives for what it has copied.
// CHECK:          mbar_init(sb + Q_FULL, 32);
// CHECK-NEXT:     mbar_init(sb + Q_EMPTY, 8);
// CHECK:        if (warp == 8) {
// CHECK-NEXT:     // ---- producer
// CHECK-NOT:      reg_dec
// CHECK:          mbar_wait(sb + K_EMPTY + 8 * K_slot, K_phase);
// CHECK-NEXT:     copy_box<128, 128, 2, 1, 1, 128>(sb + K_AT + K_slot * K_BYTES, &p.tm_K, 0, n2, 0, rest, quotient2, lane);
// CHECK-NEXT:     cp_async_mbar_arrive(sb + K_FULL + 8 * K_slot);
// CHECK-NEXT:     if (++K_slot == 2) { K_slot = 0; K_phase ^= 1; }
// CHECK:          // ---- consumers
// CHECK-NOT:      reg_inc
// CHECK-NEXT:     const int cw = wg;
// CHECK-NOT:      desc_sw128
// CHECK:          dot0(s, sb + Q_AT, sb + K_AT + K_slot * K_BYTES, cw * 64 + (warp & 3) * 16 + (lane & 15), lane);
// CHECK-NEXT:     __syncwarp();
// CHECK-NEXT:     if (lane == 0) mbar_arrive(sb + K_EMPTY + 8 * K_slot);
// CHECK:          dot1(acc, s_16, sb + V_AT + V_slot * V_BYTES, cw * 64 + (warp & 3) * 16 + (lane & 15), lane);
// CHECK-NOT:      wgmma
