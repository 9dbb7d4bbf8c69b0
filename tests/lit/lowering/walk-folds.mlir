// RUN: tilewright opt %s -tile-walk-folds -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -tile-walk-folds=peel=false -canonicalize -cse | FileCheck %s --check-prefix=UNPEELED
// RUN: tilewright opt %s -tile-walk-folds=careful=true -canonicalize -cse | FileCheck %s --check-prefix=CAREFUL
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
!row = tensor<8xf32, #q>
!element = tensor<8x16xf32, #qk>
!memory = memref<?x?xf32>

// Downwards, the last tile first and with its mask: the loops run over what is left below it, the partial tiles before the full ones.
// An upward induction variable k is visited as last + begin - k.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: %[[FULL:[a-z0-9]+]]: i32 {tile.scalar = "full"}, %[[END:[a-z0-9]+]]: i32 {tile.scalar = "end"}
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[END]], %c0_i32
// CHECK: %[[R:.*]] = scf.if %[[ANY]]
// CHECK-NEXT: %[[LAST:.*]] = arith.subi %[[END]], %c1_i32
// CHECK-NEXT: %[[TILES:.*]] = arith.floordivsi %[[LAST]], %c16_i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[TILES]], %c16_i32
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[FIRST]]]
// CHECK-NEXT: tile.mask %{{.*}} at(%{{.*}}, %[[FIRST]])
// CHECK-NEXT: tile.reduce
// CHECK-NEXT: %[[STEP:.*]] = arith.addf
// CHECK-NEXT: %[[LEFT:.*]] = arith.minsi %[[END]], %[[FIRST]]
// CHECK: %[[MIRROR:.*]] = arith.addi %{{.*}}, %[[FULL]]
// CHECK: %[[PARTIAL:.*]] = scf.for %[[K:.*]] = %[[FULL]] to %[[LEFT]] step %c16_i32 iter_args(%{{.*}} = %[[STEP]])
// CHECK-NEXT: %[[AT:.*]] = arith.subi %[[MIRROR]], %[[K]]
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[AT]]]
// CHECK-NEXT: tile.mask %{{.*}} at(%{{.*}}, %[[AT]])
// CHECK: } {tile.fold = "k", tile.range = "partial"}
// CHECK: %[[BELOW:.*]] = arith.minsi %[[FULL]], %[[FIRST]]
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0_i32 to %[[BELOW]] step %c16_i32 iter_args(%{{.*}} = %[[PARTIAL]])
// CHECK-NOT: tile.mask
// CHECK: } {tile.fold = "k", tile.range = "full"}
// CHECK: scf.yield %[[WHOLE]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %cst
// CHECK: } {tile.fold = "k"}
// CHECK: tile.store %[[R]]
// Without the first step, only the order changes.
// UNPEELED-LABEL: func.func @causal
// UNPEELED-SAME: %[[FULL:[a-z0-9]+]]: i32 {tile.scalar = "full"}, %[[END:[a-z0-9]+]]: i32 {tile.scalar = "end"}
// UNPEELED-NOT: scf.if
// UNPEELED: %[[PARTIAL:.*]] = scf.for %{{.*}} = %[[FULL]] to %[[END]] step %c16_i32 iter_args(%{{.*}} = %cst)
// UNPEELED: tile.mask
// UNPEELED: %[[R:.*]] = scf.for %{{.*}} = %c0_i32 to %[[FULL]] step %c16_i32 iter_args(%{{.*}} = %[[PARTIAL]])
// UNPEELED-NOT: tile.mask
// UNPEELED: tile.store %[[R]]
func.func @causal(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %full: i32 {tile.scalar = "full"}, %end: i32 {tile.scalar = "end"}, %rest: i32 {tile.scalar = "rest"},
                  %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %f = scf.for %k0 = %zero to %full step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %sum = tile.reduce sum %x over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "full"}
  %p = scf.for %k0 = %full to %end step %step iter_args(%li = %f) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "partial"}
  tile.store %p, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// A fold without masks is one loop, which loses its first visited tile.
