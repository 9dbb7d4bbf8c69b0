// RUN: tilewright opt -tile-bound-folds=explain=true -canonicalize -cse -split-input-file -verify-diagnostics %s | FileCheck %s
#q = #tile.axes<"q">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!sum = tensor<8x4xf32, #qe>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"e", inner, 4>]>

// A running maximum guarded against -inf, two sums by it: k <= q + shift bounds the fold from above. A tile that is
// wholly excluded changes nothing, whether a row has seen an element or not.
// CHECK-LABEL: func.func @guarded
// CHECK-SAME: %[[SQ:[a-zA-Z0-9]+]]: i32 {tile.extent = "q"}, %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}, %[[REST:[a-zA-Z0-9]+]]: i32 {tile.scalar = "rest"}, %[[Q0:[a-zA-Z0-9]+]]: i32
// CHECK-DAG: %[[ZERO:[a-zA-Z0-9_]+]] = arith.constant 0 : i32
// CHECK-DAG: %[[ONE:[a-zA-Z0-9_]+]] = arith.constant 1 : i32
// CHECK-DAG: %[[STEP:[a-zA-Z0-9_]+]] = arith.constant 16 : i32
// CHECK-DAG: %[[EIGHT:[a-zA-Z0-9_]+]] = arith.constant 8 : i32
// CHECK: %[[NEXT:[a-zA-Z0-9_]+]] = arith.addi %[[Q0]], %[[EIGHT]]
// CHECK: %[[PAST:[a-zA-Z0-9_]+]] = arith.minsi %[[NEXT]], %[[SQ]]
// CHECK: %[[LAST:[a-zA-Z0-9_]+]] = arith.subi %[[PAST]], %[[ONE]]
// CHECK: %[[LEAST:[a-zA-Z0-9_]+]] = arith.subi %[[REST]], %[[LAST]]
// CHECK: %[[MOST:[a-zA-Z0-9_]+]] = arith.subi %[[REST]], %[[Q0]]
// CHECK: %[[KEPT:[a-zA-Z0-9_]+]] = arith.subi %[[ONE]], %[[LEAST]]
// CHECK: %[[SHORT:[a-zA-Z0-9_]+]] = arith.minsi %[[SK]], %[[KEPT]]
// CHECK: %[[END:[a-zA-Z0-9_]+]] = arith.maxsi %[[SHORT]], %[[ZERO]]
// CHECK: %[[ALL:[a-zA-Z0-9_]+]] = arith.subi %[[ONE]], %[[MOST]]
// CHECK: %[[WHOLE:[a-zA-Z0-9_]+]] = arith.minsi %[[END]], %[[ALL]]
// CHECK: %[[TILES:[a-zA-Z0-9_]+]] = arith.floordivsi %[[WHOLE]], %[[STEP]]
// CHECK: %[[ROUND:[a-zA-Z0-9_]+]] = arith.muli %[[TILES]], %[[STEP]]
// CHECK: %[[FULL:[a-zA-Z0-9_]+]] = arith.maxsi %[[ROUND]], %[[ZERO]]
// CHECK: %[[F:[a-z0-9_]+]]:3 = scf.for %{{.*}} = %[[ZERO]] to %[[FULL]] step %[[STEP]]
// CHECK-NOT: tile.mask
// CHECK: } {tile.fold = "k", tile.range = "full"}
// CHECK: %[[P:[a-z0-9_]+]]:3 = scf.for %{{.*}} = %[[FULL]] to %[[END]] step %[[STEP]] iter_args(%{{.*}} = %[[F]]#0, %{{.*}} = %[[F]]#1, %{{.*}} = %[[F]]#2)
// CHECK: tile.mask
// CHECK: } {tile.fold = "k", tile.range = "partial"}
// CHECK-NOT: scf.for
// CHECK: tile.store %[[P]]#2
func.func @guarded(%X: !memory {tile.tensor = "X"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"},
    %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %none = arith.constant dense<0.0> : !sum
  %m, %l, %acc = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing, %ai = %none) -> (!row, !row, !sum) : i32 {
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x4xf32, #ke>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %n = arith.maximumf %mi, %r : !row
    %top = tile.stabiliser %n : !row
    %seen = arith.cmpf olt, %lowest, %top : !row
    %base = arith.select %seen, %top, %nothing : tensor<8xi1, #q>, !row
    %bases = tile.broadcast %base : !row -> !element
    %z = arith.subf %s, %bases : !element
    %w = math.exp %z : !element
    %dm = arith.subf %mi, %base : !row
    %shrink = math.exp %dm : !row
    %sum = tile.reduce sum %w over "k" : !element -> !row
    %ln = math.fma %li, %shrink, %sum : !row
    %d = tile.dot %w, %v over "k" : !element, tensor<16x4xf32, #ke> -> !sum
    %shrinks = tile.broadcast %shrink : !row -> !sum
    %an = math.fma %ai, %shrinks, %d : !sum
    scf.yield %top, %ln, %an : !row, !row, !sum
  } {tile.fold = "k"}
  tile.store %acc, %O[%q0, %zero] dims [0, 1] : !sum, !memory
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>
#ordered = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>], ordered = true>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A window has two edges: full tiles, then one loop over the partial ones on both sides of them. A coefficient of 2 on k
// asks for a division, rounded down.
// CHECK-LABEL: func.func @window
// CHECK-DAG: %[[STEP:[a-zA-Z0-9_]+]] = arith.constant 16 : i32
// CHECK-DAG: %[[TWO:[a-zA-Z0-9_]+]] = arith.constant 2 : i32
// CHECK: arith.floordivsi %{{.*}}, %[[TWO]]
// CHECK: %[[FULL:[a-zA-Z0-9_]+]] = arith.subi %[[FULLEND:[a-zA-Z0-9_]+]], %[[FULLBEGIN:[a-zA-Z0-9_]+]]
// CHECK: %[[LEFT:[a-zA-Z0-9_]+]] = arith.subi %{{.*}}, %[[FULL]]
// CHECK: %[[INSIDE:[a-zA-Z0-9_]+]] = scf.for %{{.*}} = %[[FULLBEGIN]] to %[[FULLEND]] step %[[STEP]]
// CHECK-NOT: tile.mask
// CHECK: tile.range = "full"
// CHECK: %[[AROUND:[a-zA-Z0-9_]+]] = scf.for %[[J:[a-zA-Z0-9_]+]] = %{{.*}} to %[[LEFT]] step %[[STEP]] iter_args(%{{.*}} = %[[INSIDE]])
// CHECK-NEXT: %[[K:[a-zA-Z0-9_]+]] = tile.skip %[[J]], %[[FULLBEGIN]], %[[FULL]]
// CHECK: tile.mask %{{.*}} at(%{{.*}}, %[[K]])
// CHECK: tile.range = "partial"
// CHECK-NOT: scf.for
// CHECK: tile.store %[[AROUND]]
// An ordered fold takes them one after the other.
// CHECK-LABEL: func.func @ordered_window
// CHECK: %[[FIRST:[a-zA-Z0-9_]+]] = scf.for %{{.*}} = %[[BEGIN:[a-zA-Z0-9_]+]] to %[[FULLBEGIN:[a-zA-Z0-9_]+]] step %{{.*}}
// CHECK: tile.mask
// CHECK: tile.range = "partial"
// CHECK: %[[SECOND:[a-zA-Z0-9_]+]] = scf.for %{{.*}} = %[[FULLBEGIN]] to %[[FULLEND:[a-zA-Z0-9_]+]] step %{{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK-NOT: tile.mask
// CHECK: tile.range = "full"
// CHECK: %[[THIRD:[a-zA-Z0-9_]+]] = scf.for %{{.*}} = %[[FULLEND]] to %[[END:[a-zA-Z0-9_]+]] step %{{.*}} iter_args(%{{.*}} = %[[SECOND]])
// CHECK: tile.mask
// CHECK: tile.range = "partial"
// CHECK: tile.store %[[THIRD]]
func.func @window(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %w: i32 {tile.scalar = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %minusW = arith.subi %zero, %w : i32
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 2, 1, -2] rest(%zero, %minusW) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

func.func @ordered_window(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %w: i32 {tile.scalar = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #ordered} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %minusW = arith.subi %zero, %w : i32
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 2, 1, -2] rest(%zero, %minusW) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Three sums under different masks: none bounds the fold, as each leaves the others alone, and 1 is not neutral. All
// three have to be full where masks are dropped.
// CHECK-LABEL: func.func @three_sums
// CHECK-SAME: %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}
// CHECK: %[[F:[a-z0-9_]+]]:3 = scf.for
// CHECK-NOT: tile.mask
// CHECK: tile.range = "full"
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[SK]] step
// CHECK-COUNT-3: tile.mask
// CHECK: tile.range = "partial"
func.func @three_sums(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %lowest = arith.constant dense<0xFF800000> : !row
  %one = arith.constant 1 : i32
  %end = arith.subi %one, %Sk : i32
  %a, %b, %c = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing, %bi = %nothing, %ci = %lowest) -> (!row, !row, !row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 would change}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 1.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 would change}}
    %t = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 0.0 : f32 : !element
    %abs = math.absf %t : !element
    %u = tile.reduce sum %abs over "k" : !element -> !row
    %bn = arith.addf %bi, %u : !row
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 would change}}
    %v = tile.mask %x at(%q0, %k0) planes [0, 1] rest(%end) else 0xFF800000 : f32 : !element
    %most = tile.reduce max %v over "k" : !element -> !row
    %cn = arith.maximumf %ci, %most : !row
    scf.yield %an, %bn, %cn : !row, !row, !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %b, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %c, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Weights masked to 0 meet values of the memory: 0 · (x - row) is 0. So the fold is bounded.
