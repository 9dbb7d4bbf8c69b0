// RUN: tilewright opt %s -split-input-file -tile-split-passes="axis=e width=32" | FileCheck %s
#q = #tile.axes<"q">
#qe = #tile.axes<"q", "e">
#ke = #tile.axes<"k", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>

// The whole kernel stands in a loop over parts of e: what runs along e is loaded, computed and stored a part at a time, what does not as before.
// CHECK-LABEL: func.func @passes
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NOT: 64xf32
// CHECK: %[[NOTHING:.*]] = arith.constant dense<0.000000e+00> : tensor<4x32xf32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[NOTHING]]) -> (tensor<4x32xf32
// CHECK: tile.load {{.*}} -> tensor<4x8xf32
// CHECK: %[[VAT:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[VAT]]] dims [0, 1] : {{.*}} -> tensor<8x32xf32
// CHECK: tile.dot {{.*}} -> tensor<4x32xf32
// CHECK: } {tile.fold = "k"}
// CHECK: %[[OAT:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: tile.store %{{.*}}[%{{.*}}, %[[OAT]]] dims [0, 1] : tensor<4x32xf32
// CHECK: tile.store %{{.*}} dims [0] : tensor<4xf32
// CHECK: } {tile.pass = "e"}
// CHECK-NEXT: return
func.func @passes(%P: !matrix {tile.tensor = "P"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"}, %R: !row {tile.tensor = "R"}, %nk: i32 {tile.extent = "k"},
                  %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"e", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %one = arith.constant dense<1.0> : tensor<4xf32, #q>
  %nothing = arith.constant dense<0.0> : tensor<4x64xf32, #qe>
  %acc = scf.for %k0 = %zero to %nk step %step iter_args(%a = %nothing) -> (tensor<4x64xf32, #qe>) : i32 {
    %p = tile.load %P[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x64xf32, #ke>
    %d = tile.dot %p, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x64xf32, #ke> -> tensor<4x64xf32, #qe>
    %next = arith.addf %a, %d : tensor<4x64xf32, #qe>
    scf.yield %next : tensor<4x64xf32, #qe>
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x64xf32, #qe>, !matrix
  tile.store %one, %R[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// -----

#qe = #tile.axes<"q", "e">
#ke = #tile.axes<"k", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>

// An axis that a dot contracts is left to tile-nest-folds.
// CHECK-LABEL: func.func @contracted
// CHECK-NOT: scf.for
func.func @contracted(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %S: !matrix {tile.tensor = "S"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"e", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x64xf32, #qe>
  %y = tile.load %Y[%zero, %zero] dims [0, 1] : !matrix -> tensor<8x64xf32, #ke>
  %s = tile.dot %x, %y over "e" : tensor<4x64xf32, #qe>, tensor<8x64xf32, #ke> -> tensor<4x8xf32, #qk>
  tile.store %s, %S[%q0, %zero] dims [0, 1] : tensor<4x8xf32, #qk>, !matrix
  return
}

// -----

#qe = #tile.axes<"q", "e">
#ke = #tile.axes<"k", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>

// An item lists its tiles once, before the passes, which all walk the list.
// CHECK-LABEL: func.func @listed
// CHECK: %[[FIRST:.*]], %{{.*}} = tile.extremes
// CHECK: %[[LIST:.*]], %[[PARTIAL:.*]], %{{.*}}, %{{.*}} = tile.kept %{{.*}} to %{{.*}} step 8 {
// CHECK: tile.extremes
// CHECK: arith.cmpi sgt, %{{.*}}, %[[FIRST]]
// CHECK: scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step
// CHECK-NOT: tile.kept %
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[PARTIAL]]
// CHECK-NEXT: tile.kept_at %[[LIST]][%[[I]]]
// CHECK: } {tile.fold = "k", tile.range = "partial"}
// CHECK: } {tile.pass = "e"}
func.func @listed(%P: !matrix {tile.tensor = "P"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"}, %doc: memref<?xi32> {tile.tensor = "doc"}, %nk: i32 {tile.extent = "k"},
                  %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"e", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %seven = arith.constant 7 : i64
  %nothing = arith.constant dense<0.0> : tensor<4x64xf32, #qe>
  %q = arith.extsi %q0 : i32 to i64
  %first, %last = tile.extremes %doc[%q] to[%q] : memref<?xi32> -> i64, i64
  %list, %partial, %full, %all = tile.kept %zero to %nk step 8 {
  ^bb0(%k0: i32):
    %low = arith.extsi %k0 : i32 to i64
    %high = arith.addi %low, %seven : i64
    %least, %most = tile.extremes %doc[%low] to[%high] : memref<?xi32> -> i64, i64
    %empty = arith.cmpi sgt, %least, %first : i64
    %never = arith.constant false
    tile.classes empty(%empty) full(%never)
  }
  %acc = scf.for %i = %zero to %partial step %one iter_args(%a = %nothing) -> (tensor<4x64xf32, #qe>) : i32 {
    %k0 = tile.kept_at %list[%i]
    %p = tile.load %P[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x64xf32, #ke>
    %d = tile.dot %p, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x64xf32, #ke> -> tensor<4x64xf32, #qe>
    %next = arith.addf %a, %d : tensor<4x64xf32, #qe>
    scf.yield %next : tensor<4x64xf32, #qe>
  } {tile.fold = "k", tile.range = "partial"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x64xf32, #qe>, !matrix
  return
}
