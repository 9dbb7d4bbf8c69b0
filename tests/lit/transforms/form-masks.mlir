// RUN: tilewright opt -tile-form-masks -canonicalize -cse -split-input-file %s | FileCheck %s
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!places = tensor<8x16xi32, #qk>
!flags = tensor<8x16xi1, #qk>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// k <= q + (Sk - Sq): the scalar part is computed before the fold. Four terms of a half plane share i32.
// CHECK-LABEL: func.func @bottom_right
// CHECK-SAME: (%[[X:[a-zA-Z0-9_]+]]: memref<?x?xf32> {{.*}}, %{{.*}}: memref<?xf32> {{.*}}, %[[SQ:[a-zA-Z0-9_]+]]: i32 {{.*}}, %[[SK:[a-zA-Z0-9_]+]]: i32 {{.*}}, %[[Q0:[a-zA-Z0-9_]+]]: i32 {{.*}})
// CHECK-SAME: tile.limit = 536870879 : i64
// CHECK: %[[REST:[a-zA-Z0-9_]+]] = arith.subi %[[SQ]], %[[SK]] : i32
// CHECK: scf.for %[[K0:[a-zA-Z0-9_]+]] = %{{.*}} to %[[SK]]
// CHECK: %[[S:[a-zA-Z0-9_]+]] = tile.load
// CHECK: %[[M:[a-zA-Z0-9_]+]] = tile.mask %[[S]] at(%[[Q0]], %[[K0]]) planes [-1, 1] rest(%[[REST]]) else 0xFF800000 : f32
// CHECK: tile.reduce max %[[M]] over "k"
func.func @bottom_right(%X: memref<?x?xf32> {tile.tensor = "X"}, %O: memref<?xf32> {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %none = arith.constant dense<0xFF800000> : !element
  %shift = arith.subi %Sk, %Sq : i32
  %m = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest) -> (!row) : i32 {
    %s = tile.load %X[%q0, %k0] dims [0, 1] : memref<?x?xf32> -> !element
    %q = tile.positions %q0 : tensor<8xi32, #q>
    %k = tile.positions %k0 : tensor<16xi32, #k>
    %shifts = tile.broadcast %shift : i32 -> tensor<8xi32, #q>
    %last = arith.addi %q, %shifts : tensor<8xi32, #q>
    %qs = tile.broadcast %last : tensor<8xi32, #q> -> !places
    %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
    %ok = arith.cmpi sle, %ks, %qs : !places
    %t = arith.select %ok, %s, %none : !flags, !element
    %r = tile.reduce max %t over "k" : !element -> !row
    %n = arith.maximumf %mi, %r : !row
    scf.yield %n : !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0] dims [0] : !row, memref<?xf32>
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!element = tensor<8x16xf32, #qk>
!places = tensor<8x16xi32, #qk>
!flags = tensor<8x16xi1, #qk>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", inner, 16>]>

// A conjunction is one mask; so are nested selects with one constant: 2k <= q, q - k < w, k != … stays.
// CHECK-LABEL: func.func @window
// CHECK-SAME: %[[W:[a-zA-Z0-9_]+]]: i32 {tile.scalar = "w"}
// CHECK-DAG: %[[ZERO:[a-zA-Z0-9_]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:[a-zA-Z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: %[[REST:[a-zA-Z0-9_]+]] = arith.subi %[[ONE]], %[[W]] : i32
// CHECK: tile.mask %{{.*}} at(%{{.*}}, %[[ZERO]]) planes [-1, 2, 1, -1] rest(%[[ZERO]], %[[REST]]) else 0.000000e+00 : f32
// CHECK-NOT: select
func.func @window(%X: memref<?x?xf32> {tile.tensor = "X"}, %w: i32 {tile.scalar = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %two = arith.constant dense<2> : !places
  %none = arith.constant dense<0.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %ws = tile.broadcast %w : i32 -> !places
  %twice = arith.muli %ks, %two : !places
  %first = arith.cmpi sge, %qs, %twice : !places
  %s1 = arith.select %first, %s, %none : !flags, !element
  %back = arith.subi %qs, %ks : !places
  %second = arith.cmpi slt, %back, %ws : !places
  %s2 = arith.select %second, %s1, %none : !flags, !element
  tile.store %s2, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}

// Equality is two half planes; a constant where the condition holds asks for the negation.
// CHECK-LABEL: func.func @equal
// CHECK: tile.mask %{{.*}} planes [-1, 1, 1, -1] rest(%[[ZERO:[a-zA-Z0-9_]+]], %[[ZERO]]) else 0.000000e+00 : f32
// CHECK-LABEL: func.func @negated
// CHECK: tile.mask %{{.*}} planes [-1, 1, 1, 0] rest(%{{.*}}, %{{.*}}) else 1.000000e+00 : f32
// CHECK-NOT: select
func.func @equal(%X: memref<?x?xf32> {tile.tensor = "X"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %none = arith.constant dense<0.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %ok = arith.cmpi eq, %ks, %qs : !places
  %t = arith.select %ok, %s, %none : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}
func.func @negated(%X: memref<?x?xf32> {tile.tensor = "X"}, %w: i32 {tile.scalar = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %one = arith.constant dense<1.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %ws = tile.broadcast %w : i32 -> !places
  %a = arith.cmpi sgt, %ks, %qs : !places
  %b = arith.cmpi sge, %qs, %ws : !places
  %out = arith.ori %a, %b : !flags
  %t = arith.select %out, %one, %s : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}

// Where the kept value is itself made of indices and loads, a disjunction and a table stay selects; beside a half plane they go under its mask.
// CHECK-LABEL: func.func @either
// CHECK-NOT: tile.mask
// CHECK: arith.select
// CHECK-LABEL: func.func @mixture
// CHECK: %[[T:[a-zA-Z0-9_]+]] = tile.gather
// CHECK: %[[OK:[a-zA-Z0-9_]+]] = arith.cmpi sgt, %[[T]]
// CHECK: %[[OKS:[a-zA-Z0-9_]+]] = tile.broadcast %[[OK]]
// CHECK: %[[REST:[a-zA-Z0-9_]+]] = arith.select %[[OKS]], %[[S:[a-zA-Z0-9_]+]], %{{.*}} :
// CHECK: tile.mask %[[REST]] at(%{{.*}}) planes [-1, 1] rest(%{{.*}}) else 0.000000e+00 : f32
func.func @either(%X: memref<?x?xf32> {tile.tensor = "X"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %sink = arith.constant dense<4> : !places
  %none = arith.constant dense<0.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %a = arith.cmpi sle, %ks, %qs : !places
  %b = arith.cmpi slt, %ks, %sink : !places
  %ok = arith.ori %a, %b : !flags
  %t = arith.select %ok, %s, %none : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}
func.func @mixture(%X: memref<?x?xf32> {tile.tensor = "X"}, %table: memref<?xi32> {tile.tensor = "table"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %zeros = arith.constant dense<0> : tensor<16xi32, #k>
  %none = arith.constant dense<0.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %a = arith.cmpi sle, %ks, %qs : !places
  %looked = tile.gather %table[%k] : memref<?xi32>, (tensor<16xi32, #k>) -> tensor<16xi32, #k>
  %b = arith.cmpi sgt, %looked, %zeros : tensor<16xi32, #k>
  %bs = tile.broadcast %b : tensor<16xi1, #k> -> !flags
  %ok = arith.andi %a, %bs : !flags
  %t = arith.select %ok, %s, %none : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}

// A condition over one axis, and one over none, are half planes too.
// CHECK-LABEL: func.func @few_axes
// CHECK-SAME: %[[W:[a-zA-Z0-9_]+]]: i32 {tile.scalar = "w"}
// CHECK: %[[ROWS:[a-zA-Z0-9_]+]] = tile.mask %{{.*}} planes [1, 0] rest(%{{.*}}) else 0.000000e+00 : f32
// CHECK: tile.mask %[[ROWS]] at(%{{.*}}) planes [0, 0] rest(%[[W]]) else 1.000000e+00 : f32
func.func @few_axes(%X: memref<?x?xf32> {tile.tensor = "X"}, %w: i32 {tile.scalar = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %none = arith.constant dense<0.0> : !element
  %one = arith.constant dense<1.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %ws = tile.broadcast %w : i32 -> tensor<8xi32, #q>
  %row = arith.cmpi sle, %q, %ws : tensor<8xi32, #q>
  %rows = tile.broadcast %row : tensor<8xi1, #q> -> !flags
  %t = arith.select %rows, %s, %none : !flags, !element
  %all = arith.cmpi sle, %w, %zero : i32
  %u = arith.select %all, %t, %one : !element
  tile.store %u, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}

// Coefficients that leave no room for a long axis in i32 stay a comparison.
// CHECK-LABEL: func.func @steep
// CHECK-NOT: tile.limit
// CHECK-NOT: tile.mask
// CHECK: arith.select
func.func @steep(%X: memref<?x?xf32> {tile.tensor = "X"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %many = arith.constant dense<4096> : !places
  %none = arith.constant dense<0.0> : !element
  %s = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %far = arith.muli %ks, %many : !places
  %ok = arith.cmpi sle, %far, %qs : !places
  %t = arith.select %ok, %s, %none : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}

// Of a computed value a disjunction and a table are the mask's condition, and so is what is no half plane of their negation; what depends on the value itself is split off.
// CHECK-LABEL: func.func @conditions
// CHECK: %[[S:[a-zA-Z0-9_]+]] = tile.dot
// CHECK: %[[A:[a-zA-Z0-9_]+]] = arith.cmpi sle
// CHECK: %[[T:[a-zA-Z0-9_]+]] = tile.gather
// CHECK: %[[B:[a-zA-Z0-9_]+]] = arith.cmpi sgt, %[[T]]
// CHECK: %[[BS:[a-zA-Z0-9_]+]] = tile.broadcast %[[B]]
// CHECK: %[[OR:[a-zA-Z0-9_]+]] = arith.ori %[[A]], %[[BS]]
// CHECK: tile.mask %[[S]] at(%{{.*}}) planes [] rest() where %[[OR]] else 0.000000e+00 : f32
// CHECK: %[[NOT:[a-zA-Z0-9_]+]] = arith.xori %[[BS]], %{{.*}}
// CHECK: tile.mask %[[S]] at(%{{.*}}) planes [1, -1] rest(%{{.*}}) where %[[NOT]] else 0.000000e+00 : f32
// CHECK: %[[BIG:[a-zA-Z0-9_]+]] = arith.cmpf
// CHECK: %[[KEPT:[a-zA-Z0-9_]+]] = arith.select %[[BIG]], %[[S]]
// CHECK: tile.mask %[[KEPT]] at(%{{.*}}) planes [] rest() where %[[BS]] else 0.000000e+00 : f32
func.func @conditions(%X: memref<?x?xf32> {tile.tensor = "X"}, %table: memref<?xi32> {tile.tensor = "table"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %zeros = arith.constant dense<0> : tensor<16xi32, #k>
  %none = arith.constant dense<0.0> : !element
  %x = tile.load %X[%q0, %zero] dims [0, 1] : memref<?x?xf32> -> tensor<8x4xf32, #tile.axes<"q", "d">>
  %y = tile.load %X[%zero, %zero] dims [0, 1] : memref<?x?xf32> -> tensor<16x4xf32, #tile.axes<"k", "d">>
  %s = tile.dot %x, %y over "d" : tensor<8x4xf32, #tile.axes<"q", "d">>, tensor<16x4xf32, #tile.axes<"k", "d">> -> !element
  %q = tile.positions %q0 : tensor<8xi32, #q>
  %k = tile.positions %zero : tensor<16xi32, #k>
  %qs = tile.broadcast %q : tensor<8xi32, #q> -> !places
  %ks = tile.broadcast %k : tensor<16xi32, #k> -> !places
  %a = arith.cmpi sle, %ks, %qs : !places
  %looked = tile.gather %table[%k] : memref<?xi32>, (tensor<16xi32, #k>) -> tensor<16xi32, #k>
  %b = arith.cmpi sgt, %looked, %zeros : tensor<16xi32, #k>
  %bs = tile.broadcast %b : tensor<16xi1, #k> -> !flags
  %or = arith.ori %a, %bs : !flags
  %t = arith.select %or, %s, %none : !flags, !element
  tile.store %t, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  %u = arith.select %or, %none, %s : !flags, !element
  tile.store %u, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  %big = arith.cmpf olt, %none, %s : !element
  %both = arith.andi %bs, %big : !flags
  %v = arith.select %both, %s, %none : !flags, !element
  tile.store %v, %X[%q0, %zero] dims [0, 1] : !element, memref<?x?xf32>
  return
}
