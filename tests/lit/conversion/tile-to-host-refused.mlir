// RUN: tilewright opt %s -split-input-file -tile-to-host -verify-diagnostics
#q = #tile.axes<"q">
#qkd = #tile.axes<"q", "k", "d">
func.func @three(%x: f32 {tile.scalar = "x"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>, <"k", fold, 8>, <"d", inner, 8>]>} {
  // expected-error @+1 {{runs along 3 axes; on the host a tile has at most two: make another axis free, or reduce one first}}
  %y = tile.broadcast %x : f32 -> tensor<8x8x8xf32, #qkd>
  return
}

// -----

func.func @unknown(%x: i1 {tile.scalar = "x"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"q", block, 8>]>} {
  // expected-error @+1 {{tile-to-host does not know this operation; it takes tile, arith and math operations and scf.for}}
  scf.if %x {
  }
  return
}

// -----

func.func @table(%q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 2>]>} {
  // expected-error @+1 {{a constant tile must hold one value everywhere; pass a table as a tensor}}
  %y = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, #tile.axes<"q">>
  return
}
