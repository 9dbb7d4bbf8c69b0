// RUN: tilewright opt %s -device-distribute-tiles=interleave=true -canonicalize -cse | FileCheck %s
#k = #tile.axes<"k">
#q = #tile.axes<"q">
#kd = #tile.axes<"k", "d">
#qd = #tile.axes<"q", "d">
#kq = #tile.axes<"k", "q">
!element = tensor<64x32xf32, #kq>
!block = tensor<64x64xbf16, #kd>
!step = tensor<32x64xbf16, #qd>
!sum = tensor<64x64xf32, #kd>

// Each dot is issued as soon as its operands are there: both of stage 0 at once, first the one on whose result alone there is work to do.
// That work runs under the other one. Then its result is multiplied, and so is what both results make; operands of dots in flight lie apart.
// CHECK-LABEL: device.kernel @step
// CHECK-DAG: %[[K:.*]] = device.ring "K"
// CHECK-DAG: %[[V:.*]] = device.ring "V"
// CHECK-DAG: %[[Q:.*]] = device.ring "Q"
// CHECK-DAG: %[[O:.*]] = device.ring "O"
// CHECK-DAG: %[[BC:.*]] = device.cursor "K"
// CHECK-DAG: %[[QC:.*]] = device.cursor "Q"
// CHECK-DAG: %[[WC:.*]] = device.cursor "w"
// CHECK: scf.for
// CHECK-NEXT: device.await %[[QC]]
// CHECK-NEXT: device.fence %[[S:[a-z0-9_]+]] :
// CHECK-NEXT: device.multiply %[[S]], %[[K]] at %[[BC]], %[[Q]] at %[[QC]] depth 64
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.fence %[[T:[a-z0-9_]+]] :
// CHECK-NEXT: device.multiply %[[T]], %[[V]] at %[[BC]], %[[O]] at %[[QC]] depth 64
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.await %[[WC]]
// CHECK-NEXT: device.wait 1 %[[S]] :
// CHECK-NEXT: device.each_element 32 {
// CHECK-NOT: device.get %[[T]]
// CHECK: math.exp2
// CHECK: }
// CHECK-NEXT: device.pack %[[S]] into %[[PACKED:[a-z0-9_]+]]
// CHECK-NEXT: device.fence %[[A:[a-z0-9_]+]], %[[PACKED]] :
// CHECK-NEXT: device.multiply %[[A]], %[[PACKED]], %[[O]] at %[[QC]] depth 32 transposed accumulate
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.wait 1 %[[T]] :
// CHECK-NEXT: device.each_element 32 {
// CHECK: device.get %[[T]]
// CHECK: }
// CHECK-NEXT: device.pack %{{.*}} into %[[OTHER:[a-z0-9_]+]]
// CHECK-NEXT: device.fence %[[B:[a-z0-9_]+]], %[[OTHER]] :
// CHECK-NEXT: device.multiply %[[B]], %[[OTHER]], %[[Q]] at %[[QC]] depth 32 transposed accumulate
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.release %[[WC]]
// CHECK-NEXT: device.advance %[[WC]]
// CHECK-NEXT: device.wait 0 %[[A]], %[[PACKED]], %[[B]], %[[OTHER]] :
// CHECK-NEXT: device.release %[[QC]]
// CHECK-NEXT: device.advance %[[QC]]
// CHECK-NEXT: } {tile.fold = "q"}
device.kernel @step "sm90a" items "k" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "q"
  %Ks = device.ring "K" : !device.ring<1 x [64, 64] bf16>
  %Vs = device.ring "V" : !device.ring<1 x [64, 64] bf16>
  %Qs = device.ring "Q" : !device.ring<2 x [32, 64] bf16>
  %Os = device.ring "O" : !device.ring<2 x [32, 64] bf16>
  %ws = device.ring "w" : !device.ring<2 x [32] f32>
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<2>
  %wb = device.barriers "w" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %bc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    %wc = device.cursor "w" on %wb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : !sum
    %k = device.tile %Ks at %bc columns "d" : !device.ring<1 x [64, 64] bf16> -> !block
    %v = device.tile %Vs at %bc columns "d" : !device.ring<1 x [64, 64] bf16> -> !block
    %r:2 = scf.for %q0 = %c0 to %n step %c32 iter_args(%ai = %nothing, %bi = %nothing) -> (!sum, !sum) : i32 {
      %q = device.tile %Qs at %qc columns "d" : !device.ring<2 x [32, 64] bf16> -> !step
      %o = device.tile %Os at %qc columns "d" : !device.ring<2 x [32, 64] bf16> -> !step
      %t = tile.dot %v, %o over "d" stage 0 : !block, !step -> !element
      %s = tile.dot %k, %q over "d" stage 0 : !block, !step -> !element
      %w = device.tile %ws at %wc columns "q" : !device.ring<2 x [32] f32> -> tensor<32xf32, #q>
      %wide = tile.broadcast %w : tensor<32xf32, #q> -> !element
      %x = arith.subf %s, %wide : !element
      %p = math.exp2 %x : !element
      %da = tile.dot %p, %o over "q" stage 1 : !element, !step -> !sum
      %a = arith.addf %ai, %da : !sum
      %y = arith.mulf %t, %p : !element
      %db = tile.dot %y, %q over "q" stage 1 : !element, !step -> !sum
      %b = arith.addf %bi, %db : !sum
      scf.yield %a, %b : !sum, !sum
    } {tile.fold = "q", tile.carried = ["accumulator", "accumulator"]}
  }
}

