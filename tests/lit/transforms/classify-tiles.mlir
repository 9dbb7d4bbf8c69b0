// RUN: tilewright opt -tile-classify-tiles=explain=true -canonicalize -cse -split-input-file -verify-diagnostics %s | FileCheck %s
// RUN: tilewright opt -tile-classify-tiles=per-item=true -split-input-file %s | FileCheck %s --check-prefix=PERITEM
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!places = tensor<8x16xi32, #qk>
!flags = tensor<8x16xi1, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A table along both axes: the extremes over the rows are known before the list, those over the columns are asked of every tile. Rows and
// columns past the ends do not count.
// CHECK-LABEL: func.func @documents
// CHECK-SAME: %[[DOC:[a-zA-Z0-9]+]]: memref<?xi32> {tile.tensor = "doc"}
// CHECK: %[[RLEAST:.*]], %[[RMOST:.*]] = tile.extremes %[[DOC]][%[[Q0:.*]]] to[%[[QLAST:.*]]] : memref<?xi32> -> i64, i64
// CHECK: %[[LIST:.*]], %[[PARTIAL:.*]], %[[FULL:.*]], %[[ALL:.*]] = tile.kept %{{.*}} to %{{.*}} step 16 {
// CHECK: ^bb0(%[[K0:.*]]: i32):
// CHECK: %[[CLEAST:.*]], %[[CMOST:.*]] = tile.extremes %[[DOC]][%{{.*}}] to[%{{.*}}] : memref<?xi32> -> i64, i64
// CHECK-DAG: arith.cmpi eq, %[[RLEAST]], %[[CMOST]]
// CHECK-DAG: arith.cmpi slt, %[[RMOST]], %[[CLEAST]]
// CHECK-DAG: arith.cmpi slt, %[[CMOST]], %[[RLEAST]]
// CHECK: tile.classes empty(%{{.*}}, %{{.*}}) full(%{{.*}}, %{{.*}})
// CHECK: %[[F:.*]] = scf.for %[[I:.*]] = %[[FULL]] to %[[ALL]] step %[[ONE:.*]] iter_args
// CHECK-NEXT: tile.kept_at %[[LIST]][%[[I]]]
// CHECK-NOT: tile.mask
// CHECK: } {tile.fold = "k", tile.range = "full"}
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[PARTIAL]] step %[[ONE]] iter_args(%{{.*}} = %[[F]])
// CHECK-NEXT: %[[AT:.*]] = tile.kept_at %[[LIST]][%[[J]]]
// CHECK: tile.mask %{{.*}} at(%{{.*}}, %[[AT]])
// CHECK: } {tile.fold = "k", tile.range = "partial"}
func.func @documents(%X: !memory {tile.tensor = "X"}, %doc: memref<?xi32> {tile.tensor = "doc"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %d = tile.load %doc[%q0] dims [0] : memref<?xi32> -> tensor<8xi32, #q>
  %ds = tile.broadcast %d : tensor<8xi32, #q> -> !places
  %l = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %c = tile.load %doc[%k0] dims [0] : memref<?xi32> -> tensor<16xi32, #k>
    %cs = tile.broadcast %c : tensor<16xi32, #k> -> !places
    %same = arith.cmpi eq, %ds, %cs : !places
    // expected-remark @below {{the mask skips the tiles of the fold over "k" that ranges of what it compares exclude}}
    %s = tile.mask %x at(%q0, %k0) planes [] rest() where %same else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// An operation of which no range is known decides nothing: the fold is left as it is.
// CHECK-LABEL: func.func @unknown
// CHECK-NOT: tile.kept
// CHECK: scf.for
// CHECK-NOT: tile.range
func.func @unknown(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %half = arith.constant dense<0.5> : tensor<16xf32, #k>
  %l = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %k = tile.positions %k0 : tensor<16xi32, #k>
    %f = arith.sitofp %k : tensor<16xi32, #k> to tensor<16xf32, #k>
    // expected-note @below {{no range is known of this value, 'math.sin'}}
    %y = math.sin %f : tensor<16xf32, #k>
    %up = arith.cmpf olt, %half, %y : tensor<16xf32, #k>
    %ups = tile.broadcast %up : tensor<16xi1, #k> -> tensor<8x16xi1, #qk>
    // expected-remark @below {{the mask skips no tile of the fold over "k": no range of what it compares excludes one; no tile is known to be full}}
    %s = tile.mask %x at(%q0, %k0) planes [] rest() where %ups else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!places = tensor<8x16xi32, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A constant that is not neutral skips nothing, and the tiles that the mask keeps wholly lose it all the same. The half plane bounds nothing either.
// CHECK-LABEL: func.func @ones
// CHECK: %[[FALSE:.*]] = arith.constant false
// CHECK: tile.kept %[[ZERO:.*]] to %{{.*}} step 16
// CHECK: tile.classes empty(%[[FALSE]], %[[FALSE]]) full(%{{.*}}, %{{.*}})
// CHECK: {tile.fold = "k", tile.range = "full"}
// CHECK: {tile.fold = "k", tile.range = "partial"}
func.func @ones(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %sink = arith.constant dense<32> : tensor<16xi32, #k>
  %l = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %k = tile.positions %k0 : tensor<16xi32, #k>
    %low = arith.cmpi slt, %k, %sink : tensor<16xi32, #k>
    %lows = tile.broadcast %low : tensor<16xi1, #k> -> tensor<8x16xi1, #qk>
    // expected-remark @below {{the mask does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 would change}}
    %s = tile.mask %x at(%q0, %k0) planes [0, 1] rest(%zero) where %lows else 1.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"h", free, 1>, <"k", fold, 16>]>

// Inside of another loop a list would be made in every round; per item none is.
// PERITEM-LABEL: func.func @around
// PERITEM-NOT: tile.kept
// PERITEM: tile.store
// CHECK-LABEL: func.func @around
// CHECK: scf.for
// CHECK: tile.kept
func.func @around(%X: !memory {tile.tensor = "X"}, %O: memref<?x?xf32> {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sh: i32 {tile.extent = "h"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %sink = arith.constant dense<32> : tensor<16xi32, #k>
  %l = scf.for %h = %zero to %Sh step %one iter_args(%lh = %none) -> (!row) : i32 {
    %lk = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %lh) -> (!row) : i32 {
      %x = tile.load %X[%h, %q0, %k0] dims [-1, 0, 1] : !memory -> !element
      %k = tile.positions %k0 : tensor<16xi32, #k>
      %low = arith.cmpi slt, %k, %sink : tensor<16xi32, #k>
      %lows = tile.broadcast %low : tensor<16xi1, #k> -> tensor<8x16xi1, #qk>
      // expected-remark @below {{the mask skips the tiles of the fold over "k" that ranges of what it compares exclude}}
      %s = tile.mask %x at(%q0, %k0) planes [] rest() where %lows else 0.0 : f32 : !element
      %sum = tile.reduce sum %s over "k" : !element -> !row
      %ln = arith.addf %li, %sum : !row
      scf.yield %ln : !row
    } {tile.fold = "k"}
    scf.yield %lk : !row
  }
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, memref<?x?xf32>
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!flags = tensor<8x16xi1, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A list of blocks of 4 columns for each item: of a tile's four blocks it is asked whether all, and whether some, are among the first %n of the list. A list that is
// too long is not looked through, and then nothing is known.
// CHECK-LABEL: func.func @lists
// CHECK: %[[SHORT:.*]] = arith.cmpi sle, %[[N:.*]], %{{.*}} : i64
// CHECK: %[[LAST:.*]] = arith.select %[[SHORT]], %[[N]], %{{.*}} : i64
// CHECK: tile.kept
// CHECK: %[[ALL:.*]], %[[SOME:.*]] = tile.extremes %{{.*}}[%[[ROW:.*]], %{{.*}}, %[[LAST]]] to[%[[ROW]], %{{.*}}, %[[LAST]]] {among} : memref<?x?xi32> -> i64, i64
// CHECK-DAG: arith.cmpi sgt, %[[ALL]], %{{.*}}
// CHECK-DAG: arith.cmpi sgt, %[[SOME]], %{{.*}}
// CHECK: tile.range = "full"
// CHECK: tile.range = "partial"
func.func @lists(%X: !memory {tile.tensor = "X"}, %lists: memref<?x?xi32> {tile.tensor = "lists"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %n: i32 {tile.scalar = "n"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %eight = arith.constant 8 : i32
  %row = arith.floordivsi %q0, %eight : i32
  %four = arith.constant dense<4> : tensor<16xi32, #k>
  %none = arith.constant dense<0.0> : !row
  %l = scf.for %k0 = %zero to %Sk step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %columns = tile.positions %k0 : tensor<16xi32, #k>
    %blocks = arith.floordivsi %columns, %four : tensor<16xi32, #k>
    %listed = tile.gather %lists[%row, %blocks, %n] {among} : memref<?x?xi32>, (i32, tensor<16xi32, #k>, i32) -> tensor<16xi1, #k>
    %keeps = tile.broadcast %listed : tensor<16xi1, #k> -> !flags
    // expected-remark @below {{the mask skips the tiles of the fold over "k" that ranges of what it compares exclude}}
    %s = tile.mask %x at(%q0, %k0) planes [] rest() where %keeps else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}
