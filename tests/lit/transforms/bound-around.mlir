// RUN: tilewright opt -tile-bound-folds -canonicalize -cse -split-input-file %s | FileCheck %s
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// Turns of the loop around a fold in which masks keep nothing are left out: h / g = v.
// CHECK-LABEL: func.func @quotients
// CHECK-SAME: %[[H:[a-z0-9]+]]: i32 {tile.scalar = "H"}, %[[G:[a-z0-9]+]]: i32 {tile.scalar = "g"}, %[[V:[a-z0-9]+]]: i32 {tile.scalar = "v"}
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[BEFORE:.*]] = arith.constant -1 : i32
// CHECK: %[[SAFE:.*]] = arith.maxsi %[[G]], %[[ONE]]
// CHECK: %[[LAST:.*]] = arith.floordivsi %[[H]], %[[SAFE]]
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[V]], %[[LAST]]
// CHECK: %[[LEAST:.*]] = arith.minsi %[[V]], %[[LAST]]
// CHECK: %[[MOST:.*]] = arith.maxsi %[[LEAST]], %[[BEFORE]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[MOST]], %[[ONE]]
// CHECK: %[[PAST:.*]] = arith.muli %[[NEXT]], %[[G]]
// CHECK: %[[CUT:.*]] = arith.select %[[BELOW]], %[[PAST]], %[[H]]
// CHECK: %[[DIVIDES:.*]] = arith.cmpi sgt, %[[G]], %[[ZERO]]
// CHECK: %[[END:.*]] = arith.select %[[DIVIDES]], %[[CUT]], %[[H]]
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[G]]
// CHECK: %[[FROM:.*]] = arith.select %[[DIVIDES]], %[[FIRST]], %[[ZERO]]
// CHECK: %[[BEGIN:.*]] = arith.maxsi %[[FROM]], %[[ZERO]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %[[ONE]]
// CHECK-NOT: tile.mask
func.func @quotients(%X: !memory {tile.tensor = "X"}, %O: memref<?xf32> {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %H: i32 {tile.scalar = "H"},
    %g: i32 {tile.scalar = "g"}, %v: i32 {tile.scalar = "v"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %sum = scf.for %h = %zero to %H step %one iter_args(%carried = %nothing) -> (!row) : i32 {
    %quotient = arith.floordivsi %h, %g : i32
    %above = arith.subi %quotient, %v : i32
    %below = arith.subi %v, %quotient : i32
    %s = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %carried) -> (!row) : i32 {
      %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
      %kept = tile.mask %x at(%q0, %k0) planes [0, 0, 0, 0] rest(%above, %below) else 0.0 : f32 : !element
      %r = tile.reduce sum %kept over "k" : !element -> !row
      %n = arith.addf %li, %r : !row
      scf.yield %n : !row
    } {tile.fold = "k"}
    scf.yield %s : !row
  }
  tile.store %sum, %O[%q0] dims [0] : !row, memref<?xf32>
  return
}

// -----
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A turn that changes what is carried besides stays.
// CHECK-LABEL: func.func @changes
// CHECK-SAME: %[[H:[a-z0-9]+]]: i32 {tile.scalar = "H"}
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[H]] step
func.func @changes(%X: !memory {tile.tensor = "X"}, %O: memref<?xf32> {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %H: i32 {tile.scalar = "H"},
    %v: i32 {tile.scalar = "v"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %more = arith.constant dense<1.0> : !row
  %sum = scf.for %h = %zero to %H step %one iter_args(%carried = %nothing) -> (!row) : i32 {
    %above = arith.subi %h, %v : i32
    %s = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %carried) -> (!row) : i32 {
      %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
      %kept = tile.mask %x at(%q0, %k0) planes [0, 0] rest(%above) else 0.0 : f32 : !element
      %r = tile.reduce sum %kept over "k" : !element -> !row
      %n = arith.addf %li, %r : !row
      scf.yield %n : !row
    } {tile.fold = "k"}
    %other = arith.addf %s, %more : !row
    scf.yield %other : !row
  }
  tile.store %sum, %O[%q0] dims [0] : !row, memref<?xf32>
  return
}
