// Fragments from global memory.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// Of 16 bits 32 columns at once: eight side by side a lane, turned so that each has two of every eight. Else, and of what is left, one by one.
// CHECK-LABEL: loads(const
// CHECK:      if (__all_sync(~0u, p.X_s1 == 1 && (p.X_dim1 & 7) == 0 && (((u64)(p.X + at[0]) | (u64)(p.X + at[1])) & 15) == 0)) {   // side by side
// CHECK-NEXT:   {
// CHECK-NEXT:     u32 x[2][4];
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int g = 0; g < 2; g++) {
// CHECK-NEXT:       const int r = g % 2, c = g / 2 * 32 + 8 * (lane & 3);
// CHECK-NEXT:       x[g][0] = x[g][1] = x[g][2] = x[g][3] = 0;
// CHECK-NEXT:       if (in[r] && c < p.X_dim1) ld_global_v4(p.X + at[r] + c, x[g]);
// CHECK-NEXT:     }
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int g = 0; g < 2; g++) {
// CHECK-NEXT:       quad_transpose(x[g], lane);
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int j = 0; j < 4; j++) {
// CHECK-NEXT:         a[16 * (g / 2) + 4 * j + 2 * (g % 2)] = unpack_bf16_lo(x[g][j]);
// CHECK-NEXT:         a[16 * (g / 2) + 4 * j + 2 * (g % 2) + 1] = unpack_bf16_hi(x[g][j]);
// CHECK:        } else {
// CHECK-NEXT:     #pragma unroll
// CHECK-NEXT:     for (int r = 0; r < 2; r++) {
// CHECK-NEXT:       const unsigned short* e = p.X + at[r];
// CHECK-NEXT:       #pragma unroll
// CHECK-NEXT:       for (int j = 0; j < 8; j++) {
// CHECK-NEXT:         const int c = 8 * (j >> 1) + (j & 1) + col;
// CHECK-NEXT:         a[4 * (j >> 1) + 2 * r + (j & 1)] = in[r] && c < p.X_dim1 ? unpack_bf16_lo(e[c * p.X_s1]) : 0.f;
// CHECK:        for (int j = 8; j < 10; j++) {
// Of f32 the two that are the lane's own.
// CHECK:        const float* e = p.Y + at[r];
// CHECK-NEXT:   if (p.X_s1 == 1 && ((u64)e & 7) == 0) {   // side by side
// CHECK:          for (int g = 0; g < 5; g++) {
// CHECK-NEXT:       const u64 x = in[r] && 8 * g + col + 1 < p.X_dim1 ? *(const u64*)(e + 8 * g + col) : in[r] && 8 * g + col < p.X_dim1 ? __float_as_uint(e[8 * g + col]) : 0;
// CHECK-NEXT:       a[4 * g + 2 * r] = __uint_as_float((u32)x);
// CHECK-NEXT:       a[4 * g + 2 * r + 1] = __uint_as_float((u32)(x >> 32));
device.kernel @loads "sm90a" items "q" 64 of [] {
  %X = device.tensor "X" : !device.pointer<bf16>
  %Y = device.tensor "Y" : !device.pointer<f32>
  %stride = device.stride "X" 1
  %n = device.dimension "X" 1
  device.consumers 1 registers 0 {
    %a = device.registers "a" : !device.fragment<40 x f32>
    %at = device.registers "at" : !device.rows<i64>
    %in = device.registers "in" : !device.rows<i1>
    device.load_tile %a, %X[%at] if %in columns %n by %stride : !device.fragment<40 x f32>, !device.pointer<bf16>
    device.load_tile %a, %Y[%at] if %in columns %n by %stride : !device.fragment<40 x f32>, !device.pointer<f32>
  }
}
