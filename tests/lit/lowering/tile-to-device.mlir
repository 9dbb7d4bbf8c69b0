// RUN: tilewright opt %s -tile-to-device -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -tile-to-device=stages=3 -canonicalize -cse | FileCheck %s --check-prefix=STAGES
// RUN: tilewright opt %s -tile-to-device=overlap=false -canonicalize -cse | FileCheck %s --check-prefix=APART
// RUN: tilewright opt %s -tile-to-device=arch=sm80 -canonicalize -cse | FileCheck %s --check-prefix=LANES
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!matrices = memref<?x?x?xbf16, strided<[?, ?, ?], offset: ?>>
!vector = memref<?xf32, strided<[?], offset: ?>>

// One step and one loop over what is left, as tile-walk-folds leaves them. d is 40 long and e 80: less and more than a chunk of 64
// columns, so each chunk is a copy of its own. The vector w is first used between the dots, so its barriers are its own.
// CHECK-LABEL: device.kernel @steps "sm90a" items "q" 128 of ["b"] {
// CHECK-DAG: %[[KM:.*]] = device.tensor_map "K" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [0, 0, 0] box [64, 32, 1] swizzle 128
// CHECK-DAG: %[[WM:.*]] = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
// CHECK-DAG: %[[VM:.*]] = device.tensor_map "V" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [0, 0, 0] box [64, 32, 1] swizzle 128
// CHECK-DAG: %[[QM:.*]] = device.tensor_map "Q" bf16 {{.*}} box [64, 128, 1] swizzle 128
// CHECK-DAG: %[[NK:.*]] = device.extent "k"
// CHECK-DAG: %[[K:.*]] = device.ring "K" : <2 x[32, 40] bf16>
// CHECK-DAG: %[[W:.*]] = device.ring "w" : <2 x[32] f32>
// CHECK-DAG: %[[V:.*]] = device.ring "V" : <2 x[32, 80] bf16>
// CHECK-DAG: %[[Q:.*]] = device.ring "Q" : <1 x[128, 40] bf16>
// CHECK-DAG: %[[KB:.*]] = device.barriers "K" releases 8 : <2>
// CHECK-DAG: %[[WB:.*]] = device.barriers "w" releases 8 : <2>
// CHECK-DAG: %[[VB:.*]] = device.barriers "V" releases 8 : <2>
// CHECK-DAG: %[[QB:.*]] = device.barriers "Q" releases 8 : <1>
// STAGES: device.ring "K" : <3 x[32, 40] bf16>
// STAGES: device.ring "Q" : <1 x[128, 40] bf16>
// STAGES: device.barriers "K" releases 8 : <3>