// CHECK-LABEL: func.func @one_loop
// CHECK-SAME: %[[NK:[a-z0-9]+]]: i32 {tile.extent = "k"}
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = arith.muli
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[FIRST]]]
// CHECK: %[[LEFT:.*]] = arith.minsi %[[NK]], %[[FIRST]]
// CHECK: scf.for %{{.*}} = %c0_i32 to %[[LEFT]]
// CHECK: } {tile.fold = "k"}
// CHECK-NOT: scf.for
// UNPEELED-LABEL: func.func @one_loop
// UNPEELED-NOT: scf.if
func.func @one_loop(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %p = scf.for %k0 = %zero to %nk step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %sum = tile.reduce sum %x over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k"}
  tile.store %p, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// An ordered fold goes up: tile 0 is the first, and has a mask though it may be a full one; the loops begin behind it.
// CHECK-LABEL: func.func @ordered
// CHECK-SAME: %[[FULL:[a-z0-9]+]]: i32 {tile.scalar = "full"}, %[[END:[a-z0-9]+]]: i32 {tile.scalar = "end"}
// CHECK: scf.if
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %c0_i32]
// CHECK-NEXT: tile.mask
// CHECK: %[[WHOLE:.*]] = scf.for %[[K:.*]] = %c16_i32 to %[[FULL]] step %c16_i32
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[K]]]
// CHECK-NOT: tile.mask
// CHECK: tile.range = "full"
// CHECK: %[[FROM:.*]] = arith.maxsi %[[FULL]], %c16_i32
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[END]] step %c16_i32 iter_args(%{{.*}} = %[[WHOLE]])
// CHECK: tile.mask
// CHECK: tile.range = "partial"
// UNPEELED-LABEL: func.func @ordered
// UNPEELED: scf.for %{{.*}} = %c0_i32 to
// UNPEELED: tile.range = "full"
// UNPEELED: scf.for
// UNPEELED: tile.range = "partial"
func.func @ordered(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %full: i32 {tile.scalar = "full"}, %end: i32 {tile.scalar = "end"}, %rest: i32 {tile.scalar = "rest"},
                   %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>], ordered = true>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %f = scf.for %k0 = %zero to %full step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %sum = tile.reduce sum %x over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "full"}
  %p = scf.for %k0 = %full to %end step %step iter_args(%li = %f) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "partial"}
  tile.store %p, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Partial tiles on both sides of the full ones, in one loop behind them: its last tile is the first one, or the last full one if
