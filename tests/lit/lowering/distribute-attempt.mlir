// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse -verify-diagnostics | FileCheck %s
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#dk = #tile.axes<"d", "k">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!row = tensor<64xf32, #q>
!element = tensor<64x32xf32, #qk>
!sum = tensor<64x16xf32, #qe>

// The quick way in the step's registers; where a row of the warp refuses what it made, the warp computes the dot again by itself and goes the
// exact way, else only what the quick way carries on is taken. After two such votes an item's steps take the exact way at once. The tile is given back behind the vote, and both ways leave their weights in the
// same registers, so that the accumulating dot is one.
// CHECK-LABEL: device.kernel @attempt
// CHECK: device.consumers 1 registers 240 {
// CHECK: %[[REFUSED:.*]] = device.registers "refused" : !device.rows<i1>
// CHECK: %[[WARNED:.*]] = device.registers "warned" : !device.rows<i1>
// CHECK: %[[SPENT:.*]] = device.registers "spent" : !device.rows<i1>
// CHECK: device.fill %[[WARNED]] with %false
// CHECK: device.fill %[[SPENT]] with %false
// CHECK: device.await %[[QC:[a-z0-9]+]]
// CHECK-NEXT: device.fill %[[TOP:[a-z0-9]+]] with %cst_1
// CHECK-NEXT: device.fill %[[TOTAL:[a-z0-9]+]] with %cst_0
// CHECK-NEXT: device.fill %[[ACC:[a-z0-9]+]] with %cst_0
// CHECK: scf.for
// CHECK-NEXT: device.await %[[KC:[a-z0-9]+]] {
// CHECK: device.multiply %[[S:[a-z0-9]+]], %[[Q:[a-z0-9]+]] at %[[QC]], %[[K:[a-z0-9]+]] at %[[KC]] depth 64
// CHECK: device.wait 0 %[[S]]
// CHECK-NEXT: %[[AT_ONCE:.*]] = device.any %[[SPENT]] uniform
// CHECK-NEXT: %[[EXACT:.*]] = scf.if %[[AT_ONCE]] -> (i1) {
// CHECK-NEXT: scf.yield %true
// CHECK-NEXT: } else {
// CHECK-NEXT: device.each_element 32 {
// CHECK: device.get %[[TOP]]
// CHECK: device.combine sum %[[W:[a-z0-9]+]] into %[[SUM:[a-z0-9]+]] lanes
// CHECK-NEXT: device.set %[[W]] in %[[S]]
// CHECK: device.each_row {
// CHECK: %[[SMALL:.*]] = arith.cmpf olt, %{{.*}}, %cst :
// CHECK: device.set %{{.*}} in %[[NEW:[a-z0-9]+]] : f32
// CHECK: device.set %[[SMALL]] in %[[HOLDS:[a-z0-9]+]] : i1
// CHECK: device.each_row {
// CHECK-NEXT: %[[H:.*]] = device.get %[[HOLDS]]
// CHECK-NEXT: %[[NOT:.*]] = arith.xori %[[H]], %true
// CHECK-NEXT: device.set %[[NOT]] in %[[REFUSED]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[ANY:.*]] = device.any %[[REFUSED]]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: device.repeat %[[S]], %[[Q]] at %[[QC]], %[[K]] at %[[KC]] depth 64
// CHECK-NEXT: device.each_row {
// CHECK-NEXT: %[[BEFORE:.*]] = device.get %[[WARNED]]
// CHECK-NEXT: device.set %[[BEFORE]] in %[[SPENT]]
// CHECK-NEXT: device.set %true in %[[WARNED]]
// CHECK-NEXT: }
// CHECK-NEXT: } else {
// CHECK-NEXT: device.each_row {
// CHECK-NEXT: %[[L:.*]] = device.get %[[NEW]]
// CHECK-NEXT: device.set %[[L]] in %[[TOTAL]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[ANY]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.if %[[EXACT]] {
// CHECK: device.combine max
// CHECK: arith.maximumf
// CHECK: device.combine sum %[[W:[a-z0-9]+]] into %{{.*}} lanes
// CHECK-NEXT: device.set %[[W]] in %[[S]]
// CHECK: device.each_element 16 {
// CHECK: device.set %{{.*}} in %[[ACC]]
// CHECK: device.set %{{.*}} in %[[TOP]]
// CHECK: device.set %{{.*}} in %[[TOTAL]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.advance %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.pack %[[S]] into %[[P:[a-z0-9]+]]
// CHECK: device.multiply %[[ACC]], %[[P]],
// CHECK-NOT: device.multiply
// CHECK: device.join sum %[[TOTAL]]
device.kernel @attempt "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "k"
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
    %lowest = arith.constant dense<0xFF800000> : !row
    %limit = arith.constant dense<1000.0> : !row
    %none = arith.constant dense<0.0> : !row
    %nothing = arith.constant dense<0.0> : !sum
    %q0 = device.block_index
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %r:3 = scf.for %k0 = %c0 to %n step %c32 iter_args(%mi = %lowest, %li = %none, %ai = %nothing) -> (!row, !row, !sum) : i32 {
      %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
      %v = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
      %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> !element
      %m1, %l1, %a1 = tile.attempt -> (!row, !row, !sum) {
        %olds = tile.broadcast %mi : !row -> !element
        %z = arith.subf %s, %olds : !element
        %w = math.exp2 %z : !element
        %sum = tile.reduce sum %w over "k" : !element -> !row
        %l = arith.addf %li, %sum : !row
        %d = tile.dot %w, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %a = arith.addf %ai, %d : !sum
        %small = arith.cmpf olt, %sum, %limit : !row
        tile.propose %small, %mi, %l, %a : tensor<64xi1, #q>, !row, !row, !sum
      } otherwise {
        %max = tile.reduce max %s over "k" : !element -> !row
        %top = arith.maximumf %mi, %max : !row
        %dm = arith.subf %mi, %top : !row
        %shrink = math.exp2 %dm : !row
        %tops = tile.broadcast %top : !row -> !element
        %z = arith.subf %s, %tops : !element
        %w = math.exp2 %z : !element
        %sum = tile.reduce sum %w over "k" : !element -> !row
        %ls = arith.mulf %li, %shrink : !row
        %l = arith.addf %ls, %sum : !row
        %d = tile.dot %w, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %shrinks = tile.broadcast %shrink : !row -> !sum
        %a = math.fma %ai, %shrinks, %d : !sum
        tile.yield %top, %l, %a : !row, !row, !sum
      }
      scf.yield %m1, %l1, %a1 : !row, !row, !sum
    } {tile.fold = "k", tile.carried = ["value", "sum", "accumulator"]}
    %O = device.memory "O" : memref<?x?xbf16, strided<[?, ?], offset: ?>>
    %lse = device.memory "lse" : memref<?xf32, strided<[?], offset: ?>>
    %o = arith.truncf %r#2 : !sum to tensor<64x16xbf16, #qe>
    tile.store %o, %O[%q0, %c0] dims [0, 1] : tensor<64x16xbf16, #qe>, memref<?x?xbf16, strided<[?, ?], offset: ?>>
    tile.store %r#1, %lse[%q0] dims [0] : !row, memref<?xf32, strided<[?], offset: ?>>
  }
}

