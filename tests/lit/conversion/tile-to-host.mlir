// RUN: tilewright opt %s -split-input-file -tile-to-host="register-rows=2 register-vectors=2" -canonicalize -cse | FileCheck %s
#qk = #tile.axes<"q", "k">
#kn = #tile.axes<"k", "n">
#qn = #tile.axes<"q", "n">
!memory = memref<?x?xbf16, strided<[?, ?], offset: ?>>
!result = memref<?x?xf32, strided<[?, ?], offset: ?>>

// Loads are routines: whole vectors along rows, else squares from half vectors, else element by element. Those of right
// operands tell whether all elements are finite: whether 0 times each of them adds up to 0.
// CHECK-LABEL: func.func private @load_4x8_bf16_into_1x4x8_f32(
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK-LABEL: func.func private @load_8x16_bf16_into_1x8x16_f32_watched(
// CHECK-SAME: -> i1
// CHECK: vector.fma {{.*}} : vector<8xf32>
// CHECK: vector.load {{.*}} vector<4xbf16>
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xbf16>, vector<4xbf16>
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13] : vector<8xf32>, vector<8xf32>
// CHECK: vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13] : vector<8xf32>, vector<8xf32>
// CHECK: %[[EACH:.*]] = arith.cmpf ord
// CHECK: %[[ALL:.*]] = vector.reduction <and>, %[[EACH]]
// CHECK: return %[[ALL]]

// A carried sum of products: its memory is the register blocks' start and end; nothing is copied.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[Q0:arg[0-9]+]]: i32, %[[SCRATCH:arg[0-9]+]]: memref<?xi8>) attributes {host.scratch_bytes = 896 : i64, llvm.emit_c_interface}
// CHECK: %[[ACC:.*]] = memref.view %[[SCRATCH]]{{.*}} to memref<4x16xf32>
// CHECK: vector.store %{{.*}}, %[[ACC]]
// CHECK: scf.for {{.*}} : i32 {
// CHECK: call @load_4x8_bf16
// CHECK: %[[PANELS:.*]] = memref.view {{.*}} to memref<1x8x16xf32>
// CHECK: %[[FINITE:.*]] = {{.*}}call @load_8x16_bf16_into_1x8x16_f32_watched
// CHECK: scf.if %[[FINITE]]
// CHECK-COUNT-4: vector.load %[[ACC]]
// four steps of a product's loop are written out
// CHECK: scf.for {{.*}} step %c4 iter_args({{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-2: vector.load %[[PANELS]]
// CHECK: memref.load
// CHECK-COUNT-2: vector.fma
// CHECK: memref.load
// CHECK-COUNT-2: vector.fma
// CHECK-COUNT-12: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-4: vector.store %{{.*}}, %[[ACC]]
// a zero on the left is passed over where the right operand is not finite
// CHECK: } else {
// CHECK: arith.cmpf une
// CHECK: vector.fma
func.func @product(%A: !memory {tile.tensor = "A"}, %B: !memory {tile.tensor = "B"}, %C: !result {tile.tensor = "C"},
                   %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"n", inner, 16>]>} {
  %zero = arith.constant 0 : i32
  %width = arith.constant 8 : i32
  %none = arith.constant dense<0.0> : tensor<4x16xf32, #qn>
  %c = scf.for %k0 = %zero to %Sk step %width iter_args(%acc = %none) -> (tensor<4x16xf32, #qn>) : i32 {
    %x = tile.load %A[%q0, %k0] dims [0, 1] : !memory -> tensor<4x8xbf16, #qk>
    %y = tile.load %B[%k0, %zero] dims [0, 1] : !memory -> tensor<8x16xbf16, #kn>
    %d = tile.dot %x, %y over "k" : tensor<4x8xbf16, #qk>, tensor<8x16xbf16, #kn> -> tensor<4x16xf32, #qn>
    %next = arith.addf %acc, %d : tensor<4x16xf32, #qn>
    scf.yield %next : tensor<4x16xf32, #qn>
  }
  tile.store %c, %C[%q0, %zero] dims [0, 1] : tensor<4x16xf32, #qn>, !result
  return
}

// -----

#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!result = memref<?xf32, strided<[?], offset: ?>>
!scores = memref<?x?xf32, strided<[?, ?], offset: ?>>

