// RUN: tilewright opt %s -tile-hold-stabiliser | FileCheck %s
// RUN: tilewright opt %s -tile-hold-stabiliser=limit=100 | FileCheck %s --check-prefix=LIMIT
// RUN: tilewright opt %s -tile-drop-stabilisers | FileCheck %s --check-prefix=DROP
// DROP-NOT: tile.stabiliser
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf16, strided<[?, ?], offset: ?>>
!results = memref<?x?xf32, strided<[?, ?], offset: ?>>
#kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"d", inner, 2>, <"e", inner, 2>]>

// The quick way has no search for a maximum and no rescaling; loads and the first dot serve both ways.
// CHECK-LABEL: func.func @relative_weights
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}})
// CHECK-NEXT: tile.load
// CHECK-NEXT: %[[V:.*]] = tile.load
// CHECK-NEXT: %[[S:.*]] = tile.dot {{.*}} stage 0
// CHECK-NEXT: %[[R:.*]]:3 = tile.attempt
// CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[M]]
// CHECK-NEXT: %[[Z:.*]] = arith.subf %[[S]], %[[B]]
// CHECK-NEXT: %[[W:.*]] = math.exp2 %[[Z]]
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce sum %[[W]] over "k"
// CHECK-NEXT: %[[TOTAL:.*]] = arith.addf %[[L]], %[[SUM]]
// CHECK-NEXT: %[[P:.*]] = tile.dot %[[W]], %[[V]] over "k" stage 1
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[ACC]], %[[P]]
// CHECK-NEXT: %[[BOUND:.*]] = arith.constant dense<3.276800e+04> : tensor<4xf32, #q>
// CHECK-NEXT: %[[SMALL:.*]] = arith.cmpf olt, %[[SUM]], %[[BOUND]]
// CHECK-NEXT: %[[ABS:.*]] = math.absf %[[M]]
// CHECK-NEXT: %[[INF:.*]] = arith.constant dense<0x7F800000> : tensor<4xf32, #q>
// CHECK-NEXT: %[[FINITE:.*]] = arith.cmpf olt, %[[ABS]], %[[INF]]
// CHECK-NEXT: %[[GUARD:.*]] = arith.andi %[[SMALL]], %[[FINITE]] : tensor<4xi1, #q>
// CHECK-NEXT: tile.propose %[[GUARD]], %[[M]], %[[TOTAL]], %[[A]]
// CHECK-NEXT: } otherwise {
// CHECK-NEXT: %[[MAX:.*]] = tile.reduce max %[[S]] over "k"
// CHECK: %[[TOP:.*]] = tile.stabiliser
// CHECK: math.exp2
// CHECK: math.exp2
// CHECK: tile.dot {{.*}} stage 1
// CHECK: math.fma %[[ACC]]
// CHECK: tile.yield %[[TOP]],
// CHECK: scf.yield %[[R]]#0, %[[R]]#1, %[[R]]#2
// LIMIT-LABEL: func.func @relative_weights
// LIMIT: tile.attempt
// LIMIT: arith.constant dense<1.000000e+02> : tensor<4xf32, #q>
func.func @relative_weights(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %V: !matrix {tile.tensor = "V"}, %O: !results {tile.tensor = "O"},
                            %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x2xf16, #qd>
  %m, %l, %acc = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none, %ai = %nothing) -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %y = tile.load %Y[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf16, #kd>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf16, #ke>
    %s = tile.dot %x, %y over "d" stage 0 : tensor<4x2xf16, #qd>, tensor<8x2xf16, #kd> -> tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %some = arith.cmpf olt, %lowest, %top : tensor<4xf32, #q>
    %base = arith.select %some, %top, %none : tensor<4xi1, #q>, tensor<4xf32, #q>
    %be = tile.broadcast %base : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %be : tensor<4x8xf32, #qk>
    %w = math.exp2 %z : tensor<4x8xf32, #qk>
    %d = arith.subf %mi, %base : tensor<4xf32, #q>
    %shrink = math.exp2 %d : tensor<4xf32, #q>
    %ls = arith.mulf %li, %shrink : tensor<4xf32, #q>
    %sum = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %ls, %sum : tensor<4xf32, #q>
    %p = tile.dot %w, %v over "k" stage 1 : tensor<4x8xf32, #qk>, tensor<8x2xf16, #ke> -> tensor<4x2xf32, #qe>
    %se = tile.broadcast %shrink : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
    %a = math.fma %ai, %se, %p : tensor<4x2xf32, #qe>
    scf.yield %top, %total, %a : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.carried = ["value", "sum", "accumulator"], tile.fold = "k", tile.range = "full"}
  %le = tile.broadcast %l : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
  %o = arith.divf %acc, %le : tensor<4x2xf32, #qe>
  tile.store %o, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !results
  return
}

// A factor made of the length of an inner axis is finite, so exp2((m - m) · factor) is 1: nothing is rescaled, in a
// fold without a second dot too.
// CHECK-LABEL: func.func @finite_factor
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK: tile.attempt
// CHECK: %[[W:.*]] = math.exp2
// CHECK-NEXT: %[[SUM:.*]] = tile.reduce sum %[[W]] over "k"
// CHECK-NEXT: %[[TOTAL:.*]] = arith.addf %[[L]], %[[SUM]]
// CHECK-NEXT: arith.constant dense<9.99999984E+17>
// CHECK: tile.propose %{{.*}}, %[[M]], %[[TOTAL]]
func.func @finite_factor(%X: !matrix {tile.tensor = "X"}, %O: memref<?xf32, strided<[?], offset: ?>> {tile.tensor = "O"},
                         %nk: i32 {tile.extent = "k"}, %nd: i32 {tile.extent = "d"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %length = arith.sitofp %nd : i32 to f32
  %root = math.sqrt %length : f32
  %factor = arith.divf %one, %root : f32
  %row = tile.broadcast %factor : f32 -> tensor<4xf32, #q>
  %m, %l = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none) -> (tensor<4xf32, #q>, tensor<4xf32, #q>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf16, #qk>
    %s = arith.extf %x : tensor<4x8xf16, #qk> to tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %te : tensor<4x8xf32, #qk>
    %fe = tile.broadcast %factor : f32 -> tensor<4x8xf32, #qk>
    %fz = arith.mulf %z, %fe : tensor<4x8xf32, #qk>
    %w = math.exp2 %fz : tensor<4x8xf32, #qk>
    %sum = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %d = arith.subf %mi, %top : tensor<4xf32, #q>
    %fd = arith.mulf %d, %row : tensor<4xf32, #q>
    %shrink = math.exp2 %fd : tensor<4xf32, #q>
    %ls = arith.mulf %li, %shrink : tensor<4xf32, #q>
    %total = arith.addf %ls, %sum : tensor<4xf32, #q>
    scf.yield %top, %total : tensor<4xf32, #q>, tensor<4xf32, #q>
  } {tile.carried = ["value", "sum"], tile.fold = "k", tile.range = "full"}
  tile.store %l, %O[%q0] dims [0] : tensor<4xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  return
}
