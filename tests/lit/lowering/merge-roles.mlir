// RUN: tilewright opt %s -device-merge-roles -canonicalize -cse -canonicalize | FileCheck %s
// RUN: tilewright opt %s -device-merge-roles -device-draw-items -device-check-protocol -o /dev/null

// The copies for an item's first step come first, those for each other one in the step before it, where there is one: from the first step on to a turn of
// either loop, from the first loop to its next turn or the second loop, from the second loop to its next turn.
// CHECK-LABEL: device.kernel @steps
// CHECK-NOT: device.producer
// CHECK: device.consumers 1 rows 32 registers 0 {
// CHECK: %[[C:.*]] = device.cursor "K" on %{{.*}} phase 0
// CHECK: %[[NEXT:.*]] = device.cursor "K_next" on %{{.*}} phase 1
// CHECK: scf.for %[[ITEM:.*]] = %
// CHECK: scf.if %
// CHECK-NEXT: device.acquire %{{.*}} bytes 16384
// CHECK: device.acquire %[[NEXT]] bytes 8192
// CHECK-NEXT: device.copy %{{.*}}[%[[ZERO:.*]], %[[LAST:.*]], %[[ITEM]]] to %[[K:.*]] at %[[NEXT]]
// CHECK-NEXT: device.advance %[[NEXT]]
// CHECK-NEXT: %[[ANY1:.*]] = arith.cmpi slt, %[[MIDDLE:.*]], %[[LAST]]
// CHECK-NEXT: %[[AT1:.*]] = arith.subi %[[LAST]], %[[MIDDLE]]
// CHECK-NEXT: %[[ANY2:.*]] = arith.cmpi sgt, %[[MIDDLE]], %[[ZERO]]
// CHECK-NEXT: %[[AT:.*]] = arith.select %[[ANY1]], %[[AT1]], %[[ZERO]]
// CHECK-NEXT: %[[ANY:.*]] = arith.ori %[[ANY1]], %[[ANY2]]
// CHECK: device.await %[[C]]
// CHECK: device.multiply
// CHECK: device.wait 0
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: device.acquire %[[NEXT]] bytes 8192
// CHECK-NEXT: device.copy %{{.*}}[%[[ZERO]], %[[AT]], %[[ITEM]]] to %[[K]] at %[[NEXT]]
// CHECK-NEXT: device.advance %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[C]]
// CHECK: scf.for %[[I:.*]] = %[[MIDDLE]] to %[[LAST]]
// CHECK-NEXT: %[[TURN:.*]] = arith.addi %[[I]], %
// CHECK-NEXT: %[[OWN:.*]] = arith.cmpi slt, %[[TURN]], %[[LAST]]
// CHECK-NEXT: %[[MIRROR:.*]] = arith.subi %[[LAST]], %[[TURN]]
// CHECK-NEXT: %[[AT:.*]] = arith.select %[[OWN]], %[[MIRROR]], %[[ZERO]]
// CHECK-NEXT: %[[ANY:.*]] = arith.ori %[[OWN]], %[[ANY2]]
// CHECK: device.wait 0
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: device.copy %{{.*}}[%[[ZERO]], %[[AT]], %[[ITEM]]]
// CHECK: scf.for %[[J:.*]] = %[[ZERO]] to %[[MIDDLE]]
// CHECK-NEXT: %[[TURN:.*]] = arith.addi %[[J]], %
// CHECK-NEXT: %[[OWN:.*]] = arith.cmpi slt, %[[TURN]], %[[MIDDLE]]
// CHECK: device.wait 0
// CHECK-NEXT: scf.if %[[OWN]] {
// CHECK: device.copy %{{.*}}[%[[ZERO]], %[[TURN]], %[[ITEM]]]
!s = !device.fragment<64 x f32>
!tile = !device.ring<2 x [64, 64] bf16>
!item = !device.ring<1 x [128, 64] bf16>
device.kernel @steps "sm80" items "q" 128 of ["b"] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %K = device.tensor_map "K" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [0, 0, 0] box [64, 64, 1] swizzle 128
  %Q = device.tensor_map "Q" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [0, 0, 0] box [64, 128, 1] swizzle 128
  %n = device.extent "k"
  %middle = device.extent "m"
  %items = device.count items
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 0 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %first = device.block_index
    %grid = device.grid_size
    scf.for %item = %first to %items step %grid : i32 {
      %some = arith.cmpi slt, %c0, %n : i32
      scf.if %some {
        device.acquire %qc bytes 16384
        device.copy %Q[%c0, %c0, %item] to %Qs at %qc : !item
        device.advance %qc
        device.acquire %kc bytes 8192
        device.copy %K[%c0, %n, %item] to %Ks at %kc : !tile
        device.advance %kc
        scf.for %k0 = %middle to %n step %c64 : i32 {
          %mirror = arith.subi %n, %k0 : i32
          device.acquire %kc bytes 8192
          device.copy %K[%c0, %mirror, %item] to %Ks at %kc : !tile
          device.advance %kc
        } {tile.fold = "k"}
        scf.for %k0 = %c0 to %middle step %c64 : i32 {
          device.acquire %kc bytes 8192
          device.copy %K[%c0, %k0, %item] to %Ks at %kc : !tile
          device.advance %kc
        } {tile.fold = "k"}
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 rows 32 registers 0 {
    %s = device.registers "s" : !s
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %first = device.block_index
    %grid = device.grid_size
    scf.for %item = %first to %items step %grid : i32 {
      %some = arith.cmpi slt, %c0, %n : i32
      scf.if %some {
        device.await %qc
        device.await %kc
        device.fence %s : !s
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.commit
        device.wait 0 %s : !s
        device.release %kc
        device.advance %kc
        scf.for %k0 = %middle to %n step %c64 : i32 {
          device.await %kc
          device.fence %s : !s
          device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          device.commit
          device.wait 0 %s : !s
          device.release %kc
          device.advance %kc
        } {tile.fold = "k"}
        scf.for %k0 = %c0 to %middle step %c64 : i32 {
          device.await %kc
          device.fence %s : !s
          device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          device.commit
          device.wait 0 %s : !s
          device.release %kc
          device.advance %kc
        } {tile.fold = "k"}
        device.release %qc
        device.advance %qc
      } {tile.fold = "k"}
    } {device.items}
  }
}

// A kernel whose consumers read all that they need themselves has nothing to copy.
// CHECK-LABEL: device.kernel @nothing
// CHECK-NOT: device.producer
// CHECK: device.consumers
device.kernel @nothing "sm80" items "q" 64 of [] {
  %c1 = arith.constant 1 : i32
  %n = device.count items
  device.producer registers 0 {
  }
  device.consumers 1 registers 0 {
    scf.for %item = %c1 to %n step %c1 : i32 {
    } {device.items}
  }
}

// At each point of a loop around a fold the copies for the first step come first, and the last step copies nothing.
// CHECK-LABEL: device.kernel @around
// CHECK-NOT: device.producer
// CHECK: %[[NEXT:.*]] = device.cursor "K_next" on %{{.*}} phase 1
// CHECK: scf.for %{{.*}} = %
// CHECK: scf.for %[[H:.*]] = %
// CHECK: scf.if %
// CHECK-NEXT: device.acquire %[[NEXT]] bytes 8192
// CHECK-NEXT: device.copy %{{.*}}[%[[H]], %[[FROM:.*]]] to
// CHECK: scf.for %[[K:.*]] = %[[FROM]] to %[[N:.*]] step %[[STEP:.*]] :
// CHECK-NEXT: %[[TURN:.*]] = arith.addi %[[K]], %[[STEP]]
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi slt, %[[TURN]], %[[N]]
// CHECK: device.await
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: device.acquire %[[NEXT]] bytes 8192
// CHECK-NEXT: device.copy %{{.*}}[%[[H]], %[[TURN]]] to
device.kernel @around "sm80" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !tile
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 0 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c1 : i32 {
      scf.for %h = %c0 to %n step %c1 : i32 {
        scf.for %k0 = %c0 to %n step %c1 : i32 {
          device.acquire %kc bytes 8192
          device.copy %K[%h, %k0] to %Ks at %kc : !tile
          device.advance %kc
        } {tile.fold = "k"}
      }
    } {device.items}
  }
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    scf.for %item = %c0 to %n step %c1 : i32 {
      scf.for %h = %c0 to %n step %c1 : i32 {
        scf.for %k0 = %c0 to %n step %c1 : i32 {
          device.await %kc
          device.release %kc
          device.advance %kc
        } {tile.fold = "k"}
      }
    } {device.items}
  }
}
