// RUN: tilewright opt %s -device-distribute-tiles=interleave=true -canonicalize -cse -split-input-file -verify-diagnostics | FileCheck %s
#k = #tile.axes<"k">
#q = #tile.axes<"q">
#kd = #tile.axes<"k", "d">
#qd = #tile.axes<"q", "d">
#kq = #tile.axes<"k", "q">
!element = tensor<128x64xf32, #kq>
!block = tensor<128x128xbf16, #kd>
!step = tensor<64x128xbf16, #qd>
!sum = tensor<128x128xf32, #kd>
!part = tensor<64x128xf32, #qd>
!memory = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>

// A dot over the block axis: its left operand is rounded once, published as soon as it is there, and multiplied last, by columns of its own a
// warpgroup, in registers that are free by then. What it makes is added, and then the exchange is given back.
// CHECK-LABEL: device.kernel @adds
// CHECK-DAG: %[[MAP:.*]] = device.tensor_map "Sum" f32 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [0, 0, 0] box [32, 16, 1] swizzle 128
// CHECK-DAG: %[[X:.*]] = device.ring "exchange" : <1 x[64, 128] bf16>
// CHECK-DAG: %[[OUT:.*]] = device.ring "Sum" : <8 x[1024] f32>
// CHECK-DAG: %[[XB:.*]] = device.barriers "exchange" releases 8 arrivals 8 : <1>
// CHECK-DAG: %[[XC:.*]] = device.cursor "exchange" on %[[XB]] phase 0
// CHECK: scf.for %[[AT:.*]] =
// CHECK: device.multiply %[[S:.*]], %{{.*}}, %{{.*}} depth 128
// CHECK: device.multiply %[[T:.*]], %{{.*}}, %{{.*}} depth 128
// CHECK: device.multiply %[[A:.*]], %[[PACKED:.*]], %{{.*}} depth 64 transposed accumulate
// CHECK: device.wait 1 %[[T]]
// CHECK: device.pack %[[S]] into %[[DS:.*]] :
// CHECK-NEXT: device.reserve %[[XC]]
// CHECK-NEXT: device.publish %[[DS]] to %[[X]] at %[[XC]]
// CHECK-NEXT: device.fence
// CHECK-NEXT: device.multiply %[[B:.*]], %[[DS]], %{{.*}} depth 64 transposed accumulate
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.await %[[XC]]
// CHECK-NEXT: device.fence %[[T]]
// CHECK-NEXT: device.multiply %[[T]], %[[X]] at %[[XC]], %{{.*}} depth 128 transposed shares
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.wait 0
// CHECK-NEXT: device.release
// CHECK-NEXT: device.advance
// CHECK-NEXT: device.add_tile %[[T]] to %[[MAP]][%c0_i32, %[[AT]], %{{.*}}] through %[[OUT]] shares
// CHECK-NEXT: device.release %[[XC]]
// CHECK-NEXT: device.advance %[[XC]]
// CHECK-NEXT: } {tile.fold = "q"}
device.kernel @adds "sm90a" items "k" 128 of ["h"] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "q"
  %h = device.block_index
  %Ks = device.ring "K" : !device.ring<1 x [128, 128] bf16>
  %Vs = device.ring "V" : !device.ring<1 x [128, 128] bf16>
  %Qs = device.ring "Q" : !device.ring<2 x [64, 128] bf16>
  %Os = device.ring "O" : !device.ring<2 x [64, 128] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %bc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : !sum
    %k = device.tile %Ks at %bc columns "d" : !device.ring<1 x [128, 128] bf16> -> !block
    %v = device.tile %Vs at %bc columns "d" : !device.ring<1 x [128, 128] bf16> -> !block
    %r:2 = scf.for %q0 = %c0 to %n step %c64 iter_args(%ai = %nothing, %bi = %nothing) -> (!sum, !sum) : i32 {
      %q = device.tile %Qs at %qc columns "d" : !device.ring<2 x [64, 128] bf16> -> !step
      %o = device.tile %Os at %qc columns "d" : !device.ring<2 x [64, 128] bf16> -> !step
      %t = tile.dot %v, %o over "d" stage 0 : !block, !step -> !element
      %s = tile.dot %k, %q over "d" stage 0 : !block, !step -> !element
      %p = math.exp2 %s : !element
      %da = tile.dot %p, %o over "q" stage 1 : !element, !step -> !sum
      %a = arith.addf %ai, %da : !sum
      %y = arith.mulf %t, %p : !element
      %part = tile.dot %y, %k over "k" stage 2 : !element, !block -> !part
      %memory = device.memory "Sum" : !memory
      tile.accumulate %part, %memory[%h, %q0, %c0] dims [-1, 0, 1] : !part, !memory
      %db = tile.dot %y, %q over "q" stage 1 : !element, !step -> !sum
      %b = arith.addf %bi, %db : !sum
      scf.yield %a, %b : !sum, !sum
    } {tile.fold = "q", tile.carried = ["accumulator", "accumulator"]}
  }
}

// -----

#k = #tile.axes<"k">
#kd = #tile.axes<"k", "d">
#qd = #tile.axes<"q", "d">
#kq = #tile.axes<"k", "q">
device.kernel @width "sm90a" items "k" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "q"
  %Ks = device.ring "K" : !device.ring<1 x [128, 64] bf16>
  %Qs = device.ring "Q" : !device.ring<2 x [32, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %bc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : tensor<128x64xf32, #kd>
    %k = device.tile %Ks at %bc columns "d" : !device.ring<1 x [128, 64] bf16> -> tensor<128x64xbf16, #kd>
    %r = scf.for %q0 = %c0 to %n step %c32 iter_args(%ai = %nothing) -> (tensor<128x64xf32, #kd>) : i32 {
      %q = device.tile %Qs at %qc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #qd>
      %s = tile.dot %k, %q over "d" stage 0 : tensor<128x64xbf16, #kd>, tensor<32x64xbf16, #qd> -> tensor<128x32xf32, #kq>
      %p = math.exp2 %s : tensor<128x32xf32, #kq>
      // expected-error @below {{contracts the block axis for 32 rows along "q"; on a GPU they are 64, or 64 for each of 2 warpgroups: give the axis such a width in the schedule}}
      %part = tile.dot %p, %k over "k" stage 2 : tensor<128x32xf32, #kq>, tensor<128x64xbf16, #kd> -> tensor<32x64xf32, #qd>
      %memory = device.memory "Sum" : memref<?x?xf32, strided<[?, ?], offset: ?>>
      tile.accumulate %part, %memory[%q0, %c0] dims [0, 1] : tensor<32x64xf32, #qd>, memref<?x?xf32, strided<[?, ?], offset: ?>>
      %da = tile.dot %p, %q over "q" stage 1 : tensor<128x32xf32, #kq>, tensor<32x64xbf16, #qd> -> tensor<128x64xf32, #kd>
      %a = arith.addf %ai, %da : tensor<128x64xf32, #kd>
      scf.yield %a : tensor<128x64xf32, #kd>
    } {tile.fold = "q", tile.carried = ["accumulator"]}
  }
}