// A warp can repeat a dot whose operands are contracted along their last dimension. Where it cannot, the exact way is taken at once.
// CHECK-LABEL: device.kernel @not_repeatable
// CHECK: device.multiply %{{.*}} depth 64 transposed
// CHECK: device.combine max
// CHECK-NOT: device.any
// CHECK-NOT: device.repeat
// CHECK: device.multiply
device.kernel @not_repeatable "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "k"
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [64, 32] bf16>
  %Vs = device.ring "V" : !device.ring<2 x [32, 16] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %lowest = arith.constant dense<0xFF800000> : !row
    %limit = arith.constant dense<1000.0> : !row
    %none = arith.constant dense<0.0> : !row
    %nothing = arith.constant dense<0.0> : !sum
    %q0 = device.block_index
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %r:3 = scf.for %k0 = %c0 to %n step %c32 iter_args(%mi = %lowest, %li = %none, %ai = %nothing) -> (!row, !row, !sum) : i32 {
      %k = device.tile %Ks at %kc columns "k" : !device.ring<2 x [64, 32] bf16> -> tensor<64x32xbf16, #dk>
      %v = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
      // expected-remark @below {{is no dot that a warp can repeat by itself, so the stabiliser of its step is not held: both operands would have to be tiles contracted along their last dimension}}
      %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<64x32xbf16, #dk> -> !element
      %m1, %l1, %a1 = tile.attempt -> (!row, !row, !sum) {
        %olds = tile.broadcast %mi : !row -> !element
        %z = arith.subf %s, %olds : !element
        %w = math.exp2 %z : !element
        %sum = tile.reduce sum %w over "k" : !element -> !row
        %l = arith.addf %li, %sum : !row
        %d = tile.dot %w, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %a = arith.addf %ai, %d : !sum
        %small = arith.cmpf olt, %sum, %limit : !row
        tile.propose %small, %mi, %l, %a : tensor<64xi1, #q>, !row, !row, !sum
      } otherwise {
        %max = tile.reduce max %s over "k" : !element -> !row
        %top = arith.maximumf %mi, %max : !row
        %dm = arith.subf %mi, %top : !row
        %shrink = math.exp2 %dm : !row
        %tops = tile.broadcast %top : !row -> !element
        %z = arith.subf %s, %tops : !element
        %w = math.exp2 %z : !element
        %sum = tile.reduce sum %w over "k" : !element -> !row
        %ls = arith.mulf %li, %shrink : !row
        %l = arith.addf %ls, %sum : !row
        %d = tile.dot %w, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
        %shrinks = tile.broadcast %shrink : !row -> !sum
        %a = math.fma %ai, %shrinks, %d : !sum
        tile.yield %top, %l, %a : !row, !row, !sum
      }
      scf.yield %m1, %l1, %a1 : !row, !row, !sum
    } {tile.fold = "k", tile.carried = ["value", "sum", "accumulator"]}
    %O = device.memory "O" : memref<?x?xbf16, strided<[?, ?], offset: ?>>
    %lse = device.memory "lse" : memref<?xf32, strided<[?], offset: ?>>
    %o = arith.truncf %r#2 : !sum to tensor<64x16xbf16, #qe>
    tile.store %o, %O[%q0, %c0] dims [0, 1] : tensor<64x16xbf16, #qe>, memref<?x?xbf16, strided<[?, ?], offset: ?>>
    tile.store %r#1, %lse[%q0] dims [0] : !row, memref<?xf32, strided<[?], offset: ?>>
  }
}