// CHECK-LABEL: func.func @weights
// CHECK: tile.range = "full"
// CHECK: tile.range = "partial"
func.func @weights(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %row = tile.load %X[%q0, %zero] dims [0, -1] : !memory -> !row
  %rows = tile.broadcast %row : !row -> !element
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %z = arith.subf %x, %rows : !element
    %w = math.exp %z : !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %w at(%q0, %k0) planes [-1, 1] rest(%zero) else 0.0 : f32 : !element
    %p = arith.mulf %s, %z : !element
    %r = tile.reduce sum %p over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// The maximum of a row is that of the masked elements plus a part that is the same for the whole row, as tile-linear-forms leaves it:
// where nothing was seen, both the elements and the maximum are -inf.
// CHECK-LABEL: func.func @offset
// CHECK: tile.range = "full"
// CHECK: tile.range = "partial"
func.func @offset(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %nothing = arith.constant dense<0.0> : !row
  %row = tile.load %X[%q0, %zero] dims [0, -1] : !memory -> !row
  %m, %l = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %li = %nothing) -> (!row, !row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %whole = arith.addf %r, %row : !row
    %top = arith.maximumf %mi, %whole : !row
    %seen = arith.cmpf olt, %lowest, %top : !row
    %base = arith.select %seen, %top, %nothing : tensor<8xi1, #q>, !row
    %behind = arith.subf %mi, %base : !row
    %shrink = math.exp2 %behind : !row
    %old = arith.mulf %li, %shrink : !row
    %less = arith.subf %row, %base : !row
    %lessEach = tile.broadcast %less : !row -> !element
    %e = arith.addf %s, %lessEach : !element
    %w = math.exp2 %e : !element
    %sum = tile.reduce sum %w over "k" : !element -> !row
    %ln = arith.addf %old, %sum : !row
    scf.yield %top, %ln : !row, !row
  } {tile.fold = "k"}
  tile.store %l, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %m, %O[%q0, %step] dims [0, -1] : !row, !memory
  return
}

