// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse | FileCheck %s
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#k = #tile.axes<"k">
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">

// A tile that a dot reads is reduced along its rows by the warpgroup, once a step, behind the dot; elements read the vector by column. The slot is given back
// when that is done.
// CHECK-LABEL: device.kernel @norms
// CHECK: %[[VECTOR:[a-z0-9]+]] = device.ring "K_reduced" : <1 x[32] f32>
// CHECK: scf.for
// CHECK: device.await %[[KC:[a-z0-9]+]]
// CHECK: device.multiply %[[S:[a-z0-9]+]], %{{.*}} at %{{.*}}, %[[K:[a-z0-9]+]] at %[[KC]] depth 64
// CHECK: device.wait 0 %[[S]]
// CHECK-NOT: device.release
// CHECK: device.reduce_tile sum %[[K]] at %[[KC]] columns 64 into %[[VECTOR]] : <2 x[32, 64] bf16> into <1 x[32] f32> {
// CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[Y:[a-z0-9]+]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: device.yield %[[Y]] : f32
// CHECK: device.each_element 32
// CHECK: %[[SUM:[a-z0-9]+]] = device.load_column %[[VECTOR]] : <1 x[32] f32> -> f32
// CHECK: math.rsqrt %[[SUM]] : f32
// CHECK: device.release %[[KC]]
device.kernel @norms "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "k"
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : tensor<64xf32, #q>
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %r = scf.for %k0 = %c0 to %n step %c32 iter_args(%a = %nothing) -> (tensor<64xf32, #q>) : i32 {
      %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
      %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
      %x = arith.extf %k : tensor<32x64xbf16, #kd> to tensor<32x64xf32, #kd>
      %y = arith.mulf %x, %x : tensor<32x64xf32, #kd>
      %t = tile.reduce sum %y over "d" : tensor<32x64xf32, #kd> -> tensor<32xf32, #k>
      %u = math.rsqrt %t : tensor<32xf32, #k>
      %w = tile.broadcast %u : tensor<32xf32, #k> -> tensor<64x32xf32, #qk>
      %v = arith.mulf %s, %w : tensor<64x32xf32, #qk>
      %m = tile.reduce sum %v over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
      %b = arith.addf %a, %m : tensor<64xf32, #q>
      scf.yield %b : tensor<64xf32, #q>
    } {tile.carried = ["sum"], tile.fold = "k", tile.range = "full"}
  }
}
