// RUN: tilewright opt -tile-neutral-masks -cse -split-input-file %s | FileCheck %s
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!sum = tensor<8x4xf32, #qe>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"d", inner, 4>, <"e", inner, 4>]>

// A running maximum and sums by it, no mask: one mask, before everything, does for all three reductions. The dot over
// "d" reads zeros past the end on both sides.
// CHECK-LABEL: func.func @no_mask
// CHECK-SAME: %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}
// CHECK: %[[ONE:[a-zA-Z0-9_]+]] = arith.constant 1 : i32
// CHECK: %[[END:[a-zA-Z0-9_]+]] = arith.subi %[[ONE]], %[[SK]] : i32
// CHECK: scf.for %[[K0:[a-zA-Z0-9_]+]] = %
// CHECK: %[[S:[a-zA-Z0-9_]+]] = tile.dot {{.*}} over "d"
// CHECK: %[[M:[a-zA-Z0-9_]+]] = tile.mask %[[S]] at(%{{.*}}, %[[K0]]) planes [0, 1] rest(%[[END]]) else 0xFF800000 : f32
// CHECK-NOT: tile.mask
// CHECK: tile.reduce max %[[M]]
// CHECK: arith.subf %[[M]]
func.func @no_mask(%Q: !memory {tile.tensor = "Q"}, %K: !memory {tile.tensor = "K"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %D: i32 {tile.extent = "d"}, %E: i32 {tile.extent = "e"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %none = arith.constant dense<0.0> : !sum
  %x = tile.load %Q[%q0, %zero] dims [0, 1] : !memory -> tensor<8x4xf32, #qd>
  %m, %l, %acc = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing, %ai = %none) -> (!row, !row, !sum) : i32 {
    %y = tile.load %K[%k0, %zero] dims [0, 1] : !memory -> tensor<16x4xf32, #kd>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x4xf32, #ke>
    %s = tile.dot %x, %y over "d" : tensor<8x4xf32, #qd>, tensor<16x4xf32, #kd> -> !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    %seen = arith.cmpf olt, %lowest, %top : !row
    %base = arith.select %seen, %top, %nothing : tensor<8xi1, #q>, !row
    %bases = tile.broadcast %base : !row -> !element
    %z = arith.subf %s, %bases : !element
    %w = math.exp %z : !element
    %dm = arith.subf %mi, %base : !row
    %shrink = math.exp %dm : !row
    %sum = tile.reduce sum %w over "k" : !element -> !row
    %lk = arith.mulf %li, %shrink : !row
    %ln = arith.addf %lk, %sum : !row
    %d = tile.dot %w, %v over "k" : !element, tensor<16x4xf32, #ke> -> !sum
    %shrinks = tile.broadcast %shrink : !row -> !sum
    %ak = arith.mulf %ai, %shrinks : !sum
    %an = arith.addf %ak, %d : !sum
    scf.yield %top, %ln, %an : !row, !row, !sum
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : !sum, !memory
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Without the guard against a maximum of -inf, -inf - top is not known to be -inf: the sum gets a mask of its own.
// CHECK-LABEL: func.func @no_guard
// CHECK: %[[M:[a-zA-Z0-9_]+]] = tile.mask %{{.*}} planes [0, 1] {{.*}} else 0xFF800000 : f32
// CHECK: tile.reduce max %[[M]]
// CHECK: %[[W:[a-zA-Z0-9_]+]] = math.exp
// CHECK: %[[N:[a-zA-Z0-9_]+]] = tile.mask %[[W]] {{.*}} planes [0, 1] {{.*}} else 0.000000e+00 : f32
// CHECK: tile.reduce sum %[[N]]
func.func @no_guard(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %m, %l = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing) -> (!row, !row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    %tops = tile.broadcast %top : !row -> !element
    %z = arith.subf %s, %tops : !element
    %w = math.exp %z : !element
    %dm = arith.subf %mi, %top : !row
    %shrink = math.exp %dm : !row
    %sum = tile.reduce sum %w over "k" : !element -> !row
    %lk = arith.mulf %li, %shrink : !row
    %ln = arith.addf %lk, %sum : !row
    scf.yield %top, %ln : !row, !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A mask from the bottom right implies the end of the axis: k <= q + Sk - Sq, q <= Sq - 1.
// CHECK-LABEL: func.func @bottom_right
// CHECK: tile.mask %{{.*}} planes [-1, 1] rest(%{{[^,]*}}) else 0xFF800000 : f32
// CHECK-NOT: tile.mask
// One from the top left does not: it gets the end as one more half plane.
// CHECK-LABEL: func.func @top_left
// CHECK-SAME: %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}
// CHECK: %[[END:[a-zA-Z0-9_]+]] = arith.subi %{{.*}}, %[[SK]] : i32
// CHECK: tile.mask %{{.*}} planes [-1, 1, 0, 1] rest(%{{[^,]*}}, %[[END]]) else 0xFF800000 : f32
// CHECK-NOT: tile.mask
func.func @bottom_right(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %rest = arith.subi %Sq, %Sk : i32
  %m = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest) -> (!row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %t = tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%rest) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %t over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    scf.yield %top : !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}
func.func @top_left(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %m = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest) -> (!row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %t = tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %t over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    scf.yield %top : !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A constant that is not neutral gets a mask behind it; the sum of an unmasked load needs none.
// CHECK-LABEL: func.func @not_neutral
// CHECK: %[[ONES:[a-zA-Z0-9_]+]] = tile.mask %[[S:[a-zA-Z0-9_]+]] at({{.*}}) planes [-1, 1] rest(%{{[^,]*}}) else 1.000000e+00 : f32
// CHECK: %[[N:[a-zA-Z0-9_]+]] = tile.mask %[[ONES]] at({{.*}}) planes [0, 1] rest(%{{[^,]*}}) else 0.000000e+00 : f32
// CHECK: tile.reduce sum %[[N]]
// CHECK: tile.reduce sum %[[S]]
func.func @not_neutral(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %a, %b = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing, %bi = %nothing) -> (!row, !row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %t = tile.mask %s at(%q0, %k0) planes [-1, 1] rest(%zero) else 1.0 : f32 : !element
    %r = tile.reduce sum %t over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    %u = tile.reduce sum %s over "k" : !element -> !row
    %bn = arith.addf %bi, %u : !row
    scf.yield %an, %bn : !row, !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %b, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A maximum and a sum of one value need different constants: each its own mask.
// CHECK-LABEL: func.func @max_and_sum
// CHECK: %[[S:[a-zA-Z0-9_]+]] = tile.load
// CHECK-DAG: %[[LOW:[a-zA-Z0-9_]+]] = tile.mask %[[S]] {{.*}} else 0xFF800000 : f32
// CHECK-DAG: tile.reduce max %[[LOW]]
// CHECK-DAG: tile.reduce sum %[[S]]
func.func @max_and_sum(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %m, %l = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing) -> (!row, !row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    %u = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %u : !row
    scf.yield %top, %ln : !row, !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Weights by an exponential are not finite past the end, where no maximum has seen them: 0 on the right is not enough.
// A load that does not start at the axis's origin may read what belongs to others.
// CHECK-LABEL: func.func @packed
// CHECK: %[[W:[a-zA-Z0-9_]+]] = math.exp
// CHECK: %[[N:[a-zA-Z0-9_]+]] = tile.mask %[[W]] at({{.*}}) planes [0, 1] rest(%{{[^,]*}}) else 0.000000e+00 : f32
// CHECK: %[[T:[a-zA-Z0-9_]+]] = arith.truncf %[[N]]
// CHECK: tile.dot %[[T]]
// CHECK: %[[F:[a-zA-Z0-9_]+]] = tile.mask %[[S:[a-zA-Z0-9_]+]] at({{.*}}) planes [0, 1] rest(%{{[^,]*}}) else 0.000000e+00 : f32
// CHECK: tile.reduce sum %[[F]]
func.func @packed(%X: !memory {tile.tensor = "X"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %first: i32 {tile.scalar = "first"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %none = arith.constant dense<0.0> : !sum
  %base = tile.load %X[%q0, %zero] dims [0, -1] : !memory -> !row
  %bases = tile.broadcast %base : !row -> !element
  %acc, %l = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %none, %li = %nothing) -> (!sum, !row) : i32 {
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x4xf32, #ke>
    %s = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %z = arith.subf %s, %bases : !element
    %w = math.exp %z : !element
    %t = arith.truncf %w : !element to tensor<8x16xbf16, #qk>
    %d = tile.dot %t, %v over "k" : tensor<8x16xbf16, #qk>, tensor<16x4xf32, #ke> -> !sum
    %an = arith.addf %ai, %d : !sum
    %place = arith.addi %k0, %first : i32
    %far = tile.load %X[%q0, %place] dims [0, 1] : !memory -> !element
    %u = tile.reduce sum %far over "k" : !element -> !row
    %ln = arith.addf %li, %u : !row
    scf.yield %an, %ln : !sum, !row
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : !sum, !memory
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// An inner axis ends too: its first coordinate is 0.
// CHECK-LABEL: func.func @inner
// CHECK-SAME: %[[D:[a-zA-Z0-9]+]]: i32 {tile.extent = "d"}
// CHECK-DAG: %[[ZERO:[a-zA-Z0-9_]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[X:[a-zA-Z0-9_]+]] = tile.load
// CHECK-DAG: %[[END:[a-zA-Z0-9_]+]] = arith.subi %{{.*}}, %[[D]] : i32
// CHECK: tile.mask %[[X]] at(%{{.*}}, %[[ZERO]]) planes [0, 1] rest(%[[END]]) else 0x7F800000 : f32
func.func @inner(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %D: i32 {tile.extent = "d"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !memory -> tensor<8x4xf32, #qd>
  %r = tile.reduce min %x over "d" : tensor<8x4xf32, #qd> -> !row
  tile.store %r, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>

// A sum and a maximum of one value, which is not neutral for either: the mask that the maximum needs stands behind that of the sum, and at the maximum alone.
// CHECK-LABEL: func.func @sum_and_max
// CHECK: %[[X:.*]] = arith.addf
// CHECK: %[[Z:.*]] = tile.mask %[[X]] at({{.*}}) planes [0, 1] rest(%{{.*}}) else 0.000000e+00 : f32
// CHECK: tile.reduce sum %[[Z]]
// CHECK: %[[L:.*]] = tile.mask %[[Z]] at({{.*}}) planes [0, 1] rest(%{{.*}}) else 0xFF800000 : f32
// CHECK: tile.reduce max %[[L]]
func.func @sum_and_max(%Q: !memory {tile.tensor = "Q"}, %K: !memory {tile.tensor = "K"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %D: i32 {tile.extent = "d"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"d", inner, 4>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %one = arith.constant dense<1.0> : !element
  %x = tile.load %Q[%q0, %zero] dims [0, 1] : !memory -> tensor<8x4xf32, #qd>
  %m, %l = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing) -> (!row, !row) : i32 {
    %y = tile.load %K[%k0, %zero] dims [0, 1] : !memory -> tensor<16x4xf32, #kd>
    %s = tile.dot %x, %y over "d" : tensor<8x4xf32, #qd>, tensor<16x4xf32, #kd> -> !element
    %z = arith.addf %s, %one : !element
    %sum = tile.reduce sum %z over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    %r = tile.reduce max %z over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    scf.yield %top, %ln : !row, !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}
