// RUN: tilewright opt %s -tile-absolute-tangents | FileCheck %s
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = memref<?xf32, strided<[?], offset: ?>>
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
#kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>]>

// Only exponentials see it, and a maximum that a logarithm is added to. The factor joins the one that was there; the mask, the maximum and the exponent take the quotient.
// CHECK-LABEL: func.func @exponential(
// CHECK-SAME: %[[C:[a-z0-9]+]]: f32
// CHECK: %[[BOTH:.*]] = arith.mulf %[[C]], %{{.*}} : f32
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[WIDE:.*]] = tile.broadcast %[[BOTH]] : f32
// CHECK: %[[SCALED:.*]] = arith.mulf %[[X]], %[[WIDE]]
// CHECK: %[[POWER:.*]] = math.exp2 %[[SCALED]]
// CHECK: %[[BELOW:.*]] = arith.subf %{{.*}}, %[[POWER]]
// CHECK: %[[U:.*]] = arith.divf %{{.*}}, %[[BELOW]]
// CHECK-NOT: math.tanh
// CHECK: %[[M:.*]] = tile.mask %[[U]] at
// CHECK: %[[MAX:.*]] = tile.reduce max %[[M]]
// CHECK: %[[TOP:.*]] = math.fma %[[MAX]], %{{.*}}, %{{.*}} : tensor<4xf32
// CHECK: %[[NEW:.*]] = arith.maximumf %{{.*}}, %[[TOP]]
// CHECK: %[[BASE:.*]] = arith.mulf
// CHECK: %[[SUM:.*]] = arith.addf %[[BASE]], %{{.*}} : tensor<4xf32
// CHECK: %[[ROW:.*]] = tile.broadcast %[[SUM]]
// CHECK: %[[Z:.*]] = math.fma %[[M]], %{{.*}}, %[[ROW]]
// CHECK: math.exp2 %[[Z]]
func.func @exponential(%c: f32 {tile.scalar = "c"}, %X: !matrix {tile.tensor = "X"}, %E: !row {tile.tensor = "E"}, %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %cap = arith.constant dense<5.0> : tensor<4x8xf32, #qk>
  %caps = arith.constant dense<-5.0> : tensor<4xf32, #q>
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %m, %l = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none) -> (tensor<4xf32, #q>, tensor<4xf32, #q>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %cs = tile.broadcast %c : f32 -> tensor<4x8xf32, #qk>
    %y = arith.mulf %x, %cs : tensor<4x8xf32, #qk>
    %t = math.tanh %y : tensor<4x8xf32, #qk>
    %kept = tile.mask %t at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : tensor<4x8xf32, #qk>
    %r = tile.reduce max %kept over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %new = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %some = arith.cmpf olt, %lowest, %new : tensor<4xf32, #q>
    %base = arith.select %some, %new, %none : tensor<4xi1, #q>, tensor<4xf32, #q>
    %low = arith.mulf %base, %caps : tensor<4xf32, #q>
    %wide = tile.broadcast %low : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = math.fma %kept, %cap, %wide : tensor<4x8xf32, #qk>
    %w = math.exp2 %z : tensor<4x8xf32, #qk>
    %s = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %li, %s : tensor<4xf32, #q>
    scf.yield %new, %total : tensor<4xf32, #q>, tensor<4xf32, #q>
  } {tile.fold = "k"}
  %log = math.log %l : tensor<4xf32, #q>
  %lse = arith.addf %m, %log : tensor<4xf32, #q>
  tile.store %lse, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// What is stored by itself, or multiplied by what comes of it, counts by its size; and who asks for one instruction gets it.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: math.tanh
func.func @kept(%X: !matrix {tile.tensor = "X"}, %O: !matrix {tile.tensor = "O"}, %P: !matrix {tile.tensor = "P"}, %R: !matrix {tile.tensor = "R"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
  %t = math.tanh %x : tensor<4x8xf32, #qk>
  tile.store %t, %O[%q0, %zero] dims [0, 1] : tensor<4x8xf32, #qk>, !matrix
  %y = arith.addf %x, %x : tensor<4x8xf32, #qk>
  %u = math.tanh %y : tensor<4x8xf32, #qk>
  %square = arith.mulf %u, %u : tensor<4x8xf32, #qk>
  %e = math.exp2 %square : tensor<4x8xf32, #qk>
  tile.store %e, %P[%q0, %zero] dims [0, 1] : tensor<4x8xf32, #qk>, !matrix
  %fast = math.tanh %x fastmath<afn> : tensor<4x8xf32, #qk>
  %f = math.exp2 %fast : tensor<4x8xf32, #qk>
  tile.store %f, %R[%q0, %zero] dims [0, 1] : tensor<4x8xf32, #qk>, !matrix
  return
}
