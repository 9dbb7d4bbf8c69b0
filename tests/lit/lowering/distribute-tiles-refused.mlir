// RUN: tilewright opt %s -device-distribute-tiles -split-input-file -verify-diagnostics -o /dev/null
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">

device.kernel @reduces_block "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %x = arith.constant dense<1.0> : tensor<64x32xf32, #qk>
    %y = math.absf %x : tensor<64x32xf32, #qk>
    // expected-error @below {{reduces over the block axis "q"; on a GPU a thread block's rows do not meet: reduce over another axis}}
    %r = tile.reduce sum %y over "q" : tensor<64x32xf32, #qk> -> tensor<32xf32, #k>
  }
}

// -----
#k = #tile.axes<"k">

device.kernel @carries_column "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %n = device.block_index
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<32xf32, #k>
    // expected-error @below {{carries 'tensor<32xf32, #tile.axes<"k">>'; on a GPU a fold carries values over the block axis "q", or over it and one inner axis}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %none) -> (tensor<32xf32, #k>) : i32 {
      scf.yield %x : tensor<32xf32, #k>
    } {tile.fold = "k"}
  }
}

// -----
#k = #tile.axes<"k">

device.kernel @reduces_column "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 240 {
    %x = arith.constant dense<1.0> : tensor<32xf32, #k>
    // expected-error @below {{reduces 'tensor<32xf32, #tile.axes<"k">>' to one number; on a GPU rows of the block axis "q" are reduced: let what is reduced run along that axis too}}
    %r = tile.reduce sum %x over "k" : tensor<32xf32, #k> -> f32
  }
}

// -----
#qe = #tile.axes<"q", "e">

device.kernel @carries_tile "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %n = device.block_index
    %c1 = arith.constant 1 : i32
    %none = arith.constant dense<0.0> : tensor<64x32xf32, #qe>
    // expected-error @below {{the fold carries the tile 'tensor<64x32xf32, #tile.axes<"q", "e">>' in another form than argument · row + dot; on a GPU a carried tile is such a sum, from 0 on: apply everything else to the fold's result}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %none) -> (tensor<64x32xf32, #qe>) : i32 {
      %y = math.absf %x : tensor<64x32xf32, #qe>
      scf.yield %y : tensor<64x32xf32, #qe>
    } {tile.fold = "k", tile.carried = ["value"]}
  }
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">

device.kernel @computed_right "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
    %c = arith.addf %k, %k : tensor<32x64xbf16, #kd>
    // expected-error @below {{has a computed operand that lacks the block axis "q"; on a GPU it must be loaded from a tensor}}
    %s = tile.dot %q, %c over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  }
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">

device.kernel @computed_left "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %q = arith.constant dense<1.0> : tensor<64x64xbf16, #qd>
    %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
    // expected-error @below {{the dot over axis "d" multiplies a computed operand, and is not accumulated into a carried tile; on a GPU such a dot must accumulate: in the fold's step add it, as it is, to a carried value that starts at 0 and is at most scaled by row, and apply everything else to the fold's result}}
    %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  }
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">

device.kernel @left_columns "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %q = device.tile %Qs at %qc columns "q" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
    // expected-error @below {{contracts axis "d", which is not the last dimension of its left operand's tensor; store that tensor with this axis last}}
    %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  }
}

// -----
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#qk = #tile.axes<"q", "k">

device.kernel @not_carried "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
    // expected-error @below {{is of stage 1, but its sum is no carried value}}
    %s = tile.dot %q, %k over "d" stage 1 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> tensor<64x32xf32, #qk>
  }
}

// -----
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">

device.kernel @no_block "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %x = arith.constant dense<1.0> : tensor<32x64xbf16, #kd>
    %y = arith.constant dense<1.0> : tensor<16x64xbf16, #tile.axes<"e", "d">>
    // expected-error @below {{multiplies 'tensor<32x64xbf16, #tile.axes<"k", "d">>' by 'tensor<16x64xbf16, #tile.axes<"e", "d">>'; on a GPU one operand of a dot runs along the block axis "q", and the dot contracts another axis}}
    %s = tile.dot %x, %y over "d" stage 0 : tensor<32x64xbf16, #kd>, tensor<16x64xbf16, #tile.axes<"e", "d">> -> tensor<32x16xf32, #ke>
  }
}

// -----
#ke = #tile.axes<"q", "e">

