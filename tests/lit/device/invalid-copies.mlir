// What a copy cannot say of where its rows start.
// RUN: tilewright opt --split-input-file --verify-diagnostics %s -o /dev/null

device.kernel @divisor "sm80" items "q" 64 of [] {
  %wm = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
  %ws = device.ring "w" : !device.ring<1 x [32] f32>
  %wb = device.barriers "w" releases 4 : !device.barriers<1>
  device.producer registers 0 {
    %wc = device.cursor "w" on %wb phase 1 : !device.barriers<1>
    %at = device.block_index
    // expected-error @below {{starts at multiples of 12 bytes; expected 1, 2, 4, 8 or 16}}
    device.copy %wm[%at] to %ws at %wc divisor 12 : !device.ring<1 x [32] f32>
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @by_engine "sm90a" items "q" 64 of [] {
  %wm = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [32] swizzle 0
  %ws = device.ring "w" : !device.ring<1 x [32] f32>
  %wb = device.barriers "w" releases 4 : !device.barriers<1>
  device.producer registers 24 {
    %wc = device.cursor "w" on %wb phase 1 : !device.barriers<1>
    %at = device.block_index
    // expected-error @below {{starts at multiples of 8 bytes; the copy engine of sm90a starts at multiples of 16}}
    device.copy %wm[%at] to %ws at %wc divisor 8 : !device.ring<1 x [32] f32>
  }
  device.consumers 1 registers 240 {
  }
}
