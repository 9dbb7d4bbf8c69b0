// RUN: tilewright opt %s -device-issue-ahead -split-input-file | FileCheck %s

!s = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [64, 64] bf16>
!step = !device.ring<2 x [64, 64] bf16>

// Two loops of one fold. The first step's dot stands in front of them, where there is a step; each step ends with the next one's, which it issues behind the wait for its own last dots, so that
// what leaves does so under it. The tile goes back last. What the first dot's wait was there for is done.
// CHECK-LABEL: device.kernel @two_loops
// CHECK:       device.await %[[K:.*]]
// CHECK-NEXT:  %[[ANY1:.*]] = arith.cmpi slt, %[[LO:.*]], %[[MID:.*]] : i32
// CHECK-NEXT:  %[[ANY2:.*]] = arith.cmpi slt, %[[MID]], %[[END:.*]] : i32
// CHECK-NEXT:  %[[ANY:.*]] = arith.ori %[[ANY1]], %[[ANY2]]
// CHECK-NEXT:  scf.if %[[ANY]] {
// CHECK-NEXT:    %[[FIRST:.*]] = device.look_ahead %[[Q:.*]]
// CHECK-NEXT:    device.fence %[[S:.*]] :
// CHECK-NEXT:    device.multiply %[[S]], %{{.*}} at %[[K]], %{{.*}} at %[[FIRST]] depth 64
// CHECK-NEXT:    device.commit
// CHECK-NEXT:    device.wait 0 %[[S]]
// CHECK-NEXT:  }
// CHECK-NEXT:  scf.for %[[AT:.*]] = %[[LO]] to %[[MID]] step %[[STEP:.*]] : i32 {
// CHECK-NEXT:    device.await %[[Q]]
// CHECK-NEXT:    device.fence %[[T:.*]] :
// CHECK-NEXT:    device.multiply %[[T]], %{{.*}} at %[[K]], %{{.*}} at %[[Q]] depth 64
// CHECK-NEXT:    device.commit
// CHECK-NEXT:    device.pack %[[S]] into %[[W:.*]] :
// CHECK-NEXT:    device.wait 0 %[[T]]
// CHECK-NEXT:    device.fence
// CHECK-NEXT:    device.multiply %[[SUM:.*]], %[[W]], %{{.*}} at %[[Q]] depth 64 transposed accumulate
// CHECK-NEXT:    device.commit
// CHECK-NEXT:    device.wait 0 %[[SUM]], %[[W]]
// CHECK-NEXT:    %[[NEXT:.*]] = arith.addi %[[AT]], %[[STEP]]
// CHECK-NEXT:    %[[AGAIN:.*]] = arith.cmpi slt, %[[NEXT]], %[[MID]]
// CHECK-NEXT:    %[[OTHER:.*]] = arith.cmpi slt, %[[MID]], %[[END]]
// CHECK-NEXT:    %[[MORE:.*]] = arith.ori %[[AGAIN]], %[[OTHER]]
// CHECK-NEXT:    %[[AHEAD:.*]] = device.look_ahead %[[Q]] if %[[MORE]]
// CHECK-NEXT:    device.fence %[[S]]
// CHECK-NEXT:    device.multiply %[[S]], %{{.*}} at %[[K]], %{{.*}} at %[[AHEAD]] depth 64
// CHECK-NEXT:    device.commit
// CHECK-NEXT:    device.fill %[[T]]
// CHECK-NEXT:    device.wait 0 %[[S]]
// CHECK-NEXT:    device.release %[[Q]]
// CHECK-NEXT:    device.advance %[[Q]]
// CHECK-NEXT:  } {tile.fold = "q"}
// CHECK-NEXT:  scf.for %[[AT2:.*]] = %[[MID]] to %[[END]] step %[[STEP]] : i32 {
// CHECK:         %[[NEXT2:.*]] = arith.addi %[[AT2]], %[[STEP]]
// CHECK-NEXT:    %[[MORE2:.*]] = arith.cmpi slt, %[[NEXT2]], %[[END]]
// CHECK-NEXT:    device.look_ahead %[[Q]] if %[[MORE2]]
device.kernel @two_loops "sm90a" items "k" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant 0.0 : f32
  %half = device.extent "d"
  %n = device.extent "q"
  %Ks = device.ring "K" : !block
  %Qs = device.ring "Q" : !step
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %t = device.registers "t" : !s
    %sum = device.registers "sum" : !s
    %w = device.registers "w" : !operand
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    device.await %kc
    scf.for %q0 = %c0 to %half step %c64 : i32 {
      device.await %qc
      device.fence %s : !s
      device.multiply %s, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.fence %t : !s
      device.multiply %t, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.wait 1 %s : !s
      device.pack %s into %w : !s, !operand
      device.wait 0 %t : !s
      device.fence %sum, %w : !s, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !s, !operand, !step
      device.commit
      device.wait 0 %sum, %w : !s, !operand
      device.release %qc
      device.advance %qc
      device.fill %t with %zero : !s, f32
    } {tile.fold = "q"}
    scf.for %q0 = %half to %n step %c64 : i32 {
      device.await %qc
      device.fence %s : !s
      device.multiply %s, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.fence %t : !s
      device.multiply %t, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.wait 1 %s : !s
      device.pack %s into %w : !s, !operand
      device.wait 0 %t : !s
      device.fence %sum, %w : !s, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !s, !operand, !step
      device.commit
      device.wait 0 %sum, %w : !s, !operand
      device.release %qc
      device.advance %qc
      device.fill %t with %zero : !s, f32
    } {tile.fold = "q"}
    device.release %kc
    device.advance %kc
  }
}

