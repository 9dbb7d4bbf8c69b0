// RUN: tilewright opt %s -device-leave-attempts | FileCheck %s
// RUN: tilewright opt %s -device-leave-attempts="steps=4 first=1 observe=true" | FileCheck %s --check-prefix=SEEN
// RUN: not tilewright opt %s -device-leave-attempts="steps=4 first=5" 2>&1 | FileCheck %s --check-prefix=LATE

// LATE: device-leave-attempts votes after 5 steps, and then after each 4; expected 1 to 4 of them before the first vote
!s = !device.fragment<64 x f32>
!tile = !device.ring<2 x [64, 64] bf16>
!item = !device.ring<1 x [128, 64] bf16>

// Eight steps at a time; the warpgroup votes which way they go. The first way is the exact one alone, and gives the tile back as soon as its dots are done.
// CHECK-LABEL: device.kernel @attempts
// CHECK: %[[SPENT:.*]] = device.registers "spent" : !device.rows<i1>
// CHECK: scf.for %{{.*}} = %c0_i32
// CHECK: %[[SEVERAL:.*]] = arith.muli %c64_i32, %c8_i32
// CHECK-NEXT: scf.for %[[BEGIN:.*]] = %c0_i32 to %[[N:.*]] step %[[SEVERAL]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %[[SEVERAL]]
// CHECK-NEXT: %[[END:.*]] = arith.minsi %[[N]], %[[NEXT]]
// CHECK-NEXT: %[[LEAVES:.*]] = device.any %[[SPENT]] {device.warpgroup}
// CHECK-NEXT: scf.if %[[LEAVES]] {
// CHECK-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64_i32
// CHECK: device.wait 0
// CHECK-NEXT: device.release %[[KC:.*]] {device.stage = 0 : i64}
// CHECK-NEXT: device.advance %[[KC]] {device.stage = 0 : i64}
// CHECK-NOT: device.any
// CHECK-NOT: device.repeat
// CHECK: device.fill %[[S:.*]] with %[[TWO:.*]] : !device.fragment
// CHECK: } else {
// CHECK-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64_i32
// CHECK: device.any %[[SPENT]] uniform{{$}}
// CHECK: device.repeat
// CHECK: scf.if
// CHECK-NEXT: device.fill %[[S]] with %[[TWO]]
// CHECK: device.release %[[KC]]
device.kernel @attempts "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %true = arith.constant true
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !s
    %refused = device.registers "refused" : !device.rows<i1>
    %spent = device.registers "spent" : !device.rows<i1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c64 : i32 {
      scf.for %k0 = %c0 to %n step %c64 : i32 {
        device.await %kc
        device.fence %s : !s
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.commit
        device.wait 0 %s : !s
        %at_once = device.any %spent uniform
        %exact = scf.if %at_once -> (i1) {
          scf.yield %true : i1
        } else {
          device.fill %s with %one : !s, f32
          %any = device.any %refused
          scf.if %any {
            device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          }
          scf.yield %any : i1
        }
        scf.if %exact {
          device.fill %s with %two : !s, f32
        }
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
      } {tile.fold = "k"}
    }
  }
}

// Too few registers for a loop more.
// CHECK-LABEL: device.kernel @few
// CHECK-NOT: device.warpgroup
device.kernel @few "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %true = arith.constant true
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 160 {
    %s = device.registers "s" : !s
    %refused = device.registers "refused" : !device.rows<i1>
    %spent = device.registers "spent" : !device.rows<i1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c64 : i32 {
      scf.for %k0 = %c0 to %n step %c64 : i32 {
        device.await %kc
        device.fence %s : !s
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.commit
        device.wait 0 %s : !s
        %at_once = device.any %spent uniform
        %exact = scf.if %at_once -> (i1) {
          scf.yield %true : i1
        } else {
          device.fill %s with %one : !s, f32
          %any = device.any %refused
          scf.if %any {
            device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          }
          scf.yield %any : i1
        }
        scf.if %exact {
          device.fill %s with %two : !s, f32
        }
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
      } {tile.fold = "k"}
    }
  }
}

// Elements that wait for global memory: a vote costs them nothing.
// CHECK-LABEL: device.kernel @gathers
// CHECK-NOT: device.warpgroup
device.kernel @gathers "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %true = arith.constant true
  %n = device.extent "k"
  %bias = device.tensor "bias" : !device.pointer<f32>
  %at = arith.constant 0 : i64
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !s
    %refused = device.registers "refused" : !device.rows<i1>
    %spent = device.registers "spent" : !device.rows<i1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c64 : i32 {
      scf.for %k0 = %c0 to %n step %c64 : i32 {
        device.await %kc
        device.fence %s : !s
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.commit
        device.wait 0 %s : !s
        %at_once = device.any %spent uniform
        %exact = scf.if %at_once -> (i1) {
          scf.yield %true : i1
        } else {
          device.each_element 64 {
            %b = device.load %bias[%at] if %true : !device.pointer<f32> -> f32
            device.set %b in %s : f32, !s
          }
          %any = device.any %refused
          scf.if %any {
            device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          }
          scf.yield %any : i1
        }
        scf.if %exact {
          device.fill %s with %two : !s, f32
        }
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
      } {tile.fold = "k"}
    }
  }
}

