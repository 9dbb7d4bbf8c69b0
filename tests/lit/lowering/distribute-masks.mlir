// Conditions that hold columns against what rows have: bounds are made by row, elements compare their column's number.
// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse | FileCheck %s
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">

// q - k <= 7 or k < 4, and k is not 9 where k > 2: max(q, 6) - 7, 3, 9 and 2, each less the thread's first column. A coordinate is not negative, so that none of them wraps.
// CHECK-LABEL: device.kernel @bounds
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: device.each_row {
// CHECK: arith.maxsi %{{.*}}, %[[C6]]
// CHECK: arith.subi %[[C3]], %{{.*}}
// CHECK: device.each_element 32 {
// CHECK-NOT: arith.subi
// CHECK-DAG: arith.cmpi sge, %{{.*}}, %{{.*}} : i32
// CHECK-DAG: arith.cmpi sle, %{{.*}}, %{{.*}} : i32
// CHECK-DAG: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
// CHECK-DAG: arith.cmpi sgt, %{{.*}}, %{{.*}} : i32
// CHECK: device.combine max
device.kernel @bounds "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %end = device.extent "k"
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %out = device.memory "out" : memref<?xf32, strided<[?], offset: ?>>
    %table = device.memory "table" : memref<?xi32, strided<[?], offset: ?>>
    %p = tile.positions %q0 : tensor<64xi32, #q>
    %own = tile.gather %table[%p] : memref<?xi32, strided<[?], offset: ?>>, (tensor<64xi32, #q>) -> tensor<64xi32, #q>
    %least = arith.constant dense<0xFF800000> : tensor<64xf32, #q>
    %r = scf.for %k0 = %c0 to %end step %c32 iter_args(%most = %least) -> (tensor<64xf32, #q>) : i32 {
      %k = tile.positions %k0 : tensor<32xi32, #k>
      %qs = tile.broadcast %own : tensor<64xi32, #q> -> tensor<64x32xi32, #qk>
      %ks = tile.broadcast %k : tensor<32xi32, #k> -> tensor<64x32xi32, #qk>
      %distance = arith.subi %qs, %ks : tensor<64x32xi32, #qk>
      %c7 = arith.constant dense<7> : tensor<64x32xi32, #qk>
      %c9 = arith.constant dense<9> : tensor<64x32xi32, #qk>
      %c2 = arith.constant dense<2> : tensor<64x32xi32, #qk>
      %c4 = arith.constant dense<4> : tensor<32xi32, #k>
      %near = arith.cmpi sle, %distance, %c7 : tensor<64x32xi32, #qk>
      %first = arith.cmpi slt, %k, %c4 : tensor<32xi32, #k>
      %firsts = tile.broadcast %first : tensor<32xi1, #k> -> tensor<64x32xi1, #qk>
      %either = arith.ori %near, %firsts : tensor<64x32xi1, #qk>
      %other = arith.cmpi ne, %ks, %c9 : tensor<64x32xi32, #qk>
      %behind = arith.cmpi sgt, %ks, %c2 : tensor<64x32xi32, #qk>
      %both = arith.andi %other, %behind : tensor<64x32xi1, #qk>
      %all = arith.andi %either, %both : tensor<64x32xi1, #qk>
      %zero = arith.constant dense<0.0> : tensor<64x32xf32, #qk>
      %kept = tile.mask %zero at(%q0, %k0) planes [] rest() where %all else 0xFF800000 : f32 : tensor<64x32xf32, #qk>
      %here = tile.reduce max %kept over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
      %next = arith.maximumf %most, %here : tensor<64xf32, #q>
      scf.yield %next : tensor<64xf32, #q>
    } {tile.fold = "k"}
    tile.store %r, %out[%q0] dims [0] : tensor<64xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  }
}
