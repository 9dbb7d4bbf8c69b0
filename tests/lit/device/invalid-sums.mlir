// What operations that exchange and add refuse by themselves.
// RUN: tilewright opt -split-input-file -verify-diagnostics %s -o /dev/null

device.kernel @shape "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !device.ring<1 x [32, 64] bf16>
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !device.operand<64 x bf16>
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    // expected-error @below {{expected 64 rows and 64 columns for each warpgroup, 64}}
    device.publish %w to %x at %c : !device.operand<64 x bf16>, !device.ring<1 x [32, 64] bf16>
  }
}

// -----

device.kernel @who_fills "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !device.ring<1 x [64, 64] bf16>
  %b = device.barriers "x" releases 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !device.operand<64 x bf16>
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    // expected-error @below {{fills a slot of barriers "x", which the producer fills; expected barriers with arrivals}}
    device.publish %w to %x at %c : !device.operand<64 x bf16>, !device.ring<1 x [64, 64] bf16>
  }
}

// -----

device.kernel @shares "sm90a" items "k" 128 of [] {
  %x = device.ring "x" : !device.ring<1 x [128, 128] bf16>
  %K = device.ring "K" : !device.ring<1 x [128, 128] bf16>
  %b = device.barriers "x" releases 8 : !device.barriers<1>
  device.consumers 2 registers 0 {
    %a = device.registers "a" : !device.fragment<64 x f32>
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    // expected-error @below {{expected a tile of 64 rows, and for each warpgroup multiples of 64 columns or a part of 64}}
    device.multiply %a, %x at %c, %K at %c depth 128 transposed shares : !device.fragment<64 x f32>, !device.ring<1 x [128, 128] bf16>, !device.ring<1 x [128, 128] bf16>
  }
}

// -----

device.kernel @box "sm90a" items "k" 64 of [] {
  %map = device.tensor_map "S" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 64] swizzle 128
  %out = device.ring "S" : !device.ring<4 x [1024] f32>
  device.consumers 1 registers 0 {
    %a = device.registers "a" : !device.fragment<64 x f32>
    %c0 = arith.constant 0 : i32
    // expected-error @below {{expected f32 and boxes of 32 columns by 16 rows, permuted by the 128-byte swizzle}}
    device.add_tile %a to %map[%c0, %c0] through %out : !device.fragment<64 x f32>, !device.ring<4 x [1024] f32>
  }
}

// -----

device.kernel @outbox "sm90a" items "k" 64 of [] {
  %map = device.tensor_map "S" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %out = device.ring "S" : !device.ring<4 x [512] f32>
  device.consumers 1 registers 0 {
    %a = device.registers "a" : !device.fragment<64 x f32>
    %c0 = arith.constant 0 : i32
    // expected-error @below {{expected 1024 f32 for each of 4 warps}}
    device.add_tile %a to %map[%c0, %c0] through %out : !device.fragment<64 x f32>, !device.ring<4 x [512] f32>
  }
}

// -----

device.kernel @apart "sm90a" items "k" 64 of [] {
  %S = device.tensor "S" : !device.pointer<f32>
  %stride = device.stride "S" 0
  %rows = device.dimension "S" 0
  %x = device.ring "x" : !device.ring<1 x [64, 64] bf16>
  %K = device.ring "K" : !device.ring<1 x [128, 64] bf16>
  %b = device.barriers "x" releases 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    %at = arith.constant 0 : i64
    // expected-error @below {{contracts 64 elements for 64 columns; the right operand is 128 x 64}}
    device.add_apart %x at %c, %K at %c to %S[%at] by %stride rows %rows columns %rows width 64 transposed : !device.ring<1 x [64, 64] bf16>, !device.ring<1 x [128, 64] bf16>, !device.pointer<f32>
  }
}
