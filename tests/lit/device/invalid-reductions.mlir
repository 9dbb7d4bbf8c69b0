// Reductions of tiles that do not fit their vector.
// RUN: tilewright opt --split-input-file --verify-diagnostics %s -o /dev/null

device.kernel @columns "sm90a" items "q" 64 of [] {
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Ns = device.ring "norms" : !device.ring<1 x [32] f32>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{reduces 65 columns of '!device.ring<2 x[32, 64] bf16>'; expected a tile of two dimensions, and as many columns as it has at most}}
    device.reduce_tile sum %Ks at %kc columns 65 into %Ns : !device.ring<2 x [32, 64] bf16> into !device.ring<1 x [32] f32> {
    ^bb0(%x: f32):
      device.yield %x : f32
    }
  }
}

// -----

device.kernel @slots "sm90a" items "q" 128 of [] {
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Ns = device.ring "norms" : !device.ring<1 x [32] f32>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{makes '!device.ring<1 x[32] f32>' of a tile of 32 rows for 2 warpgroups; expected f32, an element for each row, and a slot for each warpgroup}}
    device.reduce_tile sum %Ks at %kc columns 64 into %Ns : !device.ring<2 x [32, 64] bf16> into !device.ring<1 x [32] f32> {
    ^bb0(%x: f32):
      device.yield %x : f32
    }
  }
}
