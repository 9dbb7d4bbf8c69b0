// Fragments and rows to global memory.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK-LABEL: stores(const
device.kernel @stores "sm90a" items "q" 64 of [] {
  %O = device.tensor "O" : !device.pointer<bf16>
  %F = device.tensor "F" : !device.pointer<f32>
  %H = device.tensor "H" : !device.pointer<f16>
  %n = device.dimension "O" 1
  device.consumers 1 registers 0 {
    %a = device.registers "a" : !device.fragment<40 x f32>
    %t = device.registers "t" : !device.rows<f32>
    %at = device.registers "at" : !device.rows<i64>
    %in = device.registers "in" : !device.rows<i1>
    %c40 = arith.constant 40 : i32
    // CHECK:      for (int r = 0; r < 2; r++) {
    // CHECK-NEXT:   unsigned short* out = p.O + at[r];
    // CHECK-NEXT:   #pragma unroll
    // CHECK-NEXT:   for (int g = 0; g < 1; g++) {
    // CHECK-NEXT:     u32 x[4];
    // CHECK-NEXT:     #pragma unroll
    // CHECK-NEXT:     for (int j = 0; j < 4; j++) x[j] = pack_bf16(a[16 * g + 4 * j + 2 * r], a[16 * g + 4 * j + 2 * r + 1]);
    // CHECK-NEXT:     quad_transpose(x, lane);
    // CHECK-NEXT:     if (in[r] && 32 * g + 8 * (lane & 3) < p.O_dim1) st_global_v4(out + 32 * g + 8 * (lane & 3), x[0], x[1], x[2], x[3]);
    // CHECK-NEXT:   }
    // CHECK-NEXT:   #pragma unroll
    // CHECK-NEXT:   for (int j = 4; j < 5; j++)   // the last 8 columns
    // CHECK-NEXT:     if (in[r] && 8 * j < p.O_dim1) st_global_u32(out + 8 * j + col, pack_bf16(a[4 * j + 2 * r], a[4 * j + 2 * r + 1]));
    // CHECK-NEXT: }
    device.store_tile %a, %O[%at] if %in columns %n : !device.fragment<40 x f32>, !device.pointer<bf16>
    // All columns: nothing to ask.
    // CHECK:        float* out = p.F + at[r];
    // CHECK:        for (int j = 0; j < 5; j++)
    // CHECK-NEXT:     if (in[r]) st_global_v2(out + 8 * j + col, __float_as_uint(a[4 * j + 2 * r]), __float_as_uint(a[4 * j + 2 * r + 1]));
    device.store_tile %a, %F[%at] if %in columns %c40 : !device.fragment<40 x f32>, !device.pointer<f32>
    // CHECK:      if ((lane & 3) == 0 && in[r]) p.F[at[r]] = t[r];
    // CHECK:      if ((lane & 3) == 0 && in[r]) p.H[at[r]] = (unsigned short)pack_f16(t[r], 0.f);
    device.store_rows %t, %F[%at] if %in : !device.rows<f32>, !device.pointer<f32>
    device.store_rows %t, %H[%at] if %in : !device.rows<f32>, !device.pointer<f16>
  }
}
