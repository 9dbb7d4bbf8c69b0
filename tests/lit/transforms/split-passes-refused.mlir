// RUN: tilewright opt %s -split-input-file -verify-diagnostics -tile-split-passes="axis=e width=32"
#q = #tile.axes<"q">
#qe = #tile.axes<"q", "e">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>

func.func @reduced(%X: !matrix {tile.tensor = "X"}, %R: !row {tile.tensor = "R"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", fold, 8>, <"e", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%q0, %zero] dims [0, 1] : !matrix -> tensor<4x64xf32, #qe>
  // expected-error @below {{reduces over axis "e", of which a pass has a part; make the axis no longer than a tile}}
  %r = tile.reduce sum %x over "e" : tensor<4x64xf32, #qe> -> tensor<4xf32, #q>
  tile.store %r, %R[%q0] dims [0] : tensor<4xf32, #q>, !row
  return
}

// -----

// expected-error @below {{tile-split-passes: axis "e" cannot be walked in parts of 32; expected an inner axis whose width they divide}}
func.func @width() attributes {tile.kernel = #tile.kernel<[<"e", inner, 40>]>} {
  return
}