// Two reductions of one value are one nest; the mask is a comparison with a limit of the row; the carried rows
// are updated in place, and the second fold goes on with the memory of the first.
// CHECK-LABEL: func.func @sums
// CHECK: %[[M:.*]] = memref.view {{.*}} to memref<1x8xf32>
// CHECK: vector.store %{{.*}}, %[[M]]
// CHECK: scf.for {{.*}} : i32 {
// CHECK-NOT: arith.cmpi sle, %{{.*}} : vector
// CHECK: arith.maximumf %{{.*}}, %{{.*}} fastmath<nsz>
// CHECK: %[[OLD:.*]] = vector.load %[[M]]
// CHECK: arith.maximumf %[[OLD]]
// CHECK: vector.store %{{.*}}, %[[M]]
// CHECK: scf.for {{.*}} : i32 {
// CHECK: %[[INSIDE:.*]] = arith.cmpi sle, %{{.*}} : vector<8xi32>
// CHECK: arith.select %[[INSIDE]]
// CHECK: vector.load %[[M]]
// CHECK: vector.store %{{.*}}, %[[M]]
func.func @sums(%S: !scores {tile.tensor = "S"}, %R: !result {tile.tensor = "R"}, %Sk: i32 {tile.extent = "k"}, %full: i32 {tile.scalar = "full"},
                %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 8>]>} {
  %zero = arith.constant 0 : i32
  %width = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<8xf32, #q>
  %a = scf.for %k0 = %zero to %full step %width iter_args(%m = %lowest) -> (tensor<8xf32, #q>) : i32 {
    %s = tile.load %S[%q0, %k0] dims [0, 1] : !scores -> tensor<8x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<8x8xf32, #qk> -> tensor<8xf32, #q>
    %n = arith.maximumf %m, %r : tensor<8xf32, #q>
    scf.yield %n : tensor<8xf32, #q>
  }
  %b = scf.for %k0 = %full to %Sk step %width iter_args(%m = %a) -> (tensor<8xf32, #q>) : i32 {
    %s = tile.load %S[%q0, %k0] dims [0, 1] : !scores -> tensor<8x8xf32, #qk>
    %t = tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : tensor<8x8xf32, #qk>
    %r = tile.reduce max %t over "k" : tensor<8x8xf32, #qk> -> tensor<8xf32, #q>
    %n = arith.maximumf %m, %r : tensor<8xf32, #q>
    scf.yield %n : tensor<8xf32, #q>
  }
  tile.store %b, %R[%q0] dims [0] : tensor<8xf32, #q>, !result
  return
}

// -----

#q = #tile.axes<"q">
!result = memref<?xf32, strided<[?], offset: ?>>

// An attempt goes its exact way. Values that another axis's nest needs are computed once, in a nest of their own.
// CHECK-LABEL: func.func @attempt
// CHECK-NOT: tile.
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK-NOT: math.log
func.func @attempt(%R: !result {tile.tensor = "R"}, %ok: i1 {tile.scalar = "ok"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>]>} {
  %x = tile.load %R[%q0] dims [0] : !result -> tensor<8xf32, #q>
  %r = tile.attempt -> (tensor<8xf32, #q>) {
    %l = math.log %x : tensor<8xf32, #q>
    tile.propose %ok, %l : i1, tensor<8xf32, #q>
  } otherwise {
    %held = tile.stabiliser %x : tensor<8xf32, #q>
    %e = math.exp %held : tensor<8xf32, #q>
    tile.yield %e : tensor<8xf32, #q>
  }
  tile.store %r, %R[%q0] dims [0] : tensor<8xf32, #q>, !result
  return
}

// -----

#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!result = memref<?xf32, strided<[?], offset: ?>>
!scores = memref<?x?xf32, strided<[?, ?], offset: ?>>

// A nest over two axes takes four vectors at once while there are four, then one, then what is left of one; a reduction
// adds up all of them in a single vector.
// CHECK-LABEL: func.func @wide
// CHECK: %[[FOUR:.*]] = scf.for {{.*}} %c0 to %c64 step %c32 iter_args({{.*}}) -> (vector<8xf32>) {
// CHECK: math.exp %{{.*}} : vector<32xf32>
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: %[[ONE:.*]] = scf.for {{.*}} %c64 to %c80 step %c8 iter_args(%{{.*}} = %[[FOUR]]) -> (vector<8xf32>) {
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: %[[LAST:.*]] = arith.select %{{.*}} : vector<8xi1>, vector<8xf32>
// CHECK: arith.addf %[[ONE]], %[[LAST]] : vector<8xf32>
// CHECK: arith.addf %{{.*}} : vector<4xf32>
// CHECK: arith.addf %{{.*}} : vector<2xf32>
// CHECK: arith.addf %{{.*}} : f32
func.func @wide(%S: !scores {tile.tensor = "S"}, %R: !result {tile.tensor = "R"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", inner, 83>]>} {
  %zero = arith.constant 0 : i32
  %s = tile.load %S[%q0, %zero] dims [0, 1] : !scores -> tensor<8x83xf32, #qk>
  %e = math.exp %s : tensor<8x83xf32, #qk>
  %r = tile.reduce sum %e over "k" : tensor<8x83xf32, #qk> -> tensor<8xf32, #q>
  tile.store %r, %R[%q0] dims [0] : tensor<8xf32, #q>, !result
  return
}
