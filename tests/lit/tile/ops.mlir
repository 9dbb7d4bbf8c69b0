// RUN: tilewright opt %s | tilewright opt | FileCheck %s
// Every operation prints and reads back.
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qk = #tile.axes<"q", "k">
#k = #tile.axes<"k">
!memory = memref<?x?x?x?xbf16, strided<[?, ?, ?, ?], offset: ?>>

// CHECK-LABEL: func.func @causal
// CHECK-SAME: tile.kernel = #tile.kernel<[<"b", free, 1>, <"h", free, 1>, <"q", block, 64>, <"k", fold, 64>, <"d", inner, 128>, <"e", inner, 128>]>
func.func @causal(%Q: !memory {tile.tensor = "Q"}, %K: !memory {tile.tensor = "K"}, %V: !memory {tile.tensor = "V"},
                  %O: !memory {tile.tensor = "O"}, %Sum: memref<?x?xf32, strided<[?, ?], offset: ?>> {tile.tensor = "Sum"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"},
                  %scale: f32 {tile.scalar = "scale", tile.positive},
                  %b: i32 {tile.item = "b"}, %h: i32 {tile.item = "h"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"b", free, 1>, <"h", free, 1>, <"q", block, 64>, <"k", fold, 64>, <"d", inner, 128>, <"e", inner, 128>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %one = arith.constant 1 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<64xf32, #q>
  %none = arith.constant dense<0.0> : tensor<64x128xf32, #tile.axes<"q", "e">>
  %shift = arith.subi %Sk, %Sq : i32
  %minusShift = arith.subi %zero, %shift : i32
  // CHECK: tile.load %{{.*}}[%{{.*}}] dims [-1, -1, 0, 1] : memref<{{.*}}> -> tensor<64x128xbf16, #q_d>
  %x = tile.load %Q[%b, %h, %q0, %zero] dims [-1, -1, 0, 1] : !memory -> tensor<64x128xbf16, #qd>
  // CHECK: scf.for
  %m, %acc = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %ai = %none) -> (tensor<64xf32, #q>, tensor<64x128xf32, #tile.axes<"q", "e">>) : i32 {
    %y = tile.load %K[%b, %h, %k0, %zero] dims [-1, -1, 0, 1] : !memory -> tensor<64x128xbf16, #kd>
    %v = tile.load %V[%b, %h, %k0, %zero] dims [-1, -1, 0, 1] : !memory -> tensor<64x128xbf16, #ke>
    // CHECK: tile.dot %{{.*}}, %{{.*}} over "d" stage 0 : tensor<64x128xbf16, #q_d>, tensor<64x128xbf16, #k_d> -> tensor<64x64xf32, #q_k>
    %s = tile.dot %x, %y over "d" stage 0 : tensor<64x128xbf16, #qd>, tensor<64x128xbf16, #kd> -> tensor<64x64xf32, #qk>
    %scales = tile.broadcast %scale : f32 -> tensor<64x64xf32, #qk>
    %t = arith.mulf %s, %scales : tensor<64x64xf32, #qk>
    // CHECK: tile.mask %{{.*}} at(%{{.*}}, %{{.*}}) planes [-1, 1] rest(%{{.*}}) else 0xFF800000 : f32 : tensor<64x64xf32, #q_k>
    %u = tile.mask %t at(%q0, %k0) planes [-1, 1] rest(%minusShift) else 0xFF800000 : f32 : tensor<64x64xf32, #qk>
    // CHECK: tile.reduce max %{{.*}} over "k" : tensor<64x64xf32, #q_k> -> tensor<64xf32, #q>
    %r = tile.reduce max %u over "k" : tensor<64x64xf32, #qk> -> tensor<64xf32, #q>
    %n = arith.maximumf %mi, %r : tensor<64xf32, #q>
    // CHECK: tile.stabiliser %{{.*}} : tensor<64xf32, #q>
    %top = tile.stabiliser %n : tensor<64xf32, #q>
    %tops = tile.broadcast %top : tensor<64xf32, #q> -> tensor<64x64xf32, #qk>
    %z = arith.subf %u, %tops : tensor<64x64xf32, #qk>
    %w = math.exp %z : tensor<64x64xf32, #qk>
    %d = tile.dot %w, %v over "k" : tensor<64x64xf32, #qk>, tensor<64x128xbf16, #ke> -> tensor<64x128xf32, #tile.axes<"q", "e">>
    %a = arith.addf %ai, %d : tensor<64x128xf32, #tile.axes<"q", "e">>
    scf.yield %top, %a : tensor<64xf32, #q>, tensor<64x128xf32, #tile.axes<"q", "e">>
  }
  %o = arith.truncf %acc : tensor<64x128xf32, #tile.axes<"q", "e">> to tensor<64x128xbf16, #tile.axes<"q", "e">>
  // CHECK: tile.accumulate %{{.*}}, %{{.*}}[%{{.*}}] dims [0, 1] : tensor<64x128xf32, #q_e>, memref<
  tile.accumulate %acc, %Sum[%q0, %zero] dims [0, 1] : tensor<64x128xf32, #tile.axes<"q", "e">>, memref<?x?xf32, strided<[?, ?], offset: ?>>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}] dims [-1, -1, 0, 1] : tensor<64x128xbf16, #q_e>, memref<
  tile.store %o, %O[%b, %h, %q0, %zero] dims [-1, -1, 0, 1] : tensor<64x128xbf16, #tile.axes<"q", "e">>, !memory
  return
}

// CHECK-LABEL: func.func @kept
func.func @kept(%doc: memref<?xi32>, %x: tensor<4x8xf32, #qk>, %same: tensor<4x8xi1, #qk>, %q0: i32, %end: i32) -> (tensor<4x8xf32, #qk>, i32) {
  %zero = arith.constant 0 : i32
  %first = arith.constant 0 : i64
  // CHECK: tile.extremes %{{.*}}[%{{.*}}] to[%{{.*}}] : memref<?xi32> -> i64, i64
  %least, %most = tile.extremes %doc[%first] to [%first] : memref<?xi32> -> i64, i64
  // CHECK: %[[L:[a-z0-9]+]], %{{.*}}, %{{.*}}, %{{.*}} = tile.kept %{{.*}} to %{{.*}} step 8 {
  // CHECK: ^bb0(%{{.*}}: i32):
  // CHECK: tile.classes empty(%{{.*}}) full(%{{.*}})
  %list, %partial, %full, %all = tile.kept %zero to %end step 8 {
  ^bb0(%k: i32):
    %empty = arith.cmpi slt, %k, %q0 : i32
    %whole = arith.cmpi slt, %least, %most : i64
    tile.classes empty(%empty) full(%whole)
  }
  // CHECK: tile.kept_at %[[L]][%{{.*}}]
  %k0 = tile.kept_at %list[%full]
  // CHECK: tile.mask %{{.*}} at(%{{.*}}, %{{.*}}) planes [] rest() where %{{.*}} else 0.000000e+00 : f32
  %y = tile.mask %x at(%q0, %k0) planes [] rest() where %same else 0.0 : f32 : tensor<4x8xf32, #qk>
  // CHECK: tile.mask %{{.*}} at(%{{.*}}, %{{.*}}) planes [-1, 1] rest(%{{.*}}) where %{{.*}} else 0.000000e+00 : f32
  %z = tile.mask %y at(%q0, %k0) planes [-1, 1] rest(%zero) where %same else 0.0 : f32 : tensor<4x8xf32, #qk>
  return %z, %all : tensor<4x8xf32, #qk>, i32
}

// CHECK-LABEL: func.func @others
func.func @others(%table: memref<?x?xf32, strided<[?, ?], offset: ?>>, %list: memref<?x?xi32, strided<[?, ?], offset: ?>>, %k0: i32, %row: i32, %ok: i1) -> tensor<64xf32, #k> {
  // CHECK: tile.positions %{{.*}} : tensor<64xi32, #k>
  %p = tile.positions %k0 : tensor<64xi32, #k>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}] : memref<{{.*}}>, (i32, tensor<64xi32, #k>) -> tensor<64xf32, #k>
  %g = tile.gather %table[%row, %p] : memref<?x?xf32, strided<[?, ?], offset: ?>>, (i32, tensor<64xi32, #k>) -> tensor<64xf32, #k>
  // CHECK: tile.gather %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] {among} : memref<{{.*}}>, (i32, tensor<64xi32, #k>, i32) -> tensor<64xi1, #k>
  %among = tile.gather %list[%row, %p, %k0] {among} : memref<?x?xi32, strided<[?, ?], offset: ?>>, (i32, tensor<64xi32, #k>, i32) -> tensor<64xi1, #k>
  // CHECK: tile.attempt -> (tensor<64xf32, #k>) {
  // CHECK: tile.propose %{{.*}}, %{{.*}} : i1, tensor<64xf32, #k>
  // CHECK: } otherwise {
  // CHECK: tile.yield %{{.*}} : tensor<64xf32, #k>
  %r = tile.attempt -> (tensor<64xf32, #k>) {
    tile.propose %ok, %g : i1, tensor<64xf32, #k>
  } otherwise {
    tile.yield %g : tensor<64xf32, #k>
  }
  return %r : tensor<64xf32, #k>
}
