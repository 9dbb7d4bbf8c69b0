// What consumers can do wrong when they look ahead, one rule each.
// RUN: tilewright opt -device-check-protocol -split-input-file -verify-diagnostics %s -o /dev/null

!s = !device.fragment<64 x f32>
!step = !device.ring<2 x [64, 64] bf16>
device.kernel @right "sm90a" items "q" 64 of [] {
  %map = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Qs = device.ring "Q" : !step
  %b = device.barriers "Q" releases 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.extent "q"
  device.producer registers 0 {
    %c = device.cursor "Q" on %b phase 1 : !device.barriers<2>
    scf.for %i = %c0 to %n step %c1 : i32 {
      device.acquire %c bytes 8192
      device.copy %map[%c0, %i] to %Qs at %c : !step
      device.advance %c
    }
  }
  device.consumers 1 registers 0 {
    %s = device.registers "s" : !s
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<2>
    %any = arith.cmpi slt, %c0, %n : i32
    scf.if %any {
      %first = device.look_ahead %c
      device.fence %s : !s
      device.multiply %s, %Qs at %first, %Qs at %first depth 64 : !s, !step, !step
      device.commit
      device.wait 0 %s : !s
    }
    scf.for %i = %c0 to %n step %c1 : i32 {
      device.await %c
      %j = arith.addi %i, %c1 : i32
      %more = arith.cmpi slt, %j, %n : i32
      %next = device.look_ahead %c if %more
      device.fence %s : !s
      device.multiply %s, %Qs at %next, %Qs at %next depth 64 : !s, !step, !step
      device.commit
      device.wait 0 %s : !s
      device.release %c
      device.advance %c
    }
  }
}

// -----

!step = !device.ring<2 x [64, 64] bf16>
device.kernel @held "sm90a" items "q" 64 of [] {
  %map = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Qs = device.ring "Q" : !step
  %b = device.barriers "Q" releases 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  device.producer registers 0 {
    %c = device.cursor "Q" on %b phase 1 : !device.barriers<2>
    device.acquire %c bytes 8192
    device.copy %map[%c0, %c0] to %Qs at %c : !step
    device.advance %c
  }
  device.consumers 1 registers 0 {
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<2>
    device.await %c
    // expected-error @below {{looks ahead of cursor "Q", which stands at an awaited slot; expected it at rest}}
    %next = device.look_ahead %c
    device.release %c
    device.advance %c
  }
}

// -----

!step = !device.ring<2 x [64, 64] bf16>
device.kernel @at_rest "sm90a" items "q" 64 of [] {
  %b = device.barriers "Q" releases 4 : !device.barriers<2>
  %yes = arith.constant true
  device.consumers 1 registers 0 {
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<2>
    // expected-error @below {{looks ahead of cursor "Q", which stands at rest; expected an awaited slot}}
    %next = device.look_ahead %c if %yes
  }
}

// -----

!step = !device.ring<1 x [64, 64] bf16>
device.kernel @one_slot "sm90a" items "q" 64 of [] {
  %map = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Qs = device.ring "Q" : !step
  %b = device.barriers "Q" releases 4 : !device.barriers<1>
  %c0 = arith.constant 0 : i32
  %yes = arith.constant true
  device.producer registers 0 {
    %c = device.cursor "Q" on %b phase 1 : !device.barriers<1>
    device.acquire %c bytes 8192
    device.copy %map[%c0, %c0] to %Qs at %c : !step
    device.advance %c
  }
  device.consumers 1 registers 0 {
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<1>
    device.await %c
    // expected-error @below {{waits for a slot of "Q" while the only one is held; the producer cannot fill it}}
    %next = device.look_ahead %c if %yes
    device.release %c
    device.advance %c
  }
}

// -----

device.kernel @own_slots "sm90a" items "q" 64 of [] {
  %b = device.barriers "x" releases 4 arrivals 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %c = device.cursor "x" on %b phase 0 : !device.barriers<2>
    // expected-error @below {{looks ahead of cursor "x"; expected the only one at which slots of the producer are read}}
    %next = device.look_ahead %c
  }
}

// -----

!s = !device.fragment<64 x f32>
!step = !device.ring<2 x [64, 64] bf16>
device.kernel @moved_on "sm90a" items "q" 64 of [] {
  %map = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Qs = device.ring "Q" : !step
  %b = device.barriers "Q" releases 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  device.producer registers 0 {
    %c = device.cursor "Q" on %b phase 1 : !device.barriers<2>
    device.acquire %c bytes 8192
    device.copy %map[%c0, %c0] to %Qs at %c : !step
    device.advance %c
  }
  device.consumers 1 registers 0 {
    %s = device.registers "s" : !s
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<2>
    %first = device.look_ahead %c
    device.await %c
    device.release %c
    device.advance %c
    device.fence %s : !s
    // expected-error @below {{reads ring "Q" ahead of cursor "Q", which has moved on since}}
    device.multiply %s, %Qs at %first, %Qs at %first depth 64 : !s, !step, !step
    device.commit
    device.wait 0 %s : !s
  }
}

// -----

!s = !device.fragment<64 x f32>
!step = !device.ring<2 x [64, 64] bf16>
device.kernel @gives_back "sm90a" items "q" 64 of [] {
  %map = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Qs = device.ring "Q" : !step
  %b = device.barriers "Q" releases 4 : !device.barriers<2>
  %c0 = arith.constant 0 : i32
  %no = arith.constant false
  device.producer registers 0 {
    %c = device.cursor "Q" on %b phase 1 : !device.barriers<2>
    device.acquire %c bytes 8192
    device.copy %map[%c0, %c0] to %Qs at %c : !step
    device.advance %c
  }
  device.consumers 1 registers 0 {
    %s = device.registers "s" : !s
    %c = device.cursor "Q" on %b phase 0 : !device.barriers<2>
    device.await %c
    %next = device.look_ahead %c if %no
    device.fence %s : !s
    // expected-note @below {{issued here}}
    device.multiply %s, %Qs at %next, %Qs at %next depth 64 : !s, !step, !step
    device.commit
    // expected-error @below {{gives back a slot that a dot in flight reads; wait for it first}}
    device.release %c
    device.advance %c
    device.wait 0 %s : !s
  }
}
