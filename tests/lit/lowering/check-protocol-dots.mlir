// What consumers can do wrong with dots in flight, one rule each.
// RUN: tilewright opt -device-check-protocol -split-input-file -verify-diagnostics %s -o /dev/null

device.kernel @no_fence "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    // expected-error @below {{accumulates in "s", which no fence names since it was last touched}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @touched "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %zero = arith.constant 0.0 : f32
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.fill %s with %zero : !device.fragment<64 x f32>, f32
    // expected-error @below {{accumulates in "s", which no fence names since it was last touched}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @operand_touched "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %t = device.registers "t" : !device.fragment<64 x f32>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.pack %t into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{takes operand "p", which no fence names since it was last touched}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @in_flight_get "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-note @below {{issued here}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    device.each_element 64 {
      // expected-error @below {{touches "s", which a dot in flight accumulates; wait for it first}}
      %x = device.get %s : !device.fragment<64 x f32> -> f32
    }
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @in_flight_pack "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %t = device.registers "t" : !device.fragment<64 x f32>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-note @below {{issued here}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    // expected-error @below {{touches "p", which a dot in flight reads; wait for it first}}
    device.pack %t into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @in_flight_overwritten "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-note @below {{issued here}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    // expected-error @below {{overwrites "s", which a dot in flight accumulates; wait for that dot, or accumulate}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @in_flight_slot "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-note @below {{issued here}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    // expected-error @below {{gives back a slot that a dot in flight reads; wait for it first}}
    device.release %kc
    device.advance %kc
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
  }
}

// -----

device.kernel @in_flight_changed "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %t = device.registers "t" : !device.fragment<64 x f32>
    %other = device.registers "other" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-note @below {{issued here}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    // expected-error @below {{changes a slot that a dot in flight reads; wait for it first}}
    device.isolate %other, %t, %Ks at %kc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @wait_too_little "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    // expected-error @below {{names "s"; the dots that it waits for free "s", "p"}}
    device.wait 0 %s : !device.fragment<64 x f32>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @wait_too_much "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    // expected-error @below {{names "s", "p"; the dots that it waits for free none}}
    device.wait 1 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @not_committed "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    // expected-error @below {{names "s", "p"; the dots that it waits for free none}}
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @never_committed "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{is not committed at the end of its role}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @never_waited "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{is in flight at the end of its role}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
  }
}

// -----

device.kernel @in_flight_loop "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{is in flight where a loop begins}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    device.commit
    scf.for %k0 = %c0 to %n step %c64 : i32 {
    }
  }
}

// -----

device.kernel @in_flight_turn "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.await %kc
      device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
      // expected-error @below {{is in flight at the end of a loop's body}}
      device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
      device.commit
    }
  }
}

// -----

device.kernel @one_way_in_flight "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %some = arith.cmpi sgt, %n, %c0 : i32
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{has two ways that leave different dots in flight}}
    scf.if %some {
      device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
      device.commit
    }
    device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    device.release %kc
    device.advance %kc
  }
}

// -----

device.kernel @second_turn "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      // expected-error @below {{accumulates in "s", which no fence names since it was last touched}}
      device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
      device.commit
      device.wait 0 %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
      device.each_element 64 {
        %x = device.get %s : !device.fragment<64 x f32> -> f32
      }
    }
    device.release %kc
    device.advance %kc
  }
}