// Two dots in one sum: the second goes on with what the first, still in flight, accumulates, so that no fence names that.
// CHECK-LABEL: device.kernel @one_sum
// CHECK: device.pack %{{.*}} into %[[PACKED:[a-z0-9_]+]]
// CHECK-NEXT: device.fence %[[A:[a-z0-9_]+]], %[[PACKED]] :
// CHECK-NEXT: device.multiply %[[A]], %[[PACKED]], {{.*}} depth 32 transposed accumulate
// CHECK: device.pack %{{.*}} into %[[OTHER:[a-z0-9_]+]]
// CHECK-NEXT: device.fence %[[OTHER]] :
// CHECK-NEXT: device.multiply %[[A]], %[[OTHER]], {{.*}} depth 32 transposed accumulate
// CHECK-NEXT: device.commit
// CHECK: device.wait 0 %[[A]], %[[PACKED]], %[[OTHER]] :
device.kernel @one_sum "sm90a" items "k" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "q"
  %Ks = device.ring "K" : !device.ring<1 x [64, 64] bf16>
  %Vs = device.ring "V" : !device.ring<1 x [64, 64] bf16>
  %Qs = device.ring "Q" : !device.ring<2 x [32, 64] bf16>
  %Os = device.ring "O" : !device.ring<2 x [32, 64] bf16>
  %ws = device.ring "w" : !device.ring<2 x [32] f32>
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<2>
  %wb = device.barriers "w" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %bc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    %wc = device.cursor "w" on %wb phase 0 : !device.barriers<2>
    %nothing = arith.constant dense<0.0> : !sum
    %k = device.tile %Ks at %bc columns "d" : !device.ring<1 x [64, 64] bf16> -> !block
    %v = device.tile %Vs at %bc columns "d" : !device.ring<1 x [64, 64] bf16> -> !block
    %r = scf.for %q0 = %c0 to %n step %c32 iter_args(%ai = %nothing) -> (!sum) : i32 {
      %q = device.tile %Qs at %qc columns "d" : !device.ring<2 x [32, 64] bf16> -> !step
      %o = device.tile %Os at %qc columns "d" : !device.ring<2 x [32, 64] bf16> -> !step
      %t = tile.dot %v, %o over "d" stage 0 : !block, !step -> !element
      %s = tile.dot %k, %q over "d" stage 0 : !block, !step -> !element
      %w = device.tile %ws at %wc columns "q" : !device.ring<2 x [32] f32> -> tensor<32xf32, #q>
      %wide = tile.broadcast %w : tensor<32xf32, #q> -> !element
      %x = arith.subf %s, %wide : !element
      %p = math.exp2 %x : !element
      %da = tile.dot %p, %o over "q" stage 1 : !element, !step -> !sum
      %a = arith.addf %ai, %da : !sum
      %y = arith.mulf %t, %p : !element
      %db = tile.dot %y, %q over "q" stage 1 : !element, !step -> !sum
      %b = arith.addf %a, %db : !sum
      scf.yield %b : !sum
    } {tile.fold = "q", tile.carried = ["accumulator"]}
  }
}
