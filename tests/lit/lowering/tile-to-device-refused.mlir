// RUN: tilewright opt %s -tile-to-device -split-input-file -verify-diagnostics -o /dev/null
// expected-error @below {{the kernel has no block axis; a GPU's thread blocks each own a tile of one}}
func.func @no_block(%n: i32 {tile.extent = "k"}) attributes {tile.kernel = #tile.kernel<[<"k", fold, 16>]>} {
  return
}

// -----

// expected-error @below {{the tile of the block axis "q" is 96 wide; a warpgroup owns 64 rows: make it a multiple of 64}}
func.func @width(%q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 96>]>} {
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>

func.func @f32(%Q: !matrix {tile.tensor = "Q"}, %K: !matrix {tile.tensor = "K"}, %k0: i32 {tile.scalar = "k0"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"k", fold, 32>, <"q", block, 64>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{tensor "Q" holds 'f32'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)}}
  %q = tile.load %Q[%q0, %zero] dims [0, 1] : !matrix -> tensor<64x64xf32, #qd>
  %k = tile.load %K[%k0, %zero] dims [0, 1] : !matrix -> tensor<32x64xf32, #kd>
  %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xf32, #qd>, tensor<32x64xf32, #kd> -> tensor<64x32xf32, #qk>
  return
}

// -----
#kd = #tile.axes<"k", "d">
!matrix = memref<?x?xf32, strided<[?, ?], offset: ?>>

