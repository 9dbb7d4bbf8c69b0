// RUN: tilewright opt %s -split-input-file -verify-diagnostics
// What no tile module may say, one case each, with the exact message.
#q = #tile.axes<"q">
#qk = #tile.axes<"q", "k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">

// expected-error @+1 {{a tile of 2 dimensions names 1 axes}}
func.func private @axes(tensor<4x4xf32, #q>)

// -----

// expected-error @+1 {{axis "q" stands twice in one tile}}
func.func private @twice(tensor<4x4xf32, #tile.axes<"q", "q">>)

// -----

// expected-error @+2 {{axis "b" is free with width 4; expected 1}}
// expected-error @+1 {{failed to parse Tile_KernelAttr parameter 'axes'}}
func.func private @free() attributes {tile.kernel = #tile.kernel<[<"b", free, 4>]>}

// -----

// expected-error @+1 {{axes "q" and "k" are both block; a kernel has one}}
func.func private @blocks() attributes {tile.kernel = #tile.kernel<[<"q", block, 4>, <"k", block, 4>]>}

// -----

// expected-error @+1 {{a kernel returns nothing: it stores}}
func.func private @returns() -> i32 attributes {tile.kernel = #tile.kernel<[<"q", block, 4>]>}

// -----

// expected-error @+1 {{argument 0 needs exactly one of tile.tensor, tile.extent, tile.scalar, tile.item}}
func.func @unmarked(%x: i32) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>]>} { return }

// -----

// expected-error @+1 {{argument 0 ("q") is 'i64'; expected i32}}
func.func @extent(%x: i64 {tile.extent = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>]>} { return }

// -----

// expected-error @+1 {{argument 0 belongs to axis "z", which the kernel does not list}}
func.func @stranger(%x: i32 {tile.extent = "z"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 4>]>} { return }

// -----

func.func @rank(%m: memref<?x?xf32>, %i: i32) {
  // expected-error @+1 {{memory of 2 dimensions has 1 offsets and 1 dims}}
  %x = tile.load %m[%i] dims [0] : memref<?x?xf32> -> tensor<4xf32, #tile.axes<"q">>
  return
}

// -----

func.func @missing(%m: memref<?x?xf32>, %i: i32) {
  // expected-error @+1 {{dims: every dimension of 'tensor<4xf32, #tile.axes<"q">>' must stand in it once}}
  %x = tile.load %m[%i, %i] dims [-1, -1] : memref<?x?xf32> -> tensor<4xf32, #tile.axes<"q">>
  return
}

// -----

func.func @element(%m: memref<?xf16>, %i: i32) {
  // expected-error @+1 {{moves elements of 'f16' as 'f32'; convert before or after}}
  %x = tile.load %m[%i] dims [0] : memref<?xf16> -> tensor<4xf32, #tile.axes<"q">>
  return
}

// -----

func.func @bare(%m: memref<?xf16>, %i: i32) {
  // expected-error @+1 {{tile 'tensor<4xf16>' needs a #tile.axes encoding}}
  %x = tile.load %m[%i] dims [0] : memref<?xf16> -> tensor<4xf16>
  return
}

// -----

func.func @gathered(%m: memref<?xf32>, %i: tensor<4xi32, #tile.axes<"q">>) {
  // expected-error @+1 {{no index runs along axis "k" of the result}}
  %x = tile.gather %m[%i] : memref<?xf32>, (tensor<4xi32, #tile.axes<"q">>) -> tensor<4x8xf32, #tile.axes<"q", "k">>
  return
}

// -----

func.func @fewPlaces(%m: memref<?x?xi32>, %i: i32) {
  // expected-error @+1 {{among elements of memory of 2 dimensions has 2 indices; expected one for each dimension but the last, a number and a count}}
  %x = tile.gather %m[%i, %i] {among} : memref<?x?xi32>, (i32, i32) -> i1
  return
}

// -----

func.func @amongFloats(%m: memref<?xf32>, %i: i32) {
  // expected-error @+1 {{looks for a number among elements of 'f32'; expected i32 or i64}}
  %x = tile.gather %m[%i, %i] {among} : memref<?xf32>, (i32, i32) -> i1
  return
}

// -----

func.func @amongAsNumber(%m: memref<?xi32>, %i: i32) {
  // expected-error @+1 {{says whether as 'i32'; expected i1}}
  %x = tile.gather %m[%i, %i] {among} : memref<?xi32>, (i32, i32) -> i32
  return
}

// -----

func.func @spread(%x: tensor<4xf32, #tile.axes<"q">>) {
  // expected-error @+1 {{axis "q" of 'tensor<4xf32, #tile.axes<"q">>' is not in 'tensor<8x4xf32, #tile.axes<"q", "k">>' with the same width}}
  %y = tile.broadcast %x : tensor<4xf32, #tile.axes<"q">> -> tensor<8x4xf32, #tile.axes<"q", "k">>
  return
}

// -----

func.func @reduced(%x: tensor<4x8xf32, #tile.axes<"q", "k">>) {
  // expected-error @+1 {{reduces over "d", along which 'tensor<4x8xf32, #tile.axes<"q", "k">>' does not run}}
  %y = tile.reduce max %x over "d" : tensor<4x8xf32, #tile.axes<"q", "k">> -> tensor<4xf32, #tile.axes<"q">>
  return
}

// -----

func.func @half(%x: tensor<4x8xf16, #tile.axes<"q", "k">>) {
  // expected-error @+1 {{combines elements of 'f16'; extend them to f32 first}}
  %y = tile.reduce sum %x over "k" : tensor<4x8xf16, #tile.axes<"q", "k">> -> tensor<4xf16, #tile.axes<"q">>
  return
}

// -----

func.func @contracted(%x: tensor<4x8xf16, #tile.axes<"q", "d">>, %y: tensor<4x16xf16, #tile.axes<"k", "d">>) {
  // expected-error @+1 {{operands have different widths along "d"}}
  %z = tile.dot %x, %y over "d" : tensor<4x8xf16, #tile.axes<"q", "d">>, tensor<4x16xf16, #tile.axes<"k", "d">> -> tensor<4x4xf32, #tile.axes<"q", "k">>
  return
}

// -----

func.func @order(%x: tensor<4x8xf16, #tile.axes<"q", "d">>, %y: tensor<6x8xf16, #tile.axes<"k", "d">>) {
  // expected-error @+1 {{gives 'tensor<4x6xf32, #tile.axes<"q", "k">>', not 'tensor<6x4xf32, #tile.axes<"k", "q">>'}}
  %z = tile.dot %x, %y over "d" : tensor<4x8xf16, #tile.axes<"q", "d">>, tensor<6x8xf16, #tile.axes<"k", "d">> -> tensor<6x4xf32, #tile.axes<"k", "q">>
  return
}

// -----

func.func @planes(%x: tensor<4x8xf32, #tile.axes<"q", "k">>, %i: i32) {
  // expected-error @+1 {{has 1 coefficients; expected one for each of 2 dimensions of 1 planes}}
  %y = tile.mask %x at(%i, %i) planes [1] rest(%i) else 0.0 : f32 : tensor<4x8xf32, #tile.axes<"q", "k">>
  return
}

// -----

func.func @kind(%x: tensor<4x8xf32, #tile.axes<"q", "k">>, %i: i32) {
  // expected-error @+1 {{replaces elements of 'f32' by a constant of 'i32'}}
  %y = tile.mask %x at(%i, %i) planes [1, 1] rest(%i) else 0 : i32 : tensor<4x8xf32, #tile.axes<"q", "k">>
  return
}

// -----

func.func @crossed(%table: memref<?x?xf16>, %i: i64) {
  // expected-error @+1 {{bounds elements of 'f16' by 'f64'; expected 'f32'}}
  %a, %b = tile.extremes %table[%i, %i] to [%i, %i] : memref<?x?xf16> -> f64, f64
  return
}

// -----

func.func @corners(%table: memref<?x?xf16>, %i: i64) {
  // expected-error @+1 {{memory of 2 dimensions has 1 places a corner}}
  %a, %b = tile.extremes %table[%i] to [%i] : memref<?x?xf16> -> f32, f32
  return
}

// -----

func.func @blocks(%table: memref<?xi32>, %i: i64) {
  // expected-error @+1 {{along and blocks go together: a dimension of 'memref<?xi32>', and a number of elements from 1}}
  %a, %b = tile.extremes %table[%i] to [%i] {along = 1 : i64, blocks = 16 : i64} : memref<?xi32> -> i64, i64
  return
}

// -----

func.func @listed(%i: i32, %c: i1) {
  // expected-error @+1 {{has a region of one argument, i32: the coordinate of a tile}}
  %list, %partial, %full, %all = tile.kept %i to %i step 8 {
    tile.classes empty(%c) full(%c)
  }
  return
}

// -----

func.func @standing(%i: i32, %c: i1) {
  // expected-error @+1 {{steps by 0; expected 1 or more}}
  %list, %partial, %full, %all = tile.kept %i to %i step 0 {
  ^bb0(%k: i32):
    tile.classes empty(%c) full(%c)
  }
  return
}

// -----

func.func @attempted(%ok: i1, %x: f32, %y: i32) {
  // expected-error @+1 {{both regions must give the types of the results}}
  %z = tile.attempt -> (f32) {
    tile.propose %ok, %x : i1, f32
  } otherwise {
    tile.yield %y : i32
  }
  return
}

// -----

#qe = #tile.axes<"q", "e">
func.func @rounded(%x: tensor<4x8xbf16, #qe>, %S: memref<?x?xbf16>, %q0: i32, %zero: i32) {
  // expected-error @+1 {{adds elements of 'bf16'; sums in memory are f32 or f64}}
  tile.accumulate %x, %S[%q0, %zero] dims [0, 1] : tensor<4x8xbf16, #qe>, memref<?x?xbf16>
  return
}
