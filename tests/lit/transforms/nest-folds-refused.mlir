// RUN: tilewright opt %s -split-input-file -verify-diagnostics -tile-nest-folds="axes=d widths=64 stages=2"
#t = #tile.axes<"t">
#td = #tile.axes<"t", "d">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
!row = memref<?xf32, strided<[?], offset: ?>>
#kernel = #tile.kernel<[<"t", block, 8>, <"v", fold, 16>, <"d", inner, 256>]>

// Something else than a dot uses the axis.
func.func @reduced(%X: !matrix {tile.tensor = "X"}, %W: !matrix {tile.tensor = "W"}, %R: !row {tile.tensor = "R"}, %Z: !matrix {tile.tensor = "Z"}, %t0: i32 {tile.item = "t"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  // expected-error @+1 {{is used along axis "d", which the schedule walks in chunks, by something else than a dot over it; make the axis no longer than a tile}}
  %x = tile.load %X[%t0, %zero] dims [0, 1] : !matrix -> tensor<8x256xf32, #td>
  %r = tile.reduce sum %x over "d" : tensor<8x256xf32, #td> -> tensor<8xf32, #t>
  tile.store %r, %R[%t0] dims [0] : tensor<8xf32, #t>, !row
  %w = tile.load %W[%zero, %zero] dims [0, 1] : !matrix -> tensor<16x256xf32, #tile.axes<"v", "d">>
  %z = tile.dot %x, %w over "d" : tensor<8x256xf32, #td>, tensor<16x256xf32, #tile.axes<"v", "d">> -> tensor<8x16xf32, #tile.axes<"t", "v">>
  tile.store %z, %Z[%t0, %zero] dims [0, 1] : tensor<8x16xf32, #tile.axes<"t", "v">>, !matrix
  return
}

// -----

#te = #tile.axes<"t", "e">
#td = #tile.axes<"t", "d">
#ed = #tile.axes<"e", "d">
#de = #tile.axes<"d", "e">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>
#kernel = #tile.kernel<[<"t", block, 8>, <"v", fold, 16>, <"d", inner, 256>, <"e", inner, 8>]>

// An operand that a dot makes along the axis.
func.func @product(%X: !matrix {tile.tensor = "X"}, %A: !matrix {tile.tensor = "A"}, %B: !matrix {tile.tensor = "B"}, %R: !matrix {tile.tensor = "R"}, %t0: i32 {tile.item = "t"}) attributes {tile.kernel = #kernel} {
  %zero = arith.constant 0 : i32
  %x = tile.load %X[%t0, %zero] dims [0, 1] : !matrix -> tensor<8x8xf32, #te>
  %a = tile.load %A[%zero, %zero] dims [0, 1] : !matrix -> tensor<8x256xf32, #ed>
  %b = tile.load %B[%zero, %zero] dims [0, 1] : !matrix -> tensor<256x8xf32, #de>
  // expected-error @+1 {{runs along axis "d", which the schedule walks in chunks; a dot over it takes what is loaded, or computed element by element: contract or reduce it otherwise, or make the axis no longer than a tile}}
  %y = tile.dot %x, %a over "e" : tensor<8x8xf32, #te>, tensor<8x256xf32, #ed> -> tensor<8x256xf32, #td>
  %z = tile.dot %y, %b over "d" : tensor<8x256xf32, #td>, tensor<256x8xf32, #de> -> tensor<8x8xf32, #te>
  tile.store %z, %R[%t0, %zero] dims [0, 1] : tensor<8x8xf32, #te>, !matrix
  return
}

// -----

#kernel = #tile.kernel<[<"t", block, 8>, <"v", fold, 16>, <"d", inner, 100>]>
// expected-error @+1 {{tile-nest-folds: axis "d" cannot be walked in chunks of 64; expected an inner axis whose width they divide}}
func.func @width() attributes {tile.kernel = #kernel} {
  return
}