device.kernel @stores_integers "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %O = device.memory "O" : memref<?x?xi32, strided<[?, ?], offset: ?>>
    %v = arith.constant dense<1> : tensor<64x32xi32, #ke>
    // expected-error @below {{writes 'tensor<64x32xi32, #tile.axes<"q", "e">>' to tensor "O"; on a GPU a stored tile of two axes holds f16, bf16 or f32: store it as one of them, with cast(x, Type::f32)}}
    tile.store %v, %O[%c0, %c0] dims [0, 1] : tensor<64x32xi32, #ke>, memref<?x?xi32, strided<[?, ?], offset: ?>>
  }
}

// -----
#qk = #tile.axes<"q", "k">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">

device.kernel @forty "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %Vs = device.ring "V" : !device.ring<2 x [40, 64] bf16>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %n = device.block_index
    %c40 = arith.constant 40 : i32
    %w = arith.constant dense<1.0> : tensor<64x40xf32, #qk>
    %none = arith.constant dense<0.0> : tensor<64x64xf32, #qe>
    %r = scf.for %i = %c0 to %n step %c40 iter_args(%x = %none) -> (tensor<64x64xf32, #qe>) : i32 {
      %v = device.tile %Vs at %vc columns "e" : !device.ring<2 x [40, 64] bf16> -> tensor<40x64xbf16, #ke>
      // expected-error @below {{contracts 40 rows of a tile; expected a multiple of 16: give axis "k" such a width in the schedule}}
      %s = tile.dot %w, %v over "k" stage 1 : tensor<64x40xf32, #qk>, tensor<40x64xbf16, #ke> -> tensor<64x64xf32, #qe>
      %y = arith.addf %x, %s : tensor<64x64xf32, #qe>
      scf.yield %y : tensor<64x64xf32, #qe>
    } {tile.fold = "k", tile.carried = ["accumulator"]}
  }
}

// -----
#k = #tile.axes<"k">

device.kernel @stores_column "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %O = device.memory "O" : memref<?xf32, strided<[?], offset: ?>>
    %v = arith.constant dense<1.0> : tensor<32xf32, #k>
    // expected-error @below {{writes 'tensor<32xf32, #tile.axes<"k">>' to tensor "O"; on a GPU a kernel stores values over the block axis "q"}}
    tile.store %v, %O[%c0] dims [0] : tensor<32xf32, #k>, memref<?xf32, strided<[?], offset: ?>>
  }
}

// -----
#qe = #tile.axes<"q", "e">

device.kernel @stores_across "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %O = device.memory "O" : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %v = arith.constant dense<1.0> : tensor<64x32xf32, #qe>
    // expected-error @below {{writes tensor "O" along axis "q" in its last dimension; store it with that axis before the last}}
    tile.store %v, %O[%c0, %c0] dims [1, 0] : tensor<64x32xf32, #qe>, memref<?x?xf32, strided<[?, ?], offset: ?>>
  }
}

// -----

device.kernel @three_axes "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %x = arith.constant dense<1.0> : tensor<64x32x8xf32, #tile.axes<"q", "k", "e">>
    // expected-error @below {{makes a tile of more than two axes; on a GPU a tile has at most two: make another axis free, or reduce one first}}
    %y = math.absf %x : tensor<64x32x8xf32, #tile.axes<"q", "k", "e">>
  }
}

// -----
#q = #tile.axes<"q">

device.kernel @table "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %O = device.memory "O" : memref<?xi32, strided<[?], offset: ?>>
    // expected-error @below {{a constant tile must hold one value everywhere; pass a table as a tensor}}
    %t = arith.constant dense<"0x000000000100000002000000030000000400000005000000060000000700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000100000001100000012000000130000001400000015000000160000001700000018000000190000001a0000001b0000001c0000001d0000001e0000001f000000200000002100000022000000230000002400000025000000260000002700000028000000290000002a0000002b0000002c0000002d0000002e0000002f000000300000003100000032000000330000003400000035000000360000003700000038000000390000003a0000003b0000003c0000003d0000003e0000003f000000"> : tensor<64xi32, #q>
    %u = arith.addi %t, %t : tensor<64xi32, #q>
    tile.store %u, %O[%c0] dims [0] : tensor<64xi32, #q>, memref<?xi32, strided<[?], offset: ?>>
  }
}
