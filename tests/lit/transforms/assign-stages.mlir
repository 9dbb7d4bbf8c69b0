// RUN: tilewright opt %s -tile-assign-stages | FileCheck %s
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>
#kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"d", inner, 2>, <"e", inner, 2>]>

// The dot that is accumulated is stage 1, the one before it stage 0.
// CHECK-LABEL: func.func @two_stages
// CHECK: tile.dot {{.*}} over "d" stage 0
// CHECK: tile.dot {{.*}} over "k" stage 1
// CHECK: } {tile.carried = ["value", "sum", "accumulator"], tile.fold = "k"}
func.func @two_stages(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"}, %E: !row {tile.tensor = "E"},
                      %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x2xf32, #qd>
  %m, %l, %acc = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none, %ai = %nothing) -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %y = tile.load %Y[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #kd>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %s = tile.dot %x, %y over "d" : tensor<4x2xf32, #qd>, tensor<8x2xf32, #kd> -> tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %top = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %d = arith.subf %mi, %top : tensor<4xf32, #q>
    %shrink = math.exp2 %d : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %te : tensor<4x8xf32, #qk>
    %w = math.exp2 %z : tensor<4x8xf32, #qk>
    %sum = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %ls = arith.mulf %li, %shrink : tensor<4xf32, #q>
    %total = arith.addf %ls, %sum : tensor<4xf32, #q>
    %p = tile.dot %w, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %se = tile.broadcast %shrink : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
    %a = math.fma %ai, %se, %p : tensor<4x2xf32, #qe>
    scf.yield %top, %total, %a : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  tile.store %l, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// The only dot of a matrix product is accumulated, so it is stage 1.
// CHECK-LABEL: func.func @product
// CHECK: tile.dot {{.*}} over "k" stage 1
// CHECK: } {tile.carried = ["accumulator"], tile.fold = "k"}
func.func @product(%X: !matrix {tile.tensor = "X"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"},
                   %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  %acc = scf.for %k0 = %zero to %nk step %step iter_args(%ai = %nothing) -> (tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %p = tile.dot %x, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %a = arith.addf %p, %ai : tensor<4x2xf32, #qe>
    scf.yield %a : tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  return
}

// Values, not sums: one starts at 1, one is read twice, one sums along another axis than the fold's, one adds a maximum. A
// sum with a factor is one; a tile that starts at 1 is no accumulator, and its dot stage 0.
// CHECK-LABEL: func.func @kinds
// CHECK: tile.dot {{.*}} over "k" stage 0
// CHECK: } {tile.carried = ["value", "value", "value", "value", "sum", "value"], tile.fold = "k"}
func.func @kinds(%X: !matrix {tile.tensor = "X"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"}, %E: !row {tile.tensor = "E"},
                 %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}, %c: f32 {tile.scalar = "c"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %ones = arith.constant dense<1.0> : tensor<4xf32, #q>
  %tile = arith.constant dense<1.0> : tensor<4x2xf32, #qe>
  %y = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x2xf32, #qd>
  %r:6 = scf.for %k0 = %zero to %nk step %step iter_args(%one = %ones, %twice = %none, %other = %none, %max = %none, %scaled = %none, %acc = %tile)
      -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %s1 = tile.reduce sum %x over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %n1 = arith.addf %one, %s1 : tensor<4xf32, #q>
    %x2 = arith.mulf %x, %x : tensor<4x8xf32, #qk>
    %s2 = tile.reduce sum %x2 over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %square = arith.mulf %twice, %twice : tensor<4xf32, #q>
    %n2 = arith.addf %square, %s2 : tensor<4xf32, #q>
    %s3 = tile.reduce sum %y over "d" : tensor<4x2xf32, #qd> -> tensor<4xf32, #q>
    %n3 = arith.addf %other, %s3 : tensor<4xf32, #q>
    %s4 = tile.reduce max %x over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %n4 = arith.addf %max, %s4 : tensor<4xf32, #q>
    %x5 = math.absf %x : tensor<4x8xf32, #qk>
    %s5 = tile.reduce sum %x5 over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %cr = tile.broadcast %c : f32 -> tensor<4xf32, #q>
    %t5 = arith.mulf %s5, %cr : tensor<4xf32, #q>
    %n5 = arith.addf %t5, %scaled : tensor<4xf32, #q>
    %p = tile.dot %x, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %a = arith.addf %acc, %p : tensor<4x2xf32, #qe>
    scf.yield %n1, %n2, %n3, %n4, %n5, %a : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %r#5, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  tile.store %r#0, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// A dot that contracts the block axis is of stage 2: it needs what all items' rows of it have computed.
// CHECK-LABEL: func.func @over_block
// CHECK: tile.dot {{.*}} over "d" stage 0
// CHECK: tile.dot {{.*}} over "q" stage 2
// CHECK: tile.dot {{.*}} over "k" stage 1
func.func @over_block(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %V: !matrix {tile.tensor = "V"}, %S: !matrix {tile.tensor = "S"}, %nk: i32 {tile.extent = "k"},
                      %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x2xf32, #qd>
  %acc = scf.for %k0 = %zero to %nk step %step iter_args(%ai = %nothing) -> (tensor<4x2xf32, #qe>) : i32 {
    %y = tile.load %Y[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #kd>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %s = tile.dot %x, %y over "d" : tensor<4x2xf32, #qd>, tensor<8x2xf32, #kd> -> tensor<4x8xf32, #qk>
    %part = tile.dot %s, %x over "q" : tensor<4x8xf32, #qk>, tensor<4x2xf32, #qd> -> tensor<8x2xf32, #kd>
    tile.accumulate %part, %S[%k0, %zero] dims [0, 1] : tensor<8x2xf32, #kd>, !matrix
    %p = tile.dot %s, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %sum = arith.addf %ai, %p : tensor<4x2xf32, #qe>
    scf.yield %sum : tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %acc, %S[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  return
}

// Several dots in one sum are added one by one, in the order in which they stand, from argument · row on.
// CHECK-LABEL: func.func @several_dots
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: %[[SCALED:.*]] = arith.mulf %[[ACC]], %{{.*}}
// CHECK: %[[X:.*]] = tile.dot {{.*}} over "k" stage 1
// CHECK-NEXT: %[[Y:.*]] = tile.dot {{.*}} over "k" stage 1
// CHECK-NEXT: %[[Z:.*]] = tile.dot {{.*}} over "k" stage 1
// CHECK: %[[FIRST:.*]] = arith.addf %[[SCALED]], %[[X]]
// CHECK-NEXT: %[[BOTH:.*]] = arith.addf %[[FIRST]], %[[Y]]
// CHECK-NEXT: %[[ALL:.*]] = arith.addf %[[BOTH]], %[[Z]]
// CHECK-NEXT: scf.yield %[[ALL]]
// CHECK-NEXT: } {tile.carried = ["accumulator", "value"], tile.fold = "k"}
func.func @several_dots(%X: !matrix {tile.tensor = "X"}, %V: !matrix {tile.tensor = "V"}, %W: !matrix {tile.tensor = "W"}, %O: !matrix {tile.tensor = "O"}, %E: !row {tile.tensor = "E"},
                        %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  %half = arith.constant dense<0.5> : tensor<4x2xf32, #qe>
  %acc, %other = scf.for %k0 = %zero to %nk step %step iter_args(%ai = %nothing, %oi = %nothing) -> (tensor<4x2xf32, #qe>, tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %w = tile.load %W[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #ke>
    %r = tile.load %E[%q0] dims [0] : !row -> tensor<4xf32, #q>
    %row = tile.broadcast %r : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
    %scaled = arith.mulf %ai, %row : tensor<4x2xf32, #qe>
    %p = tile.dot %x, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %s = tile.dot %x, %w over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %t = tile.dot %x, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %ts = arith.addf %t, %s : tensor<4x2xf32, #qe>
    %tsp = arith.addf %ts, %p : tensor<4x2xf32, #qe>
    %a = arith.addf %tsp, %scaled : tensor<4x2xf32, #qe>
    %u = tile.dot %x, %w over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %uh = arith.mulf %u, %half : tensor<4x2xf32, #qe>
    %o = arith.addf %oi, %uh : tensor<4x2xf32, #qe>
    scf.yield %a, %o : tensor<4x2xf32, #qe>, tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  tile.store %other, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  return
}
