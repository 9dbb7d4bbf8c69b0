// RUN: tilewright opt %s -tile-linear-forms | FileCheck %s
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>
#kernel = #tile.kernel<[<"h", free, 1>, <"q", block, 4>, <"k", fold, 8>, <"d", inner, 2>, <"e", inner, 2>]>

// Weights relative to a running maximum: the raw maximum is carried, one multiply-add and one exp2 an element.
// CHECK-LABEL: func.func @relative_weights
// CHECK-SAME: %[[C:[a-z0-9]+]]: f32 {tile.positive, tile.scalar = "c"}
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[A:.*]] = arith.mulf %[[C]], %[[LOG2E]] : f32
// CHECK: %[[MINUS:.*]] = arith.negf %[[C]] : f32
// CHECK: %[[MA:.*]] = arith.mulf %[[MINUS]], %[[LOG2E]] : f32
// CHECK: %[[MAR:.*]] = tile.broadcast %[[MA]] : f32 -> tensor<4xf32, #q>
// CHECK: %[[AR:.*]] = tile.broadcast %[[A]] : f32 -> tensor<4xf32, #q>
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[ACC:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tile.dot
// CHECK-NEXT: %[[R:.*]] = tile.reduce max %[[S]] over "k"
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[M]], %[[R]]
// CHECK-NEXT: %[[TOP:.*]] = tile.stabiliser %[[MAX]]
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpf olt, %{{.*}}, %[[TOP]]
// CHECK-NEXT: %[[BASE:.*]] = arith.select %[[SOME]], %[[TOP]], %{{.*}}
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[BASE]], %[[MAR]]
// CHECK-NEXT: %[[AE:.*]] = tile.broadcast %[[A]] : f32 -> tensor<4x8xf32, #q_k>
// CHECK-NEXT: %[[BE:.*]] = tile.broadcast %[[B]]
// CHECK-NEXT: %[[Z:.*]] = math.fma %[[S]], %[[AE]], %[[BE]]
// CHECK-NEXT: %[[W:.*]] = math.exp2 %[[Z]]
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[M]], %[[BASE]]
// CHECK-NEXT: %[[DA:.*]] = arith.mulf %[[D]], %[[AR]]
// CHECK-NEXT: %[[SHRINK:.*]] = math.exp2 %[[DA]]
// CHECK: tile.dot %[[W]]
// CHECK: scf.yield %[[TOP]],
// The result is multiplied back where it is used.
// CHECK: %[[LOG:.*]] = math.log2
// CHECK-NEXT: %[[LN2:.*]] = arith.constant dense<0.693147182>
// CHECK-NEXT: arith.mulf %[[LOG]], %[[LN2]]
// CHECK-NEXT: math.fma
func.func @relative_weights(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %V: !matrix {tile.tensor = "V"}, %O: !matrix {tile.tensor = "O"}, %E: !row {tile.tensor = "E"},
                            %nk: i32 {tile.extent = "k"}, %c: f32 {tile.scalar = "c", tile.positive}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
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
    %ce = tile.broadcast %c : f32 -> tensor<4x8xf32, #qk>
    %t = arith.mulf %s, %ce : tensor<4x8xf32, #qk>
    %r = tile.reduce max %t over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %some = arith.cmpf olt, %lowest, %top : tensor<4xf32, #q>
    %base = arith.select %some, %top, %none : tensor<4xi1, #q>, tensor<4xf32, #q>
    %be = tile.broadcast %base : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %t, %be : tensor<4x8xf32, #qk>
    %w = math.exp %z : tensor<4x8xf32, #qk>
    %d = arith.subf %mi, %base : tensor<4xf32, #q>
    %shrink = math.exp %d : tensor<4xf32, #q>
    %ls = arith.mulf %li, %shrink : tensor<4xf32, #q>
    %sum = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %ls, %sum : tensor<4xf32, #q>
    %se = tile.broadcast %shrink : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
    %as = arith.mulf %ai, %se : tensor<4x2xf32, #qe>
    %p = tile.dot %w, %v over "k" : tensor<4x8xf32, #qk>, tensor<8x2xf32, #ke> -> tensor<4x2xf32, #qe>
    %a = arith.addf %as, %p : tensor<4x2xf32, #qe>
    scf.yield %top, %total, %a : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  %log = math.log %l : tensor<4xf32, #q>
  %e = arith.addf %m, %log : tensor<4xf32, #q>
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !matrix
  tile.store %e, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// A capped value plus a slope times a distance, masked: one multiplication before tanh, one multiply-add for cap and slope
// together, the mask on their sum, the row part in the exponent's multiply-add.
// CHECK-LABEL: func.func @cap_and_slope
// CHECK-SAME: %[[C:[a-z0-9]+]]: f32 {tile.positive, tile.scalar = "c"}
// CHECK-DAG: %[[PLACES:.*]] = tile.positions %{{.*}} : tensor<8xi32, #k>
// CHECK-DAG: %[[RAMP:.*]] = arith.sitofp %[[PLACES]] : tensor<8xi32, #k> to tensor<8xf32, #k>
// CHECK-DAG: %[[INNER:.*]] = arith.mulf %[[C]], %{{.*}} : f32
// CHECK-DAG: %[[SLOPES:.*]] = arith.mulf %[[RAMP]], %{{.*}} : tensor<8xf32, #k>
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.dot
// CHECK: %[[IN:.*]] = tile.broadcast %[[INNER]] : f32 -> tensor<4x8xf32, #q_k>
// CHECK-NEXT: %[[T:.*]] = arith.mulf %[[S]], %[[IN]] : tensor<4x8xf32, #q_k>
// CHECK-NEXT: %[[TANH:.*]] = math.tanh %[[T]]
// CHECK: arith.sitofp %{{.*}} : tensor<4xi32, #q> to tensor<4xf32, #q>
// CHECK: %[[COLUMN:.*]] = tile.broadcast %[[SLOPES]] : tensor<8xf32, #k> -> tensor<4x8xf32, #q_k>
// CHECK-NEXT: %[[U:.*]] = math.fma %[[TANH]], %{{.*}}, %[[COLUMN]] : tensor<4x8xf32, #q_k>
// CHECK-NEXT: %[[MASKED:.*]] = tile.mask %[[U]] at
// CHECK-NEXT: tile.reduce max %[[MASKED]] over "k"
// CHECK: %[[Z:.*]] = math.fma %[[MASKED]], %{{.*}}, %{{.*}} : tensor<4x8xf32, #q_k>
// CHECK-NEXT: math.exp2 %[[Z]]
func.func @cap_and_slope(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %B: !row {tile.tensor = "B"}, %E: !row {tile.tensor = "E"},
                         %nk: i32 {tile.extent = "k"}, %c: f32 {tile.scalar = "c", tile.positive}, %h: i32 {tile.item = "h"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %cap = arith.constant dense<20.0> : tensor<4x8xf32, #qk>
  %slope = tile.load %B[%h] dims [-1] : !row -> f32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x2xf32, #qd>
  %m, %l = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none) -> (tensor<4xf32, #q>, tensor<4xf32, #q>) : i32 {
    %y = tile.load %Y[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf32, #kd>
    %s = tile.dot %x, %y over "d" : tensor<4x2xf32, #qd>, tensor<8x2xf32, #kd> -> tensor<4x8xf32, #qk>
    %ce = tile.broadcast %c : f32 -> tensor<4x8xf32, #qk>
    %sc = arith.mulf %s, %ce : tensor<4x8xf32, #qk>
    %part = arith.divf %sc, %cap : tensor<4x8xf32, #qk>
    %tanh = math.tanh %part : tensor<4x8xf32, #qk>
    %capped = arith.mulf %cap, %tanh : tensor<4x8xf32, #qk>
    %k = tile.positions %k0 : tensor<8xi32, #k>
    %q = tile.positions %q0 : tensor<4xi32, #q>
    %ke = tile.broadcast %k : tensor<8xi32, #k> -> tensor<4x8xi32, #qk>
    %qe = tile.broadcast %q : tensor<4xi32, #q> -> tensor<4x8xi32, #qk>
    %distance = arith.subi %ke, %qe : tensor<4x8xi32, #qk>
    %number = arith.sitofp %distance : tensor<4x8xi32, #qk> to tensor<4x8xf32, #qk>
    %slopes = tile.broadcast %slope : f32 -> tensor<4x8xf32, #qk>
    %bias = arith.mulf %slopes, %number : tensor<4x8xf32, #qk>
    %t = arith.addf %capped, %bias : tensor<4x8xf32, #qk>
    %u = tile.mask %t at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : tensor<4x8xf32, #qk>
    %r = tile.reduce max %u over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %top = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %u, %te : tensor<4x8xf32, #qk>
    %w = math.exp %z : tensor<4x8xf32, #qk>
    %d = arith.subf %mi, %top : tensor<4xf32, #q>
    %shrink = math.exp %d : tensor<4xf32, #q>
    %ls = arith.mulf %li, %shrink : tensor<4xf32, #q>
    %sum = tile.reduce sum %w over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %ls, %sum : tensor<4xf32, #q>
    scf.yield %top, %total : tensor<4xf32, #q>, tensor<4xf32, #q>
  } {tile.fold = "k"}
  %e = arith.addf %m, %l : tensor<4xf32, #q>
  tile.store %e, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// A factor of unknown sign stays before the maximum, and the maximum is carried as it is; a sum lets it pass.
// CHECK-LABEL: func.func @unknown_sign
// CHECK: scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<4x8xf32, #q_k>
// CHECK: %[[R:.*]] = tile.reduce max %[[T]] over "k"
// CHECK: %[[TOP:.*]] = arith.maximumf %[[M]], %[[R]]
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[X]] over "k"
// CHECK: %[[TOTAL:.*]] = math.fma %[[SUM]], %{{.*}}, %[[L]]
// CHECK: scf.yield %[[TOP]], %[[TOTAL]]
func.func @unknown_sign(%X: !matrix {tile.tensor = "X"}, %E: !row {tile.tensor = "E"}, %F: !row {tile.tensor = "F"},
                        %nk: i32 {tile.extent = "k"}, %c: f32 {tile.scalar = "c"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %m, %l = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest, %li = %none) -> (tensor<4xf32, #q>, tensor<4xf32, #q>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %ce = tile.broadcast %c : f32 -> tensor<4x8xf32, #qk>
    %t = arith.mulf %x, %ce : tensor<4x8xf32, #qk>
    %r = tile.reduce max %t over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %top = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %sum = tile.reduce sum %t over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %li, %sum : tensor<4xf32, #q>
    scf.yield %top, %total : tensor<4xf32, #q>, tensor<4xf32, #q>
  } {tile.fold = "k"}
  tile.store %m, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  tile.store %l, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// A factor that runs along the reduced axis stays inside; one along the other axis leaves the sum.
// CHECK-LABEL: func.func @factors_along_axes
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> tensor<4x8xf32, #q_k>
// CHECK: %[[T:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<4x8xf32, #q_k>
// CHECK: tile.reduce sum %[[T]] over "k"
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[X]] over "k"
// CHECK: arith.mulf %[[SUM]], %{{.*}} : tensor<4xf32, #q>
func.func @factors_along_axes(%X: !matrix {tile.tensor = "X"}, %E: !row {tile.tensor = "E"}, %F: !row {tile.tensor = "F"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
  %row = tile.load %E[%q0] dims [0] : !row -> tensor<4xf32, #q>
  %column = tile.load %E[%zero] dims [0] : !row -> tensor<8xf32, #k>
  %re = tile.broadcast %row : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
  %ce = tile.broadcast %column : tensor<8xf32, #k> -> tensor<4x8xf32, #qk>
  %t = arith.mulf %x, %ce : tensor<4x8xf32, #qk>
  %a = tile.reduce sum %t over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  %u = arith.mulf %x, %re : tensor<4x8xf32, #qk>
  %b = tile.reduce sum %u over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  tile.store %a, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  tile.store %b, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// What may be infinite or NaN does not leave a mask: a row from memory would spoil the masked elements of its row.
// A scalar may leave one with 0, a positive one one with -inf; nothing leaves a mask with another constant.
// CHECK-LABEL: func.func @masks
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> tensor<4x8xf32, #q_k>
// CHECK: %[[RX:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<4x8xf32, #q_k>
// CHECK: %[[ROW:.*]] = tile.mask %[[RX]] {{.*}} else 0.000000e+00
// CHECK: tile.reduce sum %[[ROW]]
// CHECK: %[[ZERO:.*]] = tile.mask %[[X]] {{.*}} else 0.000000e+00
// CHECK: tile.reduce sum %[[ZERO]]
// CHECK: %[[SX:.*]] = arith.mulf %[[X]], %{{.*}} : tensor<4x8xf32, #q_k>
// CHECK: %[[LOW:.*]] = tile.mask %[[SX]] {{.*}} else 0xFF800000
// CHECK: tile.reduce max %[[LOW]]
// CHECK: %[[ONE:.*]] = tile.mask %[[SX]] {{.*}} else 1.000000e+00
// CHECK: tile.reduce sum %[[ONE]]
func.func @masks(%X: !matrix {tile.tensor = "X"}, %E: !row {tile.tensor = "E"}, %F: !row {tile.tensor = "F"}, %s: f32 {tile.scalar = "s"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
  %row = tile.load %E[%q0] dims [0] : !row -> tensor<4xf32, #q>
  %re = tile.broadcast %row : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
  %rx = arith.mulf %x, %re : tensor<4x8xf32, #qk>
  %rm = tile.mask %rx at(%q0, %zero) planes [-1, 1] rest(%zero) else 0.0 : f32 : tensor<4x8xf32, #qk>
  %a = tile.reduce sum %rm over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  tile.store %a, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  %se = tile.broadcast %s : f32 -> tensor<4x8xf32, #qk>
  %sx = arith.mulf %x, %se : tensor<4x8xf32, #qk>
  %sm = tile.mask %sx at(%q0, %zero) planes [-1, 1] rest(%zero) else 0.0 : f32 : tensor<4x8xf32, #qk>
  %b = tile.reduce sum %sm over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  tile.store %b, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  %lm = tile.mask %sx at(%q0, %zero) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : tensor<4x8xf32, #qk>
  %c = tile.reduce max %lm over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  tile.store %c, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  %om = tile.mask %sx at(%q0, %zero) planes [-1, 1] rest(%zero) else 1.0 : f32 : tensor<4x8xf32, #qk>
  %d = tile.reduce sum %om over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
  tile.store %d, %F[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// 1 / sqrt(length of an inner axis) is positive; of the fold axis, which may be empty, not. A start other than 0
// and infinities does not change its unit.
// CHECK-LABEL: func.func @units
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}})
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[R:.*]] = tile.reduce max %[[X]] over "k"
// CHECK-NEXT: arith.maximumf %[[A]], %[[R]]
// CHECK: %[[T:.*]] = arith.mulf %[[X]]
// CHECK: %[[RT:.*]] = tile.reduce max %[[T]] over "k"
// CHECK: arith.maximumf %[[B]], %[[RT]]
// CHECK: %[[RS:.*]] = arith.mulf %[[R]]
// CHECK: arith.maximumf %[[C]], %[[RS]]
func.func @units(%X: !matrix {tile.tensor = "X"}, %E: !row {tile.tensor = "E"},
                 %nk: i32 {tile.extent = "k"}, %nd: i32 {tile.extent = "d"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %one = arith.constant 1.0 : f32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %start = arith.constant dense<3.0> : tensor<4xf32, #q>
  %df = arith.sitofp %nd : i32 to f32
  %dr = math.sqrt %df : f32
  %ds = arith.divf %one, %dr : f32
  %kf = arith.sitofp %nk : i32 to f32
  %kr = math.sqrt %kf : f32
  %ks = arith.divf %one, %kr : f32
  %m:3 = scf.for %k0 = %zero to %nk step %step iter_args(%a = %lowest, %b = %lowest, %c = %start) -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
    %de = tile.broadcast %ds : f32 -> tensor<4x8xf32, #qk>
    %dx = arith.mulf %x, %de : tensor<4x8xf32, #qk>
    %dm = tile.reduce max %dx over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %an = arith.maximumf %a, %dm : tensor<4xf32, #q>
    %ke = tile.broadcast %ks : f32 -> tensor<4x8xf32, #qk>
    %kx = arith.mulf %x, %ke : tensor<4x8xf32, #qk>
    %km = tile.reduce max %kx over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %bn = arith.maximumf %b, %km : tensor<4xf32, #q>
    %cn = arith.maximumf %c, %dm : tensor<4xf32, #q>
    scf.yield %an, %bn, %cn : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4xf32, #q>
  } {tile.fold = "k"}
  %s = arith.addf %m#0, %m#1 : tensor<4xf32, #q>
  %t = arith.addf %s, %m#2 : tensor<4xf32, #q>
  tile.store %t, %E[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// A sigmoid: one multiply-add in the exponent, one addition, one division.
// CHECK-LABEL: func.func @logistic
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[Z:.*]] = math.fma %[[X]]
// CHECK-NEXT: %[[E:.*]] = math.exp2 %[[Z]]
// CHECK: %[[D:.*]] = arith.addf %[[E]]
// CHECK-NEXT: %[[W:.*]] = arith.divf %{{.*}}, %[[D]]
// CHECK-NEXT: tile.store %[[W]]
func.func @logistic(%X: !matrix {tile.tensor = "X"}, %Y: !matrix {tile.tensor = "Y"}, %c: f32 {tile.scalar = "c"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %three = arith.constant dense<3.0> : tensor<4x8xf32, #qk>
  %one = arith.constant dense<1.0> : tensor<4x8xf32, #qk>
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x8xf32, #qk>
  %ce = tile.broadcast %c : f32 -> tensor<4x8xf32, #qk>
  %s = arith.mulf %x, %ce : tensor<4x8xf32, #qk>
  %t = arith.subf %s, %three : tensor<4x8xf32, #qk>
  %n = arith.negf %t : tensor<4x8xf32, #qk>
  %e = math.exp %n : tensor<4x8xf32, #qk>
  %d = arith.addf %one, %e : tensor<4x8xf32, #qk>
  %w = arith.divf %one, %d : tensor<4x8xf32, #qk>
  tile.store %w, %Y[%q0, %zero] dims [0, 1] : tensor<4x8xf32, #qk>, !matrix
  return
}

// What is no kernel is left alone.
// CHECK-LABEL: func.func @no_kernel
// CHECK: math.exp %
func.func @no_kernel(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}
