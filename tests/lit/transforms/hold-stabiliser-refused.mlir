// RUN: tilewright opt %s -tile-hold-stabiliser=explain -verify-diagnostics | FileCheck %s
// Refusals, each with its reason; the folds stay as they are.
#q = #tile.axes<"q">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf16, strided<[?, ?], offset: ?>>
!results = memref<?x?xf32, strided<[?, ?], offset: ?>>
#kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"d", inner, 2>, <"e", inner, 2>]>

// CHECK-LABEL: func.func @refused
// CHECK-NOT: tile.attempt
func.func @refused(%X: !matrix {tile.tensor = "X"}, %V: !matrix {tile.tensor = "V"}, %O: !results {tile.tensor = "O"},
                   %nk: i32 {tile.extent = "k"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %step = arith.constant 8 : i32
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32, #q>
  %none = arith.constant dense<0.0> : tensor<4xf32, #q>
  %nothing = arith.constant dense<0.0> : tensor<4x2xf32, #qe>
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: its tiles may be partial}}
  %m = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %lowest) -> (tensor<4xf32, #q>) : i32 {
    %top = tile.stabiliser %mi : tensor<4xf32, #q>
    scf.yield %top : tensor<4xf32, #q>
  } {tile.carried = ["value"], tile.fold = "k", tile.range = "partial"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: it has no stabiliser}}
  %n = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %m) -> (tensor<4xf32, #q>) : i32 {
    scf.yield %mi : tensor<4xf32, #q>
  } {tile.carried = ["value"], tile.fold = "k", tile.range = "full"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: no exponential depends on the stabiliser}}
  %p = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %n) -> (tensor<4xf32, #q>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf16, #qk>
    %s = arith.extf %x : tensor<4x8xf16, #qk> to tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    scf.yield %top : tensor<4xf32, #q>
  } {tile.carried = ["value"], tile.fold = "k", tile.range = "full"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: an exponential of a held value has no sum along "k" in the step, so nothing bounds it}}
  %t:2 = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %p, %ai = %nothing) -> (tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf16, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf16, #ke>
    %s = arith.extf %x : tensor<4x8xf16, #qk> to tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %te : tensor<4x8xf32, #qk>
    %w = math.exp2 %z : tensor<4x8xf32, #qk>
    %d = tile.dot %w, %v over "k" stage 1 : tensor<4x8xf32, #qk>, tensor<8x2xf16, #ke> -> tensor<4x2xf32, #qe>
    %a = arith.addf %ai, %d : tensor<4x2xf32, #qe>
    scf.yield %top, %a : tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.carried = ["value", "accumulator"], tile.fold = "k", tile.range = "full"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: a dot takes a held value otherwise than as an exponential on its left, so nothing bounds it}}
  %u:2 = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %t#0, %ai = %t#1) -> (tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf16, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf16, #ke>
    %s = arith.extf %x : tensor<4x8xf16, #qk> to tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %te : tensor<4x8xf32, #qk>
    %d = tile.dot %z, %v over "k" stage 1 : tensor<4x8xf32, #qk>, tensor<8x2xf16, #ke> -> tensor<4x2xf32, #qe>
    %a = arith.addf %ai, %d : tensor<4x2xf32, #qe>
    scf.yield %top, %a : tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.carried = ["value", "accumulator"], tile.fold = "k", tile.range = "full"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: carried value #2 is rescaled even if the stabiliser is held}}
  %w:3 = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %u#0, %li = %none, %ai = %u#1) -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    %x = tile.load %X[%q0, %k0] dims [0, 1] : !matrix -> tensor<4x8xf16, #qk>
    %v = tile.load %V[%k0, %zero] dims [0, 1] : !matrix -> tensor<8x2xf16, #ke>
    %s = arith.extf %x : tensor<4x8xf16, #qk> to tensor<4x8xf32, #qk>
    %r = tile.reduce max %s over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %max = arith.maximumf %mi, %r : tensor<4xf32, #q>
    %top = tile.stabiliser %max : tensor<4xf32, #q>
    %te = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x8xf32, #qk>
    %z = arith.subf %s, %te : tensor<4x8xf32, #qk>
    %e = math.exp2 %z : tensor<4x8xf32, #qk>
    %sum = tile.reduce sum %e over "k" : tensor<4x8xf32, #qk> -> tensor<4xf32, #q>
    %total = arith.addf %li, %sum : tensor<4xf32, #q>
    %d = tile.dot %e, %v over "k" stage 1 : tensor<4x8xf32, #qk>, tensor<8x2xf16, #ke> -> tensor<4x2xf32, #qe>
    %se = tile.broadcast %top : tensor<4xf32, #q> -> tensor<4x2xf32, #qe>
    %a = math.fma %ai, %se, %d : tensor<4x2xf32, #qe>
    scf.yield %top, %total, %a : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.carried = ["value", "sum", "accumulator"], tile.fold = "k", tile.range = "full"}
  // expected-remark @+1 {{the fold over "k" keeps to exact steps: it has no tile.carried: run tile-assign-stages first}}
  %y:3 = scf.for %k0 = %zero to %nk step %step iter_args(%mi = %w#0, %li = %w#1, %ai = %w#2) -> (tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>) : i32 {
    scf.yield %mi, %li, %ai : tensor<4xf32, #q>, tensor<4xf32, #q>, tensor<4x2xf32, #qe>
  } {tile.fold = "k"}
  tile.store %y#2, %O[%q0, %zero] dims [0, 1] : tensor<4x2xf32, #qe>, !results
  return
}
