// What consumers can do wrong with slots and turns, one rule each.
// RUN: tilewright opt -device-check-protocol -split-input-file -verify-diagnostics %s -o /dev/null

device.kernel @nobody_fills "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{waits for barriers "K", under which the producer fills nothing}}
    device.await %kc
  }
}

// -----

device.kernel @reads_unfilled "sm90a" items "q" 64 of [] {
  %w = device.ring "w" : !device.ring<2 x [64] f32>
  %b = device.barriers "w" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %c = device.cursor "w" on %b phase 0 : !device.barriers<2>
    device.each_element 64 {
      // expected-error @below {{reads ring "w", which the producer never fills}}
      %x = device.load_column %w at %c : !device.ring<2 x [64] f32> -> f32
    }
  }
}

// -----

device.kernel @await_twice "sm90a" items "q" 64 of [] {
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
    device.await %kc
    // expected-error @below {{waits twice for a slot of "K"; release it and advance first}}
    device.await %kc
  }
}

// -----

device.kernel @release_twice "sm90a" items "q" 64 of [] {
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
    device.await %kc
    device.release %kc
    // expected-error @below {{gives back a slot of "K" twice}}
    device.release %kc
  }
}

// -----

device.kernel @not_awaited "sm90a" items "q" 64 of [] {
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
    // expected-error @below {{gives back a slot of "K" that was not awaited}}
    device.release %kc
  }
}

// -----

device.kernel @not_given_back "sm90a" items "q" 64 of [] {
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
    device.await %kc
    // expected-error @below {{leaves a slot of "K" that was not given back on every path}}
    device.advance %kc
  }
}

// -----

device.kernel @never_left "sm90a" items "q" 64 of [] {
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
  // expected-error @below {{ends while cursor "K" stands at a released slot}}
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.await %kc
    device.release %kc
  }
}

// -----

device.kernel @read_early "sm90a" items "q" 64 of [] {
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
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{reads ring "K" outside of await and release of cursor "K"}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @read_late "sm90a" items "q" 64 of [] {
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
    device.release %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{reads ring "K" outside of await and release of cursor "K"}}
    device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @isolated_late "sm90a" items "q" 64 of [] {
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
    device.await %kc
    device.release %kc
    // expected-error @below {{reads ring "K" outside of await and release of cursor "K"}}
    device.isolate %s, %s, %Ks at %kc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @other_barriers "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
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
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    // expected-error @below {{reads ring "K" at a cursor of barriers "V"; it is filled under "K"}}
    device.multiply %s, %p, %Ks at %vc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
  }
}

// -----

device.kernel @body "sm90a" items "q" 64 of [] {
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
    // expected-error @below {{has a body that does not leave what it found: before it cursor "K" stands at rest, behind it at a released slot}}
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.await %kc
      device.release %kc
    }
  }
}

// -----

device.kernel @trailing_waits "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    // expected-error @below {{waits at cursor "K_back", which trails: the leading one waits for both}}
    device.await %kb
  }
}

// -----

device.kernel @led_releases "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    device.await %kc
    // expected-error @below {{gives back a slot of "K", which cursor "K_back" trails: that one gives it back}}
    device.release %kc
  }
}

// -----

device.kernel @trails_nothing "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    // expected-error @below {{gives back a slot of "K_back" that was not awaited}}
    device.release %kb
  }
}

// -----

device.kernel @led_skips "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    // expected-error @below {{leaves a slot of "K" that was not awaited}}
    device.advance %kc
  }
}

// -----

device.kernel @all_held "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    device.await %kc
    device.advance %kc
    device.await %kc
    device.advance %kc
    // expected-error @below {{waits for a slot of "K" while all 2 are held; the producer cannot fill it}}
    device.await %kc
  }
}

// -----

device.kernel @trails_still "sm90a" items "q" 64 of [] {
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
  // expected-error @below {{ends while cursor "K_back" trails by 1 slots}}
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    device.await %kc
    device.advance %kc
  }
}

// -----

device.kernel @trails_more "sm90a" items "q" 64 of [] {
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
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    // expected-error @below {{has a body that does not leave what it found: before it cursor "K_back" trails by 0 slots, behind it by 1}}
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.await %kc
      device.advance %kc
    }
  }
}

// -----

device.kernel @perhaps "sm90a" items "q" 64 of [] {
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
    %some = arith.cmpi sgt, %n, %c0 : i32
    device.await %kc
    device.release %kc if %some
    // expected-error @below {{leaves a slot of "K" that was not given back on every path}}
    device.advance %kc
  }
}

// -----

device.kernel @not_opposite "sm90a" items "q" 64 of [] {
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
    %some = arith.cmpi sgt, %n, %c0 : i32
    device.await %kc
    device.release %kc if %some
    // expected-error @below {{gives back a slot of "K" that may have been given back under a condition; expected the opposite of that condition}}
    device.release %kc if %some
  }
}