func.func @elements(%B: !matrix {tile.tensor = "B"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 64>, <"k", fold, 32>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{reads tensor "B" element by element over two axes of which none is the block axis; on a GPU such a tile is an operand of a dot: make it of values along one axis each, or of coordinates, or run on the CPU (target host)}}
  %b = tile.load %B[%zero, %zero] dims [0, 1] : !matrix -> tensor<32x64xf32, #kd>
  %a = math.absf %b : tensor<32x64xf32, #kd>
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>

func.func @twice(%Q: !matrix {tile.tensor = "Q"}, %K: !matrix {tile.tensor = "K"}, %k0: i32 {tile.scalar = "k0"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"k", fold, 32>, <"q", block, 64>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %q = tile.load %Q[%q0, %zero] dims [0, 1] : !matrix -> tensor<64x64xbf16, #qd>
  // expected-error @below {{reads tensor "K" both for a dot and for elementwise work; on a GPU nothing is made of the elements of such a tile but reductions along its last dimension: reduce them, or run on the CPU (target host)}}
  %k = tile.load %K[%k0, %zero] dims [0, 1] : !matrix -> tensor<32x64xbf16, #kd>
  %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  %w = arith.extf %k : tensor<32x64xbf16, #kd> to tensor<32x64xf32, #kd>
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!matrices = memref<?x?x?xbf16, strided<[?, ?, ?], offset: ?>>

func.func @last_dimension(%Q: !matrices {tile.tensor = "Q"}, %K: !matrices {tile.tensor = "K"}, %h: i32 {tile.item = "h"}, %k0: i32 {tile.scalar = "k0"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"h", free, 1>, <"k", fold, 32>, <"q", block, 64>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{tensor "Q" is copied along axes of which none is its last dimension; the copy engine needs neighbours in memory: store the tensor with one of these axes last}}
  %q = tile.load %Q[%q0, %zero, %h] dims [0, 1, -1] : !matrices -> tensor<64x64xbf16, #qd>
  %k = tile.load %K[%h, %k0, %zero] dims [-1, 0, 1] : !matrices -> tensor<32x64xbf16, #kd>
  %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!six = memref<?x?x?x?x?x?xbf16, strided<[?, ?, ?, ?, ?, ?], offset: ?>>
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>

func.func @dimensions(%Q: !six {tile.tensor = "Q"}, %K: !matrix {tile.tensor = "K"}, %h: i32 {tile.item = "h"}, %k0: i32 {tile.scalar = "k0"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"h", free, 1>, <"k", fold, 32>, <"q", block, 64>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{tensor "Q" has 6 dimensions; the copy engine takes at most 5}}
  %q = tile.load %Q[%h, %h, %h, %h, %q0, %zero] dims [-1, -1, -1, -1, 0, 1] : !six -> tensor<64x64xbf16, #qd>
  %k = tile.load %K[%k0, %zero] dims [0, 1] : !matrix -> tensor<32x64xbf16, #kd>
  %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>

func.func @height(%Q: !matrix {tile.tensor = "Q"}, %K: !matrix {tile.tensor = "K"}, %k0: i32 {tile.scalar = "k0"}, %q0: i32 {tile.item = "q"})
    attributes {tile.kernel = #tile.kernel<[<"k", fold, 20>, <"q", block, 64>, <"d", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %q = tile.load %Q[%q0, %zero] dims [0, 1] : !matrix -> tensor<64x64xbf16, #qd>
  // expected-error @below {{tensor "K" has tiles 20 rows high; a copy takes a multiple of 8, at most 256: give axis "k" such a width in the schedule}}
  %k = tile.load %K[%k0, %zero] dims [0, 1] : !matrix -> tensor<20x64xbf16, #kd>
  %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<20x64xbf16, #kd> -> tensor<64x20xf32, #qk>
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
!flags = memref<?xi8, strided<[?], offset: ?>>

func.func @narrow(%F: !flags {tile.tensor = "flags"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 64>, <"k", fold, 8>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{tensor "flags" is read by 8 elements, 8 bytes, a step; a copy takes a multiple of 16 bytes and at most 256 elements: give axis "k" such a width in the schedule}}
  %f = tile.load %F[%zero] dims [0] : !flags -> tensor<8xi8, #k>
  return
}

// -----
#q = #tile.axes<"q">
#k = #tile.axes<"k">
!vector = memref<?xf32, strided<[?], offset: ?>>

func.func @wide(%W: !vector {tile.tensor = "w"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 64>, <"k", fold, 512>]>} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{tensor "w" is read by 512 elements, 2048 bytes, a step; a copy takes a multiple of 16 bytes and at most 256 elements: give axis "k" such a width in the schedule}}
  %w = tile.load %W[%zero] dims [0] : !vector -> tensor<512xf32, #k>
  return
}

// -----
#q = #tile.axes<"q">

func.func @double(%q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 64>]>} {
  // expected-error @below {{is f64, in which a GPU's kernel does not compute; make tensors, scalars and constants f32 (a number written bare takes the type of what it meets), or run on the CPU (target host)}}
  %x = arith.constant dense<0.1> : tensor<64xf64, #q>
  %y = arith.truncf %x : tensor<64xf64, #q> to tensor<64xf32, #q>
  return
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>

func.func @nested_outside(%Q: !matrix {tile.tensor = "Q"}, %K: !matrix {tile.tensor = "K"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"k", fold, 32>, <"q", block, 64>, <"d", inner, 128>]>} {
  %zero = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %none = arith.constant dense<0.0> : tensor<64x32xf32, #qk>
  // expected-error @below {{is a dot over axis "d", which the schedule walks in chunks, outside of the fold; on a GPU a step of the fold has such dots, or the axis lies whole inside a tile}}
  %s = scf.for %d0 = %zero to %c128 step %c64 iter_args(%sum = %none) -> (tensor<64x32xf32, #qk>) : i32 {
    %q = tile.load %Q[%q0, %d0] dims [0, 1] : !matrix -> tensor<64x64xbf16, #qd>
    %k = tile.load %K[%zero, %d0] dims [0, 1] : !matrix -> tensor<32x64xbf16, #kd>
    %part = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
    %next = arith.addf %sum, %part : tensor<64x32xf32, #qk>
    scf.yield %next : tensor<64x32xf32, #qk>
  } {tile.nested = "d", tile.stages = 2 : i64}
  return
}

// -----
#qk = #tile.axes<"q", "k">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>

func.func @columns_from_3(%V: !matrix {tile.tensor = "V"}, %q0: i32 {tile.item = "q"}) attributes {tile.kernel = #tile.kernel<[<"q", block, 64>, <"k", fold, 32>, <"e", inner, 64>]>} {
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %p = arith.constant dense<1.0> : tensor<64x32xf32, #qk>
  // expected-error @below {{reads rows of tensor "V" from an element on of which only multiples of 2 bytes are known, and the copy engine starts at multiples of 16; take a target that copies without it (h200-sm80), or shift the tensor itself}}
  %v = tile.load %V[%zero, %three] dims [0, 1] : !matrix -> tensor<32x64xbf16, #ke>
  %o = tile.dot %p, %v over "k" stage 0 : tensor<64x32xf32, #qk>, tensor<32x64xbf16, #ke> -> tensor<64x64xf32, #qe>
  return
}