// Nothing attempts.
// CHECK-LABEL: device.kernel @exact
// CHECK-NOT: device.any
// CHECK-NOT: scf.if
device.kernel @exact "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  device.consumers 2 registers 240 {
    scf.for %k0 = %c0 to %n step %c64 : i32 {
    } {tile.fold = "k"}
  }
}

// Four steps at a time, but first one, which all rows take the exact way. They stay where its last step scaled by less than 1 / 1024, the bound of an attempt.
// CHECK-LABEL: device.kernel @grows
// SEEN-LABEL: device.kernel @grows
// SEEN-DAG: %[[SCALE:.*]] = device.registers "scale"
// SEEN-DAG: %[[SPENT:.*]] = device.registers "spent"
// SEEN: scf.for %{{.*}} = %c0_i32
// SEEN: %[[FOUR:.*]] = arith.muli %c64_i32, %c4_i32
// SEEN: %[[THREE:.*]] = arith.muli %c64_i32, %c3_i32
// SEEN-NEXT: %[[BEFORE:.*]] = arith.subi %[[FROM:.*]], %[[THREE]]
// SEEN: device.fill %[[SPENT]] with %true
// SEEN-NEXT: scf.for %[[PART:.*]] = %[[BEFORE]] to %[[N:.*]] step %[[FOUR]]
// SEEN-NEXT: %[[NEXT:.*]] = arith.addi %[[PART]], %[[FOUR]]
// SEEN-NEXT: %[[END:.*]] = arith.minsi %[[N]], %[[NEXT]]
// SEEN-NEXT: %[[BEGIN:.*]] = arith.maxsi %[[PART]], %[[FROM]]
// SEEN-NEXT: %[[LEAVES:.*]] = device.any %[[SPENT]] {device.warpgroup}
// SEEN-NEXT: scf.if %[[LEAVES]] {
// SEEN-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64_i32
// SEEN-NOT: device.any
// SEEN: } {tile.fold = "k"}
// SEEN-NEXT: %[[LATER:.*]] = arith.cmpi ne, %[[BEGIN]], %[[FROM]]
// SEEN-NEXT: device.each_row {
// SEEN-NEXT: %[[BY:.*]] = device.get %[[SCALE]]
// SEEN-NEXT: %[[LEAST:.*]] = arith.constant 9.765625E-4 : f32
// SEEN-NEXT: %[[REFUSED:.*]] = arith.cmpf olt, %[[BY]], %[[LEAST]]
// SEEN-NEXT: %[[STAYS:.*]] = arith.ori %[[REFUSED]], %[[LATER]]
// SEEN-NEXT: %[[WAS:.*]] = device.get %[[SPENT]]
// SEEN-NEXT: %[[IS:.*]] = arith.andi %[[WAS]], %[[STAYS]]
// SEEN-NEXT: device.set %[[IS]] in %[[SPENT]]
// SEEN: } else {
// SEEN-NEXT: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c64_i32
device.kernel @grows "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1.0 : f32
  %bound = arith.constant 1024.0 : f32
  %true = arith.constant true
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !s
    %acc = device.registers "acc" : !s
    %sum = device.registers "sum" : !device.rows<f32>
    %scale = device.registers "scale" : !device.rows<f32>
    %refused = device.registers "refused" : !device.rows<i1>
    %spent = device.registers "spent" : !device.rows<i1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c64 : i32 {
      scf.for %k0 = %c0 to %n step %c64 : i32 {
        device.await %kc
        device.fence %s : !s
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.commit
        device.wait 0 %s : !s
        %at_once = device.any %spent uniform
        %exact = scf.if %at_once -> (i1) {
          scf.yield %true : i1
        } else {
          device.each_row {
            %x = device.get %sum : !device.rows<f32> -> f32
            %holds = arith.cmpf olt, %x, %bound : f32
            %fails = arith.xori %holds, %true : i1
            device.set %fails in %refused : i1, !device.rows<i1>
          }
          %any = device.any %refused
          scf.if %any {
            device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          }
          scf.yield %any : i1
        }
        scf.if %exact {
          device.each_element 64 {
            %x = device.get %acc : !s -> f32
            %by = device.get %scale : !device.rows<f32> -> f32
            %y = arith.mulf %x, %by : f32
            device.set %y in %acc : f32, !s
          }
        }
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
      } {tile.fold = "k"}
    }
  }
}