// -----

device.kernel @same_condition "sm90a" items "q" 64 of [] {
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
    %some = arith.cmpi sgt, %n, %c0 : i32
    device.await %kc
    device.release %kc if %some
    scf.if %some {
      // expected-error @below {{gives back a slot of "K" twice}}
      device.release %kc
    }
  }
}

// -----

device.kernel @warps "sm90a" items "q" 64 of [] {
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
    %bad = device.registers "bad" : !device.rows<i1>
    device.await %kc
    device.fence %s, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
    %any = device.any %bad
    scf.if %any {
      // expected-error @below {{stands under a condition that each warp decides for itself; all warps of a warpgroup must come here}}
      device.multiply %s, %p, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
    }
  }
}

// -----

device.kernel @no_first "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{waits for a turn before device.turn first: nobody would ever have one}}
    device.turn
  }
}

// -----

device.kernel @first_twice "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    // expected-error @below {{starts the round of turns a second time}}
    device.turn first
  }
}

// -----

device.kernel @pass_untaken "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    // expected-error @below {{passes a turn on that it has not waited for}}
    device.turn pass
  }
}

// -----

device.kernel @taken_twice "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    device.turn
    // expected-error @below {{waits for a turn that it has not passed on}}
    device.turn
  }
}

// -----

device.kernel @one_way_turn "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    %some = arith.cmpi sgt, %n, %c0 : i32
    // expected-error @below {{has two ways of which only one takes or passes a turn}}
    scf.if %some {
      device.turn
    }
  }
}

// -----

device.kernel @body_turn "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    // expected-error @below {{has a body that takes and passes turns unequally often}}
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.turn
    }
  }
}

// -----

device.kernel @kept_turn "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
      device.advance %kc
    }
  }
  // expected-error @below {{ends with a turn that it has not passed on}}
  device.consumers 2 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.turn first
    device.turn
  }
}

// -----

// Consumers that copy for themselves: all of their warps acquire, copy and advance.
device.kernel @copies_by_warp "sm80" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %rows = device.registers "rows" : !device.rows<i1>
    %kn = device.cursor "K_next" on %Kb phase 1 : !device.barriers<2>
    %any = device.any %rows
    scf.if %any {
      // expected-error @below {{stands under a condition that each warp decides for itself; all warps that copy must come here}}
      device.acquire %kn bytes 8192
      device.copy %K[%c0, %c0] to %Ks at %kn : !device.ring<2 x [64, 64] bf16>
      device.advance %kn
    }
  }
}

// -----

device.kernel @fills_twice "sm80" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %kn = device.cursor "K_next" on %Kb phase 1 : !device.barriers<2>
    // expected-error @below {{is a second cursor of its role on barriers "K"; their phases would turn twice a round}}
    %kn2 = device.cursor "K_next" on %Kb phase 1 : !device.barriers<2>
  }
}

// -----

device.kernel @hopper_rows "sm90a" items "q" 128 of [] {
  // expected-error @below {{'device.consumers' op have warps of 32 rows; expected 16, as a product of a warpgroup has}}
  device.consumers 1 rows 32 registers 0 {
  }
}

// -----

device.kernel @odd_rows "sm80" items "q" 96 of [] {
  // expected-error @below {{'device.consumers' op have warps of 24 rows; expected 16 or 32}}
  device.consumers 1 rows 24 registers 0 {
  }
}

// -----

device.kernel @hopper_copies "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    // expected-error @below {{is of consumers that copy for themselves; on sm90a one thread, the producer, copies}}
    %kn = device.cursor "K_next" on %Kb phase 1 : !device.barriers<2>
  }
}

// -----

device.kernel @posted_list "sm90a" items "q" 128 of [] {
  %n = device.count items
  %lists = device.lists "k" by 64 slots 2 : !device.pointer<i32>
  %work = device.mailbox "work" : !device.mailbox<2>
  %wb = device.barriers "work" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<2>
    device.acquire %wc bytes 0
    device.post %n to %work at %wc : !device.mailbox<2>
    // expected-error @below {{writes the list of a slot of "work" that is posted already; the consumers may be reading it}}
    %list, %partial, %full, %all = device.list_tiles %lists from %n to %n step 64 at %wc {
    ^bb0(%k: i32):
      %c = arith.cmpi slt, %k, %n : i32
      device.classes %c, %c
    } : !device.pointer<i32>
    device.advance %wc
  }
  device.consumers 2 registers 240 {
  }
}

// -----

device.kernel @untold "sm90a" items "q" 128 of [] {
  device.consumers 2 registers 240 {
    // expected-error @below {{is told by nobody; device-draw-items hands lists to the consumers}}
    %list, %partial, %full, %all = device.listed
  }
}