// A decay forgets in every step, masked or not.
// CHECK-LABEL: func.func @decay
// CHECK: scf.for %{{.*}} to %arg{{[0-9]+}} step
func.func @decay(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %half = arith.constant dense<0.5> : !row
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 would change}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = math.fma %ai, %half, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// What the mask does not reach counts masked tiles too.
// CHECK-LABEL: func.func @count
func.func @count(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %lowest = arith.constant dense<0xFF800000> : !row
  %ones = arith.constant dense<1.0> : !element
  %m, %n = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %ni = %nothing) -> (!row, !row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #1 would change}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    %c = tile.reduce sum %ones over "k" : !element -> !row
    %seen = arith.cmpf olt, %lowest, %top : !row
    %kept = arith.select %seen, %ni, %nothing : tensor<8xi1, #q>, !row
    %nn = arith.addf %kept, %c : !row
    scf.yield %top, %nn : !row, !row
  } {tile.fold = "k"}
  tile.store %m, %O[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %n, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// The maximum sees less than the sum does, and the sum is forgotten while the maximum is at its start. A row may
// be there with a sum that is not 0, so a tile excluded from both is not without effect.
// CHECK-LABEL: func.func @forgotten
// CHECK-SAME: %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}
// CHECK: %[[LEFT:.*]] = arith.subi %[[SK]], %
// CHECK: tile.range = "full"
// CHECK: scf.for %{{.*}} to %[[LEFT]] step
// CHECK: tile.range = "partial"
func.func @forgotten(%X: !memory {tile.tensor = "X"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %lowest = arith.constant dense<0xFF800000> : !row
  %m, %n = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest, %ni = %nothing) -> (!row, !row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #1 would change while a running maximum is at its start}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%zero) else 0xFF800000 : f32 : !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #1 would change}}
    %t = tile.mask %s at(%q0, %k0) planes [1, -1] rest(%zero) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %t over "k" : !element -> !row
    %top = arith.maximumf %mi, %r : !row
    %w = math.exp %s : !element
    %c = tile.reduce sum %w over "k" : !element -> !row
    %seen = arith.cmpf olt, %lowest, %mi : !row
    %kept = arith.select %seen, %ni, %nothing : tensor<8xi1, #q>, !row
    %nn = arith.addf %kept, %c : !row
    scf.yield %top, %nn : !row, !row
  } {tile.fold = "k"}
  tile.store %m, %X[%q0, %zero] dims [0, -1] : !row, !memory
  tile.store %n, %X[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A half plane that changes in the loop bounds nothing, and no tile is known to be full.
// CHECK-LABEL: func.func @moving
// CHECK: scf.for
// CHECK: tile.mask
// CHECK: tile.range = "partial"
// CHECK-NOT: scf.for
// A fold without masks stays as it is.
// CHECK-LABEL: func.func @unmasked
// CHECK: scf.for %{{.*}} to %arg
// CHECK-NOT: tile.range
func.func @moving(%X: !memory {tile.tensor = "X"}, %T: memref<?xi32> {tile.tensor = "T"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %rest = tile.load %T[%k0] dims [-1] : memref<?xi32> -> i32
    // expected-remark @below {{bounds the fold over "k"; its half planes change in the loop, so no tile is known to be full}}
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %X[%q0, %zero] dims [0, -1] : !row, !memory
  return
}
func.func @unmasked(%X: !memory {tile.tensor = "X"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %r = tile.reduce sum %x over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %X[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A fold that carries maxima along the axis over which the step reduces mixes their rows.
// CHECK-LABEL: func.func @rows_meet
func.func @rows_meet(%X: !memory {tile.tensor = "X"}, %Sk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %lowest = arith.constant dense<0xFF800000> : !row
  %one = arith.constant 1 : i32
  %end = arith.subi %one, %Sk : i32
  %m = scf.for %k0 = %zero to %Sk step %step iter_args(%mi = %lowest) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{does not bound the fold over "k": in a tile that it excludes wholly, carried value #0 starts infinite along "q", over which the step reduces}}
    %s = tile.mask %x at(%q0, %k0) planes [0, 1] rest(%end) else 0xFF800000 : f32 : !element
    %r = tile.reduce max %s over "k" : !element -> !row
    %n = arith.maximumf %mi, %r : !row
    %all = tile.reduce max %n over "q" : !row -> f32
    %alls = tile.broadcast %all : f32 -> !row
    scf.yield %alls : !row
  } {tile.fold = "k"}
  tile.store %m, %X[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// -----
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>
#kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>

// A half plane without coordinates holds for a whole item or not at all: where it does not, no tile is visited, and where tiles are visited it
// need not be asked. A mask of nothing else leaves one loop and goes.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: %[[SK:[a-zA-Z0-9]+]]: i32 {tile.extent = "k"}, %[[REST:[a-zA-Z0-9]+]]: i32 {tile.scalar = "rest"}
// CHECK-DAG: %[[ZERO:[a-zA-Z0-9_]+]] = arith.constant 0 : i32
// CHECK: %[[OUT:[a-zA-Z0-9_]+]] = arith.cmpi sgt, %[[REST]], %[[ZERO]]
// CHECK: %[[END:[a-zA-Z0-9_]+]] = arith.select %[[OUT]], %[[ZERO]], %[[SK]]
// CHECK: scf.for
// CHECK-NOT: tile.mask
// CHECK: } {tile.fold = "k"}
// CHECK-NOT: scf.for
func.func @whole(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"; it is the same along the whole axis}}
    %s = tile.mask %x at(%q0, %k0) planes [0, 0] rest(%rest) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Beside another one it goes from the tiles that the other one cuts, too.
// CHECK-LABEL: func.func @partly
// CHECK: } {tile.fold = "k", tile.range = "full"}
// CHECK: tile.mask %{{.*}} planes [-1, 1] rest(%{{[a-zA-Z0-9_]+}}) else
// CHECK: } {tile.fold = "k", tile.range = "partial"}
func.func @partly(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sq: i32 {tile.extent = "q"}, %Sk: i32 {tile.extent = "k"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %nothing = arith.constant dense<0.0> : !row
  %a = scf.for %k0 = %zero to %Sk step %step iter_args(%ai = %nothing) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    // expected-remark @below {{bounds the fold over "k"}}
    %s = tile.mask %x at(%q0, %k0) planes [0, 0, -1, 1] rest(%rest, %zero) else 0.0 : f32 : !element
    %r = tile.reduce sum %s over "k" : !element -> !row
    %an = arith.addf %ai, %r : !row
    scf.yield %an : !row
  } {tile.fold = "k"}
  tile.store %a, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}
