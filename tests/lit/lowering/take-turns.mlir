// RUN: tilewright opt %s -device-take-turns | FileCheck %s
!s = !device.fragment<64 x f32>
!tile = !device.ring<2 x [64, 64] bf16>
!item = !device.ring<1 x [128, 64] bf16>

// A turn from before the first fence to behind the last issue, in the loops of a fold alone: it starts when the block starts.
// CHECK-LABEL: device.kernel @two
// CHECK: device.consumers 2 registers 240 {
// CHECK-NEXT: device.turn first
// CHECK: device.multiply
// CHECK-NOT: device.turn
// CHECK: scf.for
// CHECK-NEXT: device.await
// CHECK-NEXT: device.turn{{$}}
// CHECK-NEXT: device.fence
// CHECK-NEXT: device.multiply
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.turn pass
// CHECK-NEXT: device.wait 0
// CHECK: } {tile.fold = "k"}
// CHECK: scf.for
// CHECK-NOT: device.turn
device.kernel @two "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !s
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    device.fence %s : !s
    device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
    device.commit
    device.wait 0 %s : !s
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.await %kc
      device.fence %s : !s
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
      device.commit
      device.wait 0 %s : !s
    } {tile.fold = "k"}
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.fence %s : !s
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
      device.commit
      device.wait 0 %s : !s
    }
  }
}

// Nobody to take turns with.
// CHECK-LABEL: device.kernel @one
// CHECK-NOT: device.turn
device.kernel @one "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %Ks = device.ring "K" : !tile
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.fence %s : !s
      device.multiply %s, %Ks at %kc, %Ks at %kc depth 64 : !s, !tile, !tile
      device.commit
      device.wait 0 %s : !s
    } {tile.fold = "k"}
  }
}

// No dots in a fold: no turns, so nothing starts them either.
// CHECK-LABEL: device.kernel @none
// CHECK-NOT: device.turn
device.kernel @none "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  device.consumers 2 registers 240 {
    scf.for %k0 = %c0 to %n step %c64 : i32 {
    } {tile.fold = "k"}
  }
}
