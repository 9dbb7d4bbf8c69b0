// RUN: tilewright opt %s -split-input-file -tile-nest-folds="axes=d widths=64 stages=3" | FileCheck %s
#t = #tile.axes<"t">
#v = #tile.axes<"v">
#d = #tile.axes<"d">
#td = #tile.axes<"t", "d">
#vd = #tile.axes<"v", "d">
#tv = #tile.axes<"t", "v">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>
#kernel = #tile.kernel<[<"t", block, 8>, <"v", fold, 16>, <"d", inner, 256>]>

// A dot of the step becomes a fold over chunks; it stands before what of the step it does not need. What is loaded along the axis is loaded chunk by chunk.
// CHECK-LABEL: func.func @one
// CHECK-NOT: 256xf32
// CHECK: scf.for %[[V:.*]] = {{.*}} iter_args(%[[SUM:.*]] =
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[LENGTH:.*]] = arith.constant 256 : i32
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 64 : i32
// CHECK: %[[Z:.*]] = scf.for %[[AT:.*]] = %[[ZERO]] to %[[LENGTH]] step %[[WIDTH]] iter_args(%[[Z0:.*]] = %{{.*}}) -> (tensor<8x16xf32, #{{.*}}>)
// CHECK: %[[XAT:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%{{.*}}, %[[XAT]]] dims [0, 1] : {{.*}} -> tensor<8x64xf32
// CHECK: %[[WAT:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: %[[W:.*]] = tile.load %{{.*}}[%[[V]], %[[WAT]]] dims [0, 1] : {{.*}} -> tensor<16x64xf32
// CHECK: %[[PART:.*]] = tile.dot %[[X]], %[[W]] over "d" stage 0
// CHECK: arith.addf %[[Z0]], %[[PART]]
// CHECK: } {tile.nested = "d", tile.stages = 3 : i64}
// CHECK: tile.positions
// CHECK: tile.reduce sum %[[Z]] over "v"
func.func @one(%X: !matrix {tile.tensor = "X"}, %W: !matrix {tile.tensor = "W"}, %R: !row {tile.tensor = "R"}, %nv: i32 {tile.extent = "v"},
               %t0: i32 {tile.item = "t"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<8xf32, #t>
  %x = tile.load %X[%t0, %zero] dims [0, 1] : !matrix -> tensor<8x256xf32, #td>
  %r = scf.for %v0 = %zero to %nv step %step iter_args(%sum = %none) -> (tensor<8xf32, #t>) : i32 {
    %at = tile.positions %v0 : tensor<16xi32, #v>
    %number = arith.sitofp %at : tensor<16xi32, #v> to tensor<16xf32, #v>
    %w = tile.load %W[%v0, %zero] dims [0, 1] : !matrix -> tensor<16x256xf32, #vd>
    %z = tile.dot %x, %w over "d" stage 0 : tensor<8x256xf32, #td>, tensor<16x256xf32, #vd> -> tensor<8x16xf32, #tv>
    %part = tile.reduce sum %z over "v" : tensor<8x16xf32, #tv> -> tensor<8xf32, #t>
    %next = arith.addf %sum, %part : tensor<8xf32, #t>
    scf.yield %next : tensor<8xf32, #t>
  } {tile.fold = "v"}
  tile.store %r, %R[%t0] dims [0] : tensor<8xf32, #t>, !row
  return
}

// -----

#t = #tile.axes<"t">
#d = #tile.axes<"d">
#td = #tile.axes<"t", "d">
#vd = #tile.axes<"v", "d">
#tv = #tile.axes<"t", "v">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>
#kernel = #tile.kernel<[<"t", block, 8>, <"v", fold, 16>, <"d", inner, 256>]>

// Two dots share a fold, and the chunks of the operand that both read. A third, which needs the first one, has a fold of its own behind that. Operands
// computed element by element, by coordinates and numbers along the axis too, are computed chunk by chunk.
// CHECK-LABEL: func.func @several
// CHECK: scf.for
// CHECK: %[[BOTH:.*]]:2 = scf.for %[[AT:.*]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[X:.*]] = tile.load {{.*}} -> tensor<8x64xf32
// CHECK: tile.dot %[[X]], %{{.*}} over "d"
// CHECK: %[[START:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: tile.positions %[[START]] : tensor<64xi32, #d>
// CHECK: tile.broadcast {{.*}} -> tensor<16x64xf32
// CHECK: tile.dot %[[X]], %{{.*}} over "d"
// CHECK: } {tile.nested = "d"
// CHECK: %[[ROW:.*]] = tile.reduce sum %[[BOTH]]#0 over "v"
// CHECK: %[[THIRD:.*]] = scf.for
// CHECK: tile.broadcast %[[ROW]] {{.*}} -> tensor<8x64xf32
// CHECK: } {tile.nested = "d"
// CHECK: arith.addf %[[BOTH]]#0, %[[BOTH]]#1
func.func @several(%X: !matrix {tile.tensor = "X"}, %W: !matrix {tile.tensor = "W"}, %R: !row {tile.tensor = "R"}, %nv: i32 {tile.extent = "v"}, %t0: i32 {tile.item = "t"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<8xf32, #t>
  %x = tile.load %X[%t0, %zero] dims [0, 1] : !matrix -> tensor<8x256xf32, #td>
  %r = scf.for %v0 = %zero to %nv step %step iter_args(%sum = %none) -> (tensor<8xf32, #t>) : i32 {
    %w = tile.load %W[%v0, %zero] dims [0, 1] : !matrix -> tensor<16x256xf32, #vd>
    %a = tile.dot %x, %w over "d" stage 0 : tensor<8x256xf32, #td>, tensor<16x256xf32, #vd> -> tensor<8x16xf32, #tv>
    %at = tile.positions %zero : tensor<256xi32, #d>
    %number = arith.sitofp %at : tensor<256xi32, #d> to tensor<256xf32, #d>
    %wide = tile.broadcast %number : tensor<256xf32, #d> -> tensor<16x256xf32, #vd>
    %scaled = arith.mulf %w, %wide : tensor<16x256xf32, #vd>
    %b = tile.dot %x, %scaled over "d" stage 0 : tensor<8x256xf32, #td>, tensor<16x256xf32, #vd> -> tensor<8x16xf32, #tv>
    %row = tile.reduce sum %a over "v" : tensor<8x16xf32, #tv> -> tensor<8xf32, #t>
    %spread = tile.broadcast %row : tensor<8xf32, #t> -> tensor<8x256xf32, #td>
    %y = arith.addf %x, %spread : tensor<8x256xf32, #td>
    %c = tile.dot %y, %w over "d" stage 0 : tensor<8x256xf32, #td>, tensor<16x256xf32, #vd> -> tensor<8x16xf32, #tv>
    %ab = arith.addf %a, %b : tensor<8x16xf32, #tv>
    %abc = arith.addf %ab, %c : tensor<8x16xf32, #tv>
    %part = tile.reduce sum %abc over "v" : tensor<8x16xf32, #tv> -> tensor<8xf32, #t>
    %next = arith.addf %sum, %part : tensor<8xf32, #t>
    scf.yield %next : tensor<8xf32, #t>
  } {tile.fold = "v"}
  tile.store %r, %R[%t0] dims [0] : tensor<8xf32, #t>, !row
  return
}