// The producer: the item's own tile for items that have steps, then a step's tiles; those of stage 1 follow one step behind, the last
// ones after the loop.
// CHECK: device.producer registers 24 {
// CHECK: %[[KC:.*]] = device.cursor "K" on %[[KB]] phase 1
// CHECK: %[[WC:.*]] = device.cursor "w" on %[[WB]] phase 1
// CHECK: %[[VC:.*]] = device.cursor "V" on %[[VB]] phase 1
// CHECK: %[[QC:.*]] = device.cursor "Q" on %[[QB]] phase 1
// CHECK: scf.for %[[ITEM:.*]] = %{{.*}} to
// CHECK: %[[B:.*]] = arith.divsi %[[ITEM]], %
// CHECK: %[[Q0:.*]] = arith.muli %{{.*}}, %c128_i32
// CHECK: scf.if
// CHECK-NEXT: device.acquire %[[QC]] bytes 16384
// CHECK-NEXT: device.copy %[[QM]][%c0_i32, %[[Q0]], %[[B]]] to %[[Q]] at %[[QC]]
// CHECK-NEXT: device.advance %[[QC]]
// CHECK-NEXT: device.acquire %[[KC]] bytes 4096
// CHECK-NEXT: device.copy %[[KM]][%c0_i32, %c0_i32, %[[B]]] to %[[K]] at %[[KC]]
// CHECK-NEXT: device.advance %[[KC]]
// CHECK-NEXT: device.acquire %[[WC]] bytes 128
// CHECK-NEXT: device.copy %[[WM]][%c0_i32] to %[[W]] at %[[WC]] :
// CHECK-NEXT: device.advance %[[WC]]
// CHECK-NEXT: %[[LAST:.*]] = scf.for %[[AT:.*]] = %c32_i32 to %[[NK]] step %c32_i32 iter_args(%[[BEFORE:.*]] = %c0_i32)
// CHECK: device.copy %[[KM]][%c0_i32, %[[AT]], %[[B]]] to %[[K]] at %[[KC]]
// CHECK: device.copy %[[WM]][%[[AT]]] to %[[W]] at %[[WC]] :
// CHECK: device.acquire %[[VC]] bytes 8192
// CHECK-NEXT: device.copy %[[VM]][%c0_i32, %[[BEFORE]], %[[B]]] to %[[V]] at %[[VC]] :
// CHECK-NEXT: device.copy %[[VM]][%c64_i32, %[[BEFORE]], %[[B]]] to %[[V]] at %[[VC]] column 64 :
// CHECK-NEXT: device.advance %[[VC]]
// CHECK-NEXT: scf.yield %[[AT]]
// CHECK-NEXT: } {tile.fold = "k"}
// CHECK: device.acquire %[[VC]] bytes 8192
// CHECK-NEXT: device.copy %[[VM]][%c0_i32, %[[LAST]], %[[B]]] to %[[V]] at %[[VC]] :
// CHECK-NEXT: device.copy %[[VM]][%c64_i32, %[[LAST]], %[[B]]]
// CHECK-NEXT: device.advance %[[VC]]
// CHECK: } {device.items}

// Without overlap a step's tiles come together, and nothing follows.
// APART-LABEL: device.kernel @steps
// APART: device.copy %[[QM:.*]][%c0_i32, %{{.*}}, %{{.*}}] to
// APART: scf.for %[[AT:.*]] = %c32_i32 to
// APART: device.copy %{{.*}}[%c0_i32, %[[AT]], %{{.*}}] to %{{.*}} : <2 x[32, 40] bf16>
// APART: device.copy %{{.*}}[%c0_i32, %[[AT]], %{{.*}}] to %{{.*}} : <2 x[32, 80] bf16>
// APART: } {tile.fold = "k"}
// APART-NOT: device.copy
// APART: device.consumers