// the loop is empty. Only the loop which the tile is taken from gets shorter.
// CHECK-LABEL: func.func @window
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: i32 {tile.scalar = "begin"}, %[[FROM:[a-z0-9]+]]: i32 {tile.scalar = "from"}, %[[TO:[a-z0-9]+]]: i32 {tile.scalar = "to"}, %[[BY:[a-z0-9]+]]: i32 {tile.scalar = "by"}, %[[END:[a-z0-9]+]]: i32 {tile.scalar = "end"}
// CHECK-DAG: %[[INSIDE:.*]] = arith.cmpi slt, %[[FROM]], %[[TO]]
// CHECK-DAG: %[[AROUND:.*]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: %[[ANY:.*]] = arith.ori %[[INSIDE]], %[[AROUND]]
// CHECK: scf.if %[[ANY]]
// CHECK: %[[LAST:.*]] = arith.muli
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[LAST]], %[[FROM]]
// CHECK: %[[BEHIND:.*]] = arith.addi %[[LAST]], %[[BY]]
// CHECK: %[[PARTIAL:.*]] = arith.select %[[BELOW]], %[[LAST]], %[[BEHIND]]
// CHECK: %[[WHOLE:.*]] = arith.muli
// CHECK: %[[FIRST:.*]] = arith.select %[[AROUND]], %[[PARTIAL]], %[[WHOLE]]
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[FIRST]]]
// CHECK-NEXT: tile.mask %{{.*}} at(%{{.*}}, %[[FIRST]])
// CHECK: %[[TAKEN:.*]] = arith.select %[[AROUND]], %[[TO]], %[[FIRST]]
// CHECK: scf.for %[[J:.*]] = %[[BEGIN]] to %[[LAST]] step %c16_i32
// CHECK-NEXT: %[[AT:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK-NEXT: %[[LOW:.*]] = arith.cmpi slt, %[[AT]], %[[FROM]]
// CHECK-NEXT: %[[HIGH:.*]] = arith.addi %[[AT]], %[[BY]]
// CHECK-NEXT: %[[K:.*]] = arith.select %[[LOW]], %[[AT]], %[[HIGH]]
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[K]]]
// CHECK: tile.range = "partial"
// CHECK: %[[LEFT:.*]] = arith.minsi %[[TO]], %[[TAKEN]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[LEFT]] step %c16_i32
// CHECK: tile.range = "full"
// CHECK-NOT: tile.skip
// UNPEELED-LABEL: func.func @window
// UNPEELED-NOT: scf.if
// UNPEELED: tile.range = "partial"
// UNPEELED: tile.range = "full"
// UNPEELED-NOT: tile.skip
func.func @window(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %begin: i32 {tile.scalar = "begin"}, %from: i32 {tile.scalar = "from"}, %to: i32 {tile.scalar = "to"},
                  %by: i32 {tile.scalar = "by"}, %end: i32 {tile.scalar = "end"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : !row
  %f = scf.for %k0 = %from to %to step %step iter_args(%li = %none) -> (!row) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %sum = tile.reduce sum %x over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "full"}
  %p = scf.for %j = %begin to %end step %step iter_args(%li = %f) -> (!row) : i32 {
    %k0 = tile.skip %j, %from, %by
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "partial"}
  tile.store %p, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// Only kernels have folds.
// CHECK-LABEL: func.func @no_kernel
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c16_i32
func.func @no_kernel(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %p = scf.for %k0 = %zero to %n step %step iter_args(%x = %zero) -> (i32) : i32 {
    %y = arith.addi %x, %k0 : i32
    scf.yield %y : i32
  } {tile.fold = "k"}
  return %p : i32
}

// Where a mask hides elements from a dot that accumulates, an item can be done with care: one loop over the tiles of both loops, upwards, with the mask.
// What is past the end of the axis is 0, and a mask that ends it hides nothing.
// CAREFUL-LABEL: func.func @causal
// CAREFUL-NOT: tile.careful
// CAREFUL-LABEL: func.func @ways
// CAREFUL-SAME: %[[BEGIN:[a-z0-9]+]]: i32 {tile.scalar = "begin"}, %[[FROM:[a-z0-9]+]]: i32 {tile.scalar = "from"}, %[[TO:[a-z0-9]+]]: i32 {tile.scalar = "to"}, %[[BY:[a-z0-9]+]]: i32 {tile.scalar = "by"}, %[[END:[a-z0-9]+]]: i32 {tile.scalar = "end"}
// CAREFUL: %[[CAREFUL:.*]] = tile.careful
// CAREFUL: %[[R:.*]] = scf.if %[[CAREFUL]]
// CAREFUL-NEXT: %[[LAST:.*]] = arith.addi %[[END]], %[[BY]]
// CAREFUL-NEXT: %[[ALL:.*]] = scf.for %[[K:.*]] = %[[BEGIN]] to %[[LAST]] step %c16_i32 iter_args(%[[SUM:.*]] = %cst)
// CAREFUL-NEXT: tile.load %{{.*}}[%[[K]], %c0_i32]
// CAREFUL: tile.mask %{{.*}} at(%{{.*}}, %[[K]])
// CAREFUL: } {tile.carried = ["accumulator"], tile.fold = "k", tile.range = "partial"}
// CAREFUL-NEXT: scf.yield %[[ALL]]
// CAREFUL-NEXT: } else {
// CAREFUL: scf.if
// CAREFUL: tile.range = "partial"
// CAREFUL: tile.range = "full"
// CAREFUL: } {tile.careful}
// CAREFUL: tile.store %[[R]]
// CAREFUL-LABEL: func.func @ends
// CAREFUL-NOT: tile.careful
#kd = #tile.axes<"k", "d">
#qd = #tile.axes<"q", "d">
func.func @ways(%X: !memory {tile.tensor = "X"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"}, %begin: i32 {tile.scalar = "begin"}, %from: i32 {tile.scalar = "from"}, %to: i32 {tile.scalar = "to"},
                %by: i32 {tile.scalar = "by"}, %end: i32 {tile.scalar = "end"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"d", inner, 8>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 16 : i32
  %none = arith.constant dense<0.0> : tensor<8x8xf32, #qd>
  %f = scf.for %k0 = %from to %to step %step iter_args(%ai = %none) -> (tensor<8x8xf32, #qd>) : i32 {
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x8xf32, #kd>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %d = tile.dot %x, %v over "k" stage 1 : !element, tensor<16x8xf32, #kd> -> tensor<8x8xf32, #qd>
    %an = arith.addf %ai, %d : tensor<8x8xf32, #qd>
    scf.yield %an : tensor<8x8xf32, #qd>
  } {tile.fold = "k", tile.range = "full", tile.carried = ["accumulator"]}
  %p = scf.for %j = %begin to %end step %step iter_args(%ai = %f) -> (tensor<8x8xf32, #qd>) : i32 {
    %k0 = tile.skip %j, %from, %by
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x8xf32, #kd>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %d = tile.dot %s, %v over "k" stage 1 : !element, tensor<16x8xf32, #kd> -> tensor<8x8xf32, #qd>
    %an = arith.addf %ai, %d : tensor<8x8xf32, #qd>
    scf.yield %an : tensor<8x8xf32, #qd>
  } {tile.fold = "k", tile.range = "partial", tile.carried = ["accumulator"]}
  tile.store %p, %O[%q0, %zero] dims [0, 1] : tensor<8x8xf32, #qd>, !memory
  return
}

func.func @ends(%X: !memory {tile.tensor = "X"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"}, %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"d", inner, 8>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %step = arith.constant 16 : i32
  %rest = arith.subi %one, %nk : i32
  %none = arith.constant dense<0.0> : tensor<8x8xf32, #qd>
  %p = scf.for %k0 = %zero to %nk step %step iter_args(%ai = %none) -> (tensor<8x8xf32, #qd>) : i32 {
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x8xf32, #kd>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [0, 1] rest(%rest) else 0.0 : f32 : !element
    %d = tile.dot %s, %v over "k" stage 1 : !element, tensor<16x8xf32, #kd> -> tensor<8x8xf32, #qd>
    %an = arith.addf %ai, %d : tensor<8x8xf32, #qd>
    scf.yield %an : tensor<8x8xf32, #qd>
  } {tile.fold = "k", tile.carried = ["accumulator"]}
  tile.store %p, %O[%q0, %zero] dims [0, 1] : tensor<8x8xf32, #qd>, !memory
  return
}

// Loops over a list: the partial tiles first, and the first visited one, of whichever kind, before the loops.
// CHECK-LABEL: func.func @listed
// CHECK: %[[LIST:.*]], %[[PARTIAL:.*]], %[[FULL:.*]], %[[ALL:.*]] = tile.kept
// CHECK-DAG: %[[SOMEFULL:.*]] = arith.cmpi slt, %[[FULL]], %[[ALL]]
// CHECK-DAG: %[[SOMEPARTIAL:.*]] = arith.cmpi sgt, %[[PARTIAL]], %c0_i32
// CHECK: %[[ANY:.*]] = arith.ori %[[SOMEFULL]], %[[SOMEPARTIAL]]
// CHECK: scf.if %[[ANY]]
// CHECK: %[[AT:.*]] = arith.select %[[SOMEPARTIAL]], %c0_i32, %[[FULL]]
// CHECK: %[[FIRST:.*]] = tile.kept_at %[[LIST]][%[[AT]]]
// CHECK: tile.load %{{.*}}[%{{.*}}, %[[FIRST]]]
// CHECK: tile.mask
// CHECK: scf.for %[[I:.*]] = %c1_i32 to %[[PARTIAL]] step %c1_i32
// CHECK: tile.kept_at %[[LIST]][%[[I]]]
// CHECK: tile.range = "partial"
// CHECK: %[[NEXT:.*]] = arith.addi %[[FULL]], %c1_i32
// CHECK: %[[FROM:.*]] = arith.select %[[SOMEPARTIAL]], %[[FULL]], %[[NEXT]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[ALL]] step %c1_i32
// CHECK-NOT: tile.mask
// CHECK: tile.range = "full"
// UNPEELED-LABEL: func.func @listed
// UNPEELED-NOT: scf.if
// UNPEELED: scf.for %{{.*}} = %c0_i32 to %{{.*}} step %c1_i32
// UNPEELED: tile.range = "partial"
// UNPEELED: tile.range = "full"
func.func @listed(%X: !memory {tile.tensor = "X"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : !row
  %list, %partial, %full, %all = tile.kept %zero to %Sk step 16 {
  ^bb0(%k: i32):
    %e = arith.cmpi slt, %k, %rest : i32
    %f = arith.cmpi slt, %q0, %k : i32
    tile.classes empty(%e) full(%f)
  }
  %f = scf.for %i = %full to %all step %one iter_args(%li = %none) -> (!row) : i32 {
    %k0 = tile.kept_at %list[%i]
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %sum = tile.reduce sum %x over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "full"}
  %p = scf.for %i = %zero to %partial step %one iter_args(%li = %f) -> (!row) : i32 {
    %k0 = tile.kept_at %list[%i]
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %sum = tile.reduce sum %s over "k" : !element -> !row
    %ln = arith.addf %li, %sum : !row
    scf.yield %ln : !row
  } {tile.fold = "k", tile.range = "partial"}
  tile.store %p, %O[%q0, %zero] dims [0, -1] : !row, !memory
  return
}

// With care, one loop over both parts of the list, which has room between them.
// CAREFUL-LABEL: func.func @listed_ways
// CAREFUL: %[[LIST:.*]], %[[PARTIAL:.*]], %[[FULL:.*]], %[[ALL:.*]] = tile.kept
// CAREFUL: scf.if %
// CAREFUL-NEXT: %[[GAP:.*]] = arith.subi %[[FULL]], %[[PARTIAL]]
// CAREFUL-NEXT: %[[END:.*]] = arith.subi %[[ALL]], %[[GAP]]
// CAREFUL-NEXT: scf.for %[[I:.*]] = %c0_i32 to %[[END]] step %c1_i32
// CAREFUL-NEXT: %[[BELOW:.*]] = arith.cmpi slt, %[[I]], %[[PARTIAL]]
// CAREFUL-NEXT: %[[BEHIND:.*]] = arith.addi %[[I]], %[[GAP]]
// CAREFUL-NEXT: %[[AT:.*]] = arith.select %[[BELOW]], %[[I]], %[[BEHIND]]
// CAREFUL-NEXT: %[[K:.*]] = tile.kept_at %[[LIST]][%[[AT]]]
// CAREFUL: tile.mask %{{.*}} at(%{{.*}}, %[[K]])
// CAREFUL: tile.range = "partial"
// CAREFUL: } else {
// CAREFUL: scf.if
// CAREFUL: tile.range = "partial"
// CAREFUL: tile.range = "full"
// CAREFUL: } {tile.careful}
func.func @listed_ways(%X: !memory {tile.tensor = "X"}, %V: !memory {tile.tensor = "V"}, %O: !memory {tile.tensor = "O"}, %Sk: i32 {tile.extent = "k"}, %rest: i32 {tile.scalar = "rest"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 16>, <"d", inner, 8>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<8x8xf32, #qd>
  %list, %partial, %full, %all = tile.kept %zero to %Sk step 16 {
  ^bb0(%k: i32):
    %e = arith.cmpi slt, %k, %rest : i32
    %f = arith.cmpi slt, %q0, %k : i32
    tile.classes empty(%e) full(%f)
  }
  %f = scf.for %i = %full to %all step %one iter_args(%ai = %none) -> (tensor<8x8xf32, #qd>) : i32 {
    %k0 = tile.kept_at %list[%i]
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x8xf32, #kd>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %d = tile.dot %x, %v over "k" stage 1 : !element, tensor<16x8xf32, #kd> -> tensor<8x8xf32, #qd>
    %an = arith.addf %ai, %d : tensor<8x8xf32, #qd>
    scf.yield %an : tensor<8x8xf32, #qd>
  } {tile.fold = "k", tile.range = "full", tile.carried = ["accumulator"]}
  %p = scf.for %i = %zero to %partial step %one iter_args(%ai = %f) -> (tensor<8x8xf32, #qd>) : i32 {
    %k0 = tile.kept_at %list[%i]
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !memory -> tensor<16x8xf32, #kd>
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !memory -> !element
    %s = tile.mask %x at(%q0, %k0) planes [-1, 1] rest(%rest) else 0.0 : f32 : !element
    %d = tile.dot %s, %v over "k" stage 1 : !element, tensor<16x8xf32, #kd> -> tensor<8x8xf32, #qd>
    %an = arith.addf %ai, %d : tensor<8x8xf32, #qd>
    scf.yield %an : tensor<8x8xf32, #qd>
  } {tile.fold = "k", tile.range = "partial", tile.carried = ["accumulator"]}
  tile.store %p, %O[%q0, %zero] dims [0, 1] : tensor<8x8xf32, #qd>, !memory
  return
}
