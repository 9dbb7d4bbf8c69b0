// What consumers can do wrong with what they tell each other, one rule each.
// RUN: tilewright opt -device-check-protocol -split-input-file -verify-diagnostics %s -o /dev/null

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @right "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    device.reserve %c
    device.publish %w to %x at %c : !operand, !tile
    device.await %c
    device.release %c
    device.advance %c
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @publishes_unreserved "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    // expected-error @below {{writes to a slot of "x" that is not reserved; others may be reading it}}
    device.publish %w to %x at %c : !operand, !tile
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @publishes_twice "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    device.reserve %c
    device.publish %w to %x at %c : !operand, !tile
    // expected-error @below {{writes to a slot of "x" a second time}}
    device.publish %w to %x at %c : !operand, !tile
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @awaits_unpublished "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    device.reserve %c
    // expected-error @below {{waits for a slot of "x" to which this warp has not published its part: nobody would ever have all of it}}
    device.await %c
    device.publish %w to %x at %c : !operand, !tile
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @reserves_twice "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    device.reserve %c
    device.publish %w to %x at %c : !operand, !tile
    // expected-error @below {{takes a slot of "x" that it has not left yet; release it and advance first}}
    device.reserve %c
  }
}

// -----

device.kernel @reserves_of_producer "sm90a" items "k" 64 of [] {
  %b = device.barriers "K" releases 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %c = device.cursor "K" on %b phase 0 : !device.barriers<1>
    // expected-error @below {{reserves a slot of "K", which the producer fills}}
    device.reserve %c
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @never_awaited "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  // expected-error @below {{ends while cursor "x" stands at an acquired slot}}
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    device.reserve %c
    device.publish %w to %x at %c : !operand, !tile
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @not_all_warps "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %r = device.registers "r" : !device.rows<i1>
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    %own = device.any %r
    device.reserve %c
    scf.if %own {
      // expected-error @below {{stands under a condition that each warp decides for itself; all warps of a warpgroup must come here}}
      device.publish %w to %x at %c : !operand, !tile
    }
  }
}

// -----

// Published at one cursor, and read a step later at another.
!operand = !device.operand<64 x bf16>
!tile = !device.ring<2 x [64, 64] bf16>
device.kernel @ahead "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.extent "q"
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<2>
    %a = device.cursor "x_ahead" on %b phase 1 : !device.barriers<2>
    device.reserve %a
    device.publish %w to %x at %a : !operand, !tile
    device.advance %a
    scf.for %i = %c0 to %n step %c1 : i32 {
      device.reserve %a
      device.publish %w to %x at %a : !operand, !tile
      device.advance %a
      device.await %c
      device.release %c
      device.advance %c
    }
    device.await %c
    device.release %c
    device.advance %c
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<1 x [64, 64] bf16>
device.kernel @reserves_unread "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<1>
    %a = device.cursor "x_ahead" on %b phase 1 : !device.barriers<1>
    device.reserve %a
    device.publish %w to %x at %a : !operand, !tile
    device.advance %a
    // expected-error @below {{takes a slot of "x_ahead" while this warp has all 1 to read: nobody would ever give it back}}
    device.reserve %a
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<2 x [64, 64] bf16>
device.kernel @awaits_ahead "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<2>
    %a = device.cursor "x_ahead" on %b phase 1 : !device.barriers<2>
    device.reserve %a
    device.publish %w to %x at %a : !operand, !tile
    device.advance %a
    device.await %c
    device.release %c
    device.advance %c
    // expected-error @below {{waits for a slot of "x" to which this warp has not published its part: nobody would ever have all of it}}
    device.await %c
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<2 x [64, 64] bf16>
device.kernel @leaves_unread "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<2>
  // expected-error @below {{ends while cursor "x_ahead" is ahead by 1 slots}}
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<2>
    %a = device.cursor "x_ahead" on %b phase 1 : !device.barriers<2>
    device.reserve %a
    device.publish %w to %x at %a : !operand, !tile
    device.advance %a
  }
}

// -----

!operand = !device.operand<64 x bf16>
!tile = !device.ring<2 x [64, 64] bf16>
device.kernel @drifts "sm90a" items "k" 64 of [] {
  %x = device.ring "x" : !tile
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.extent "q"
  device.consumers 1 registers 0 {
    %w = device.registers "w" : !operand
    %c = device.cursor "x" on %b phase 0 : !device.barriers<2>
    %a = device.cursor "x_ahead" on %b phase 1 : !device.barriers<2>
    // expected-error @below {{has a body that does not leave what it found: before it cursor "x_ahead" is ahead by 0 slots, behind it by 1}}
    scf.for %i = %c0 to %n step %c1 : i32 {
      device.reserve %a
      device.publish %w to %x at %a : !operand, !tile
      device.advance %a
    }
    device.await %c
    device.release %c
    device.advance %c
  }
}