// The consumers: the program as it was, on tiles that are in shared memory. One number of a tensor is read from global memory.
// CHECK: device.consumers 2 registers 240 {
// CHECK: %[[KC:.*]] = device.cursor "K" on %[[KB]] phase 0
// CHECK: %[[VC:.*]] = device.cursor "V" on %[[VB]] phase 0
// CHECK: %[[QC:.*]] = device.cursor "Q" on %[[QB]] phase 0
// CHECK: %[[SCALE:.*]] = device.load %{{.*}}[%{{.*}}] if %{{.*}} : <f32> -> f32
// CHECK: %[[QT:.*]] = device.tile %[[Q]] at %[[QC]] columns "d"
// CHECK: scf.if
// CHECK: %[[KT:.*]] = device.tile %[[K]] at %[[KC]] columns "d"
// CHECK: tile.dot %[[QT]], %[[KT]] over "d" stage 0
// CHECK: device.tile %[[W]] at %{{.*}} columns "k" : <2 x[32] f32> -> tensor<32xf32, #k>
// CHECK: %[[VT:.*]] = device.tile %[[V]] at %[[VC]] columns "e"
// CHECK: tile.dot %{{.*}}, %[[VT]] over "k" stage 1
// CHECK: scf.for
// CHECK: } {tile.carried = ["accumulator"], tile.fold = "k"}
// CHECK: tile.broadcast %[[SCALE]]
// CHECK: %[[O:.*]] = device.memory "O"
// CHECK: tile.store %{{.*}}, %[[O]][
func.func @steps(%Q: !matrices {tile.tensor = "Q"}, %K: !matrices {tile.tensor = "K"}, %V: !matrices {tile.tensor = "V"}, %w: !vector {tile.tensor = "w"}, %t: !vector {tile.tensor = "t"}, %O: !matrices {tile.tensor = "O"},
                 %nk: i32 {tile.extent = "k"}, %b: i32 {tile.item = "b"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"b", free, 1>, <"q", block, 128>, <"k", fold, 32>, <"d", inner, 40>, <"e", inner, 80>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %nothing = arith.constant dense<0.0> : tensor<128x80xf32, #qe>
  %scale = tile.load %t[%b] dims [-1] : !vector -> f32
  %q = tile.load %Q[%b, %q0, %zero] dims [-1, 0, 1] : !matrices -> tensor<128x40xbf16, #qd>
  %any = arith.cmpi slt, %zero, %nk : i32
  %acc = scf.if %any -> (tensor<128x80xf32, #qe>) {
    %k0 = tile.load %K[%b, %zero, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x40xbf16, #kd>
    %s0 = tile.dot %q, %k0 over "d" stage 0 : tensor<128x40xbf16, #qd>, tensor<32x40xbf16, #kd> -> tensor<128x32xf32, #qk>
    %w0 = tile.load %w[%zero] dims [0] : !vector -> tensor<32xf32, #k>
    %wb0 = tile.broadcast %w0 : tensor<32xf32, #k> -> tensor<128x32xf32, #qk>
    %p0 = arith.mulf %s0, %wb0 : tensor<128x32xf32, #qk>
    %v0 = tile.load %V[%b, %zero, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x80xbf16, #ke>
    %a0 = tile.dot %p0, %v0 over "k" stage 1 : tensor<128x32xf32, #qk>, tensor<32x80xbf16, #ke> -> tensor<128x80xf32, #qe>
    %rest = scf.for %at = %step to %nk step %step iter_args(%ai = %a0) -> (tensor<128x80xf32, #qe>) : i32 {
      %k1 = tile.load %K[%b, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x40xbf16, #kd>
      %s = tile.dot %q, %k1 over "d" stage 0 : tensor<128x40xbf16, #qd>, tensor<32x40xbf16, #kd> -> tensor<128x32xf32, #qk>
      %w1 = tile.load %w[%at] dims [0] : !vector -> tensor<32xf32, #k>
      %wb = tile.broadcast %w1 : tensor<32xf32, #k> -> tensor<128x32xf32, #qk>
      %p = arith.mulf %s, %wb : tensor<128x32xf32, #qk>
      %v = tile.load %V[%b, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x80xbf16, #ke>
      %d = tile.dot %p, %v over "k" stage 1 : tensor<128x32xf32, #qk>, tensor<32x80xbf16, #ke> -> tensor<128x80xf32, #qe>
      %a = arith.addf %ai, %d : tensor<128x80xf32, #qe>
      scf.yield %a : tensor<128x80xf32, #qe>
    } {tile.fold = "k", tile.carried = ["accumulator"]}
    scf.yield %rest : tensor<128x80xf32, #qe>
  } else {
    scf.yield %nothing : tensor<128x80xf32, #qe>
  } {tile.fold = "k"}
  %scales = tile.broadcast %scale : f32 -> tensor<128x80xf32, #qe>
  %o = arith.mulf %acc, %scales : tensor<128x80xf32, #qe>
  %r = arith.truncf %o : tensor<128x80xf32, #qe> to tensor<128x80xbf16, #qe>
  tile.store %r, %O[%b, %q0, %zero] dims [-1, 0, 1] : tensor<128x80xbf16, #qe>, !matrices
  return
}

// Two tiles that the same dots use first and last share barriers: one arming for the bytes of both. 128 columns, known to be that many,
// are two chunks of one copy.
// CHECK-LABEL: device.kernel @pairs "sm90a" items "q" 64 of [] {
// CHECK-DAG: %[[KM:.*]] = device.tensor_map "K" bf16 dimensions [2, 1, 2, 0] chunks [0, 0, 64, 0] sizes [64, 0, 2, 0] box [64, 32, 2, 1] swizzle 128
// CHECK-DAG: %[[K:.*]] = device.ring "K" : <2 x[32, 128] bf16>
// CHECK-DAG: %[[J:.*]] = device.ring "J" : <2 x[32, 128] bf16>
// CHECK-DAG: %[[KB:.*]] = device.barriers "K" releases 4 : <2>
// CHECK-NOT: device.barriers "J"
// CHECK: device.producer
// CHECK: %[[KC:.*]] = device.cursor "K" on %[[KB]] phase 1
// CHECK: scf.for %[[AT:.*]] = %c0_i32 to %{{.*}} step %c32_i32
// CHECK-NEXT: device.acquire %[[KC]] bytes 16384
// CHECK-NEXT: device.copy %[[KM]][%c0_i32, %[[AT]], %c0_i32, %c0_i32] to %[[K]] at %[[KC]]
// CHECK-NEXT: device.copy %{{.*}}[%c0_i32, %[[AT]], %c0_i32, %c0_i32] to %[[J]] at %[[KC]]
// CHECK-NEXT: device.advance %[[KC]]
// CHECK: device.consumers 1 registers 240 {
// CHECK: %[[KC:.*]] = device.cursor "K" on %[[KB]] phase 0
// CHECK: device.tile %[[K]] at %[[KC]]
// CHECK: device.tile %[[J]] at %[[KC]]
func.func @pairs(%Q: !matrices {tile.tensor = "Q"}, %K: !matrices {tile.tensor = "K"}, %J: !matrices {tile.tensor = "J"}, %O: !vector {tile.tensor = "O"},
                 %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 64>, <"k", fold, 32>, <"d", inner, 128>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %nothing = arith.constant dense<0.0> : tensor<64xf32, #q>
  %q = tile.load %Q[%zero, %q0, %zero] dims [-1, 0, 1] : !matrices -> tensor<64x128xbf16, #qd>
  %total = scf.for %at = %zero to %nk step %step iter_args(%li = %nothing) -> (tensor<64xf32, #q>) : i32 {
    %k = tile.load %K[%zero, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x128xbf16, #kd>
    %j = tile.load %J[%zero, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x128xbf16, #kd>
    %s = tile.dot %q, %k over "d" stage 0 : tensor<64x128xbf16, #qd>, tensor<32x128xbf16, #kd> -> tensor<64x32xf32, #qk>
    %t = tile.dot %q, %j over "d" stage 0 : tensor<64x128xbf16, #qd>, tensor<32x128xbf16, #kd> -> tensor<64x32xf32, #qk>
    %x = arith.mulf %s, %t : tensor<64x32xf32, #qk>
    %sum = tile.reduce sum %x over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    %l = arith.addf %li, %sum : tensor<64xf32, #q>
    scf.yield %l : tensor<64xf32, #q>
  } {tile.fold = "k", tile.carried = ["sum"]}
  tile.store %total, %O[%q0] dims [0] : tensor<64xf32, #q>, !vector
  return
}

// What is known to divide where a vector starts: a step's first coordinate is a multiple of 32 elements, whichever loop it comes from, and a shift adds to
// it. Bytes, integers and floats lie in the ring as they do in memory; where they are read by item they keep their type. A copy engine starts at multiples of
// 16 bytes: of a vector that may start elsewhere, each thread reads its own elements.
// CHECK-LABEL: device.kernel @shifted "sm90a" items "q" 64 of ["b"] {
// CHECK-DAG: %[[WM:.*]] = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
// CHECK-NOT: device.tensor_map
// CHECK: device.producer
// CHECK: device.copy %[[WM]][%{{.*}}] to %{{.*}} at %{{.*}} : <2 x[32] f32>
// CHECK-NOT: device.copy
// CHECK: device.consumers
// CHECK: device.load %{{.*}}[%{{.*}}] if %{{.*}} : <i64> -> i64
// CHECK: device.load %{{.*}}[%{{.*}}] if %{{.*}} : <i8> -> i8
// CHECK: scf.for %[[UP:.*]] = %c0_i32
// CHECK: %[[AT:.*]] = arith.subi %{{.*}}, %[[UP]]
// CHECK: %[[AT1:.*]] = arith.addi %[[AT]], %c1_i32
// CHECK: tile.load %{{.*}}[%[[AT1]]] dims [0] : memref<?xf32, strided<[?], offset: ?>> -> tensor<32xf32, #k>
// CHECK: device.tile %{{.*}} : <2 x[32] f32>
// CHECK: tile.load %{{.*}} dims [0] : memref<?xf32, strided<[?], offset: ?>> -> tensor<32xf32, #k>
// CHECK: tile.load %{{.*}}[%[[AT1]]] dims [0] : memref<?xi64, strided<[?], offset: ?>> -> tensor<32xi64, #k>
// CHECK: tile.load %{{.*}} dims [0] : memref<?xi8, strided<[?], offset: ?>> -> tensor<32xi8, #k>
// LANES-LABEL: device.kernel @shifted "sm80" items "q" 64 of ["b"] {
// LANES-DAG: %[[WM:.*]] = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
// LANES-DAG: device.tensor_map "part" i64 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
// LANES-DAG: device.tensor_map "keep" i8 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
// LANES: device.producer
// LANES: device.copy %[[WM]][%{{.*}}] to %{{.*}} at %{{.*}} divisor 4 : <2 x[32] f32>
// LANES: device.copy %[[WM]][%{{.*}}] to %{{.*}} at %{{.*}} : <2 x[32] f32>
// LANES: device.copy %[[WM]][%{{.*}}] to %{{.*}} at %{{.*}} divisor 4 : <2 x[32] f32>
// LANES: device.copy %{{.*}}[%{{.*}}] to %{{.*}} at %{{.*}} divisor 8 : <2 x[32] i64>
// LANES: device.copy %{{.*}}[%{{.*}}] to %{{.*}} at %{{.*}} divisor 2 : <2 x[32] i8>
// LANES: device.consumers
#t = #tile.axes<"k">
func.func @shifted(%w: !vector {tile.tensor = "w"}, %part: memref<?xi64, strided<[?], offset: ?>> {tile.tensor = "part"}, %keep: memref<?xi8, strided<[?], offset: ?>> {tile.tensor = "keep"}, %O: !vector {tile.tensor = "O"},
                   %nk: i32 {tile.extent = "k"}, %from: i32 {tile.scalar = "from"}, %b: i32 {tile.item = "b"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"b", free, 1>, <"q", block, 64>, <"k", fold, 32>]>} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  %step = arith.constant 32 : i32
  %last = arith.constant 96 : i32
  %nothing = arith.constant dense<0.0> : tensor<64xf32, #q>
  %own = tile.load %part[%b] dims [-1] : memref<?xi64, strided<[?], offset: ?>> -> i64
  %flag = tile.load %keep[%b] dims [-1] : memref<?xi8, strided<[?], offset: ?>> -> i8
  %off = arith.constant 0 : i8
  %isOn = arith.cmpi ne, %flag, %off : i8
  %start = arith.select %isOn, %last, %step : i32
  %ownLow = arith.trunci %own : i64 to i32
  %ownNumber = arith.sitofp %ownLow : i32 to f32
  %total = scf.for %up = %zero to %nk step %step iter_args(%li = %nothing) -> (tensor<64xf32, #q>) : i32 {
    %at = arith.subi %start, %up : i32
    %at1 = arith.addi %at, %one : i32
    %at4 = arith.addi %at, %four : i32
    %atFrom = arith.addi %at, %from : i32
    %w1 = tile.load %w[%at1] dims [0] : !vector -> tensor<32xf32, #t>
    %w4 = tile.load %w[%at4] dims [0] : !vector -> tensor<32xf32, #t>
    %wFrom = tile.load %w[%atFrom] dims [0] : !vector -> tensor<32xf32, #t>
    %p1 = tile.load %part[%at1] dims [0] : memref<?xi64, strided<[?], offset: ?>> -> tensor<32xi64, #t>
    %at2 = arith.addi %at, %two : i32
    %k2 = tile.load %keep[%at2] dims [0] : memref<?xi8, strided<[?], offset: ?>> -> tensor<32xi8, #t>
    %numbers = arith.sitofp %p1 : tensor<32xi64, #t> to tensor<32xf32, #t>
    %s0 = arith.addf %w1, %w4 : tensor<32xf32, #t>
    %s1 = arith.addf %s0, %wFrom : tensor<32xf32, #t>
    %s2 = arith.addf %s1, %numbers : tensor<32xf32, #t>
    %offs = arith.constant dense<0> : tensor<32xi8, #t>
    %on = arith.cmpi ne, %k2, %offs : tensor<32xi8, #t>
    %none = arith.constant dense<0.0> : tensor<32xf32, #t>
    %s3 = arith.select %on, %s2, %none : tensor<32xi1, #t>, tensor<32xf32, #t>
    %all = tile.broadcast %s3 : tensor<32xf32, #t> -> tensor<64x32xf32, #qk>
    %sum = tile.reduce sum %all over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    %l = arith.addf %li, %sum : tensor<64xf32, #q>
    scf.yield %l : tensor<64xf32, #q>
  } {tile.fold = "k", tile.carried = ["sum"]}
  %owns = tile.broadcast %ownNumber : f32 -> tensor<64xf32, #q>
  %o = arith.addf %total, %owns : tensor<64xf32, #q>
  tile.store %o, %O[%q0] dims [0] : tensor<64xf32, #q>, !vector
  return
}

// A step's tiles come in the order in which they are used first, whatever the order of the loads: with one slot each, V of the next step waits for dots that
// need K of that step.
// APART-LABEL: device.kernel @order
// APART: device.producer
// APART: scf.for %[[AT:.*]] = %c0_i32 to
// APART: device.copy %{{.*}}[%c0_i32, %[[AT]], %c0_i32] to %{{.*}} : <2 x[32, 40] bf16>
// APART: device.advance
// APART: device.copy %{{.*}}[%c0_i32, %[[AT]], %c0_i32] to %{{.*}} : <2 x[32, 80] bf16>
// APART: device.consumers
func.func @order(%Q: !matrices {tile.tensor = "Q"}, %K: !matrices {tile.tensor = "K"}, %V: !matrices {tile.tensor = "V"}, %O: !matrices {tile.tensor = "O"},
                 %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 128>, <"k", fold, 32>, <"d", inner, 40>, <"e", inner, 80>]>} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 32 : i32
  %nothing = arith.constant dense<0.0> : tensor<128x80xf32, #qe>
  %q = tile.load %Q[%zero, %q0, %zero] dims [-1, 0, 1] : !matrices -> tensor<128x40xbf16, #qd>
  %acc = scf.for %at = %zero to %nk step %step iter_args(%ai = %nothing) -> (tensor<128x80xf32, #qe>) : i32 {
    %v = tile.load %V[%zero, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x80xbf16, #ke>
    %k = tile.load %K[%zero, %at, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x40xbf16, #kd>
    %s = tile.dot %q, %k over "d" stage 0 : tensor<128x40xbf16, #qd>, tensor<32x40xbf16, #kd> -> tensor<128x32xf32, #qk>
    %p = math.absf %s : tensor<128x32xf32, #qk>
    %d = tile.dot %p, %v over "k" stage 1 : tensor<128x32xf32, #qk>, tensor<32x80xbf16, #ke> -> tensor<128x80xf32, #qe>
    %a = arith.addf %ai, %d : tensor<128x80xf32, #qe>
    scf.yield %a : tensor<128x80xf32, #qe>
  } {tile.fold = "k", tile.carried = ["accumulator"]}
  %r = arith.truncf %acc : tensor<128x80xf32, #qe> to tensor<128x80xbf16, #qe>
  tile.store %r, %O[%zero, %q0, %zero] dims [-1, 0, 1] : tensor<128x80xbf16, #qe>, !matrices
  return
}
