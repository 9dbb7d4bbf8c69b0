// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -device-distribute-tiles -device-overlap-stages -o /dev/null
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!element = tensor<64x32xf32, #qk>
!sum = tensor<64x16xf32, #qe>

// A first step whose mask hides elements looks at its tile of stage 1 while the dots of stage 0 run, and isolates by what it saw. A step of a
// loop has another tile in that slot then: it looks when it isolates. Steps without a mask do neither.
// CHECK-LABEL: device.kernel @first
// CHECK: scf.if
// CHECK: device.multiply %[[S:[a-z0-9]+]], %[[Q:[a-z0-9]+]] at %[[QC:[a-z0-9]+]], %[[K:[a-z0-9]+]] at %[[KC:[a-z0-9]+]] depth 64
// CHECK-NEXT: device.commit
// CHECK-NEXT: %[[FOUND:.*]] = device.scan %[[V:[a-z0-9]+]] at %[[VC:[a-z0-9]+]]
// CHECK-NEXT: device.wait 0 %[[S]]
// CHECK: device.isolate %[[ACC:[a-z0-9]+]], %[[S]], %[[V]] at %[[VC]] if %[[FOUND]] depth 32 transposed :
// CHECK: scf.for
// CHECK-NOT: device.scan
// CHECK: device.isolate %[[ACC]], %[[S]], %[[V]] at %[[VC]] depth 32 transposed :
// CHECK: } {tile.fold = "k", tile.range = "partial"}
// CHECK: scf.for
// CHECK-NOT: device.scan
// CHECK-NOT: device.isolate
// CHECK: } {tile.fold = "k", tile.range = "full"}
device.kernel @first "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "k"
  %rest = device.scalar "rest" : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Vs = device.ring "V" : !device.ring<2 x [32, 16] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : !sum
    %q0 = device.block_index
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %any = arith.cmpi sgt, %n, %c0 : i32
    %r = scf.if %any -> (!sum) {
      %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
      %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> !element
      %kept = tile.mask %s at(%q0, %c0) planes [-1, 1, 1, -1] rest(%rest, %rest) else 0.0 : f32 : !element
      %v = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
      %d = tile.dot %kept, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
      %a = arith.addf %nothing, %d : !sum
      %p = scf.for %k0 = %c32 to %n step %c32 iter_args(%ai = %a) -> (!sum) : i32 {
        %k2 = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
        %s2 = tile.dot %q, %k2 over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> !element
        %kept2 = tile.mask %s2 at(%q0, %k0) planes [-1, 1, 1, -1] rest(%rest, %rest) else 0.0 : f32 : !element
        %v2 = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
        %d2 = tile.dot %kept2, %v2 over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %a2 = arith.addf %ai, %d2 : !sum
        scf.yield %a2 : !sum
      } {tile.fold = "k", tile.range = "partial", tile.carried = ["accumulator"]}
      %f = scf.for %k0 = %c32 to %n step %c32 iter_args(%ai = %p) -> (!sum) : i32 {
        %k2 = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
        %s2 = tile.dot %q, %k2 over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> !element
        %w2 = math.exp2 %s2 : !element
        %v2 = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
        %d2 = tile.dot %w2, %v2 over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %a2 = arith.addf %ai, %d2 : !sum
        scf.yield %a2 : !sum
      } {tile.fold = "k", tile.range = "full", tile.carried = ["accumulator"]}
      scf.yield %f : !sum
    } else {
      scf.yield %nothing : !sum
    } {tile.fold = "k"}
    %O = device.memory "O" : memref<?x?xbf16, strided<[?, ?], offset: ?>>
    %o = arith.truncf %r : !sum to tensor<64x16xbf16, #qe>
    tile.store %o, %O[%q0, %c0] dims [0, 1] : tensor<64x16xbf16, #qe>, memref<?x?xbf16, strided<[?, ?], offset: ?>>
  }
}
