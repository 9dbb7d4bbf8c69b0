// RUN: tilewright opt -device-merge-roles -split-input-file -verify-diagnostics %s -o /dev/null

// expected-error @below {{is for sm90a, where one thread copies by an engine of its own; its roles stay apart}}
device.kernel @hopper "sm90a" items "q" 64 of [] {
  device.producer registers 24 {
  }
  device.consumers 1 registers 240 {
  }
}

// -----

// expected-error @below {{has a role without a loop over items; roles are merged before items are drawn}}
device.kernel @drawn "sm80" items "q" 64 of [] {
  %c1 = arith.constant 1 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 0 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 8192
    device.copy %K[%c1, %c1] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

// expected-error @below {{has roles whose loops differ, and which cannot be merged; take a schedule with producer=yes}}
device.kernel @differ "sm80" items "q" 64 of [] {
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 0 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %item = %c1 to %n step %c1 : i32 {
      scf.for %k0 = %c1 to %n step %c1 : i32 {
        device.acquire %kc bytes 8192
        device.copy %K[%c1, %c1] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 0 {
    scf.for %item = %c1 to %n step %c1 : i32 {
    } {device.items}
  }
}

// -----

device.kernel @one_slot "sm80" items "q" 64 of [] {
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<1 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  device.producer registers 0 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<1>
    scf.for %item = %c1 to %n step %c1 : i32 {
      scf.for %k0 = %c1 to %n step %c1 : i32 {
        // expected-error @below {{fills a ring of one slot, which is read while the next step's tiles come; take a schedule with stages=2, or with producer=yes}}
        device.acquire %kc bytes 8192
        device.copy %K[%c1, %k0] to %Ks at %kc : !device.ring<1 x [64, 64] bf16>
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    scf.for %item = %c1 to %n step %c1 : i32 {
      scf.for %k0 = %c1 to %n step %c1 : i32 {
        device.await %kc
        device.release %kc
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
}