// -----

!s = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [64, 64] bf16>
!step = !device.ring<2 x [64, 64] bf16>

// The step needs the registers to its end.
// CHECK-LABEL: device.kernel @needed
// CHECK-NOT:   look_ahead
device.kernel @needed "sm90a" items "k" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant 0.0 : f32
  %n = device.extent "q"
  %Ks = device.ring "K" : !block
  %Qs = device.ring "Q" : !step
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %sum = device.registers "sum" : !s
    %w = device.registers "w" : !operand
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    scf.for %q0 = %c0 to %n step %c64 : i32 {
      device.await %qc
      device.fence %s : !s
      device.multiply %s, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.wait 0 %s : !s
      device.pack %s into %w : !s, !operand
      device.fence %sum, %w : !s, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !s, !operand, !step
      device.commit
      device.wait 0 %sum, %w : !s, !operand
      device.release %qc
      device.advance %qc
      device.fill %s with %zero : !s, f32
    } {tile.fold = "q"}
  }
}

// -----

!s = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [64, 64] bf16>
!step = !device.ring<2 x [64, 64] bf16>

// Of several last dots one stays in flight until the next step's is issued: the one that reads tiles alone, which therefore goes last.
// CHECK-LABEL: device.kernel @several
// CHECK:       device.pack
// CHECK-NEXT:  device.fence
// CHECK-NEXT:  device.multiply %[[SUM:.*]], %[[W:.*]], %{{.*}} depth 64 transposed accumulate
// CHECK-NEXT:  device.commit
// CHECK-NEXT:  device.fence %[[T:.*]] :
// CHECK-NEXT:  device.multiply %[[T]], %{{.*}} at %{{.*}}, %{{.*}} at %{{.*}} depth 64 transposed :
// CHECK-NEXT:  device.commit
// CHECK-NEXT:  device.wait 1 %[[SUM]], %[[W]] :
// CHECK:       device.look_ahead
// CHECK-NEXT:  device.fence %[[S:.*]] :
// CHECK-NEXT:  device.multiply %[[S]],
// CHECK-NEXT:  device.commit
// CHECK-NEXT:  device.wait 1 %[[T]] :
// CHECK-NEXT:  device.fill %[[T]]
// CHECK-NEXT:  device.wait 0 %[[S]] :
device.kernel @several "sm90a" items "k" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %zero = arith.constant 0.0 : f32
  %n = device.extent "q"
  %Ks = device.ring "K" : !block
  %Qs = device.ring "Q" : !step
  %Kb = device.barriers "K" releases 4 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %t = device.registers "t" : !s
    %sum = device.registers "sum" : !s
    %w = device.registers "w" : !operand
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    scf.for %q0 = %c0 to %n step %c64 : i32 {
      device.await %qc
      device.fence %s : !s
      device.multiply %s, %Ks at %kc, %Qs at %qc depth 64 : !s, !block, !step
      device.commit
      device.wait 0 %s : !s
      device.pack %s into %w : !s, !operand
      device.fence %t : !s
      device.multiply %t, %Ks at %kc, %Qs at %qc depth 64 transposed : !s, !block, !step
      device.commit
      device.fence %sum, %w : !s, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !s, !operand, !step
      device.commit
      device.wait 1 %t : !s
      device.wait 0 %sum, %w : !s, !operand
      device.release %qc
      device.advance %qc
      device.fill %t with %zero : !s, f32
    } {tile.fold = "q"}
  }
}
