// RUN: tilewright opt %s -tile-to-device -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -tile-to-device=grouped=false -canonicalize -cse | FileCheck %s --check-prefix=EACH
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<64xf32, #q>
!element = tensor<64x32xf32, #qk>
!out = memref<?x?x?xf32, strided<[?, ?, ?], offset: ?>>

// Items whose bounds differ come in groups of free points that share a cache: item -> group, then tile, then the point in it; the last
// group may be smaller. The mask k <= q makes later tiles longer, so they come first. Points are numbered b · h_ + h.
// CHECK-LABEL: device.kernel @causal "sm90a" items "q" 64 of ["b", "h"] grouped {
// CHECK-DAG: %[[BLOCKS:.*]] = device.count blocks
// CHECK-DAG: %[[GROUP:.*]] = device.count group
// CHECK-DAG: %[[FREES:.*]] = device.count frees
// CHECK-DAG: %[[H:.*]] = device.extent "h"
// CHECK: device.consumers
// CHECK: scf.for %[[ITEM:.*]] = %
// CHECK: %[[ITEMS:.*]] = arith.muli %[[BLOCKS]], %[[GROUP]]
// CHECK-NEXT: %[[G:.*]] = arith.divsi %[[ITEM]], %[[ITEMS]]
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[G]], %[[ITEMS]]
// CHECK-NEXT: %[[IN:.*]] = arith.subi %[[ITEM]], %[[BEFORE]]
// CHECK-NEXT: %[[START:.*]] = arith.muli %[[G]], %[[GROUP]]
// CHECK-NEXT: %[[LEFT:.*]] = arith.subi %[[FREES]], %[[START]]
// CHECK-NEXT: %[[POINTS:.*]] = arith.minsi %[[GROUP]], %[[LEFT]]
// CHECK-NEXT: %[[TILE:.*]] = arith.divsi %[[IN]], %[[POINTS]]
// CHECK: %[[REST:.*]] = arith.subi %[[IN]], %
// CHECK: %[[POINT:.*]] = arith.addi %[[START]], %[[REST]]
// CHECK: %[[LAST:.*]] = arith.subi %[[BLOCKS]], %c1_i32
// CHECK-NEXT: %[[FROM_LAST:.*]] = arith.subi %[[LAST]], %[[TILE]]
// CHECK-NEXT: %[[Q0:.*]] = arith.muli %[[FROM_LAST]], %c64_i32
// CHECK-NEXT: %[[B:.*]] = arith.divsi %[[POINT]], %[[H]]
// CHECK-NEXT: %[[BH:.*]] = arith.muli %[[B]], %[[H]]
// CHECK-NEXT: %[[HEAD:.*]] = arith.subi %[[POINT]], %[[BH]]
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[B]], %[[HEAD]], %[[Q0]]]
// EACH-LABEL: device.kernel @causal "sm90a" items "q" 64 of ["b", "h"] {
// EACH-NOT: device.count group
// EACH: device.consumers
// EACH: scf.for %[[ITEM:.*]] = %
// EACH: %[[POINT:.*]] = arith.divsi %[[ITEM]], %[[BLOCKS:.*]] :
// EACH-NEXT: %[[BEFORE:.*]] = arith.muli %[[POINT]], %[[BLOCKS]]
// EACH-NEXT: arith.subi %[[ITEM]], %[[BEFORE]]
func.func @causal(%O: !out {tile.tensor = "O"}, %h_: i32 {tile.extent = "h"}, %nk: i32 {tile.extent = "k"}, %b: i32 {tile.item = "b"}, %h: i32 {tile.item = "h"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"b", free, 1>, <"h", free, 1>, <"q", block, 64>, <"k", fold, 32>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %none = arith.constant dense<0.0> : !row
  %ones = arith.constant dense<1.0> : !element
  %r = scf.for %k0 = %zero to %nk step %step iter_args(%li = %none) -> (!row) : i32 {
    %kept = tile.mask %ones at(%q0, %k0) planes [-1, 1] rest(%zero) else 0.0 : f32 : !element
    %sum = tile.reduce sum %kept over "k" : !element -> !row
    %l = arith.addf %li, %sum : !row
    scf.yield %l : !row
  } {tile.fold = "k", tile.carried = ["sum"]}
  tile.store %r, %O[%b, %h, %q0] dims [-1, -1, 0] : !row, !out
  return
}

// Bounds that do not differ: neither groups nor an order.
// CHECK-LABEL: device.kernel @plain "sm90a" items "q" 64 of ["b"] {
// CHECK: device.consumers
// CHECK: scf.for %[[ITEM:.*]] = %
// CHECK-NEXT: %[[B:.*]] = arith.divsi %[[ITEM]], %[[BLOCKS:.*]] :
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[B]], %[[BLOCKS]]
// CHECK-NEXT: %[[TILE:.*]] = arith.subi %[[ITEM]], %[[BEFORE]]
// CHECK-NEXT: %[[Q0:.*]] = arith.muli %[[TILE]], %c64_i32
// CHECK: tile.store %{{.*}}, %{{.*}}[%[[B]], %c0_i32, %[[Q0]]]
func.func @plain(%O: !out {tile.tensor = "O"}, %b: i32 {tile.item = "b"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"b", free, 1>, <"q", block, 64>]>} {
  %zero = arith.constant 0 : i32
  %ones = arith.constant dense<1.0> : !row
  tile.store %ones, %O[%b, %zero, %q0] dims [-1, -1, 0] : !row, !out
  return
}
