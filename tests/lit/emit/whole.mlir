// A whole kernel: the order of its parts. The text itself is compiled in tests/unit/emit.
// RUN: tilewright opt --emit-cuda %S/../device/whole.mlir -o /dev/null | FileCheck %s
// RUN: tilewright opt --emit-cuda=whole %S/../device/whole.mlir -o /dev/null | FileCheck %s --check-prefix=WHOLE

// CHECK:       // causal: tiles of 128 of q at every point of [b, h]
// CHECK-NEXT:  // a producer and 2 warpgroups of consumers; 164944 bytes of shared memory
// CHECK:       struct Params {
// CHECK-NEXT:    TMap tm_K;
// CHECK:         unsigned short* O;
// CHECK-NEXT:    i64 O_s0;
// CHECK:       };
// CHECK-NEXT:  constexpr u32 Q_AT = 0
// CHECK:       DEV void dot0(
// CHECK:       DEV void dot1(
// CHECK:       extern "C" __global__ void __launch_bounds__(384, 1) causal(const __grid_constant__ Params p) {
// CHECK:       // ---- producer
// CHECK:       // ---- consumers
// CHECK:       for (int n = (int)blockIdx.x; n < p.items; n += (int)gridDim.x) {
// CHECK:         for (int n2 = 0; n2 < p.len_k; n2 += 128) {
// CHECK:           s[i] = c <= hi[r] ? s[i] : neg_inf();
// CHECK:           const float power = ex2(fmaf(s[i], 0.125f, base[r]));
// CHECK:         st_global_v4(

// WHOLE:       typedef unsigned int u32;
// WHOLE:       template <> DEV void wgmma_ss<BF16, 128, 0, 0>(
// WHOLE:       #line 1 "causal.cu"
// WHOLE:       struct Params {
