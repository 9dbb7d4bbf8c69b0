// RUN: tilewright opt %s -device-delay-sums -canonicalize -split-input-file | FileCheck %s

!sum = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [128, 64] bf16>
!step = !device.ring<2 x [64, 64] bf16>
!exchange = !device.ring<2 x [64, 128] bf16>

// Two loops of a fold, one after the other. Publishing has a cursor of its own; what is published first is of no use, and its product is added
// nowhere: its row is -1. Each step multiplies what the step before published, ahead of its own dot that accumulates, and the product leaves under that one. The
// coordinates go from step to step and from loop to loop; what the last step published comes behind.
// CHECK-LABEL: device.kernel @two_loops
// CHECK-DAG:   %[[NONE:.*]] = arith.constant -1 : i32
// CHECK-DAG:   %[[X:.*]] = device.ring "x"
// CHECK:       device.consumers
// CHECK-DAG:     %[[C:.*]] = device.cursor "x" on %{{.*}} phase 0
// CHECK-DAG:     %[[A:.*]] = device.cursor "x_ahead" on %{{.*}} phase 1
// CHECK:         device.await %[[K:.*]]
// CHECK-NEXT:    device.fill %[[S:.*]] with
// CHECK-NEXT:    device.pack %[[S]] into %[[W:.*]] :
// CHECK-NEXT:    device.reserve %[[A]]
// CHECK-NEXT:    device.publish %[[W]] to %[[X]] at %[[A]]
// CHECK-NEXT:    device.advance %[[A]]
// CHECK-NEXT:    %[[LAST:.*]] = scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[BEFORE:.*]] = %[[NONE]]) -> (i32)
// CHECK-NEXT:      device.await %[[Q:.*]]
// CHECK-NEXT:      device.pack %[[S]] into %[[W]]
// CHECK-NEXT:      device.reserve %[[A]]
// CHECK-NEXT:      device.publish %[[W]] to %[[X]] at %[[A]]
// CHECK-NEXT:      device.advance %[[A]]
// CHECK-NEXT:      device.await %[[C]]
// CHECK-NEXT:      device.fence %[[PART:.*]] :
// CHECK-NEXT:      device.multiply %[[PART]], %[[X]] at %[[C]], %{{.*}} at %[[K]] depth 128 transposed
// CHECK-NEXT:      device.commit
// CHECK-NEXT:      device.fence
// CHECK-NEXT:      device.multiply %[[SUM:.*]], %[[W]], %{{.*}} at %[[Q]] depth 64 transposed accumulate
// CHECK-NEXT:      device.commit
// CHECK-NEXT:      device.wait 1 %[[PART]] :
// CHECK-NEXT:      device.release %[[C]]
// CHECK-NEXT:      device.advance %[[C]]
// CHECK-NEXT:      %[[FIRST:.*]] = arith.cmpi slt, %[[BEFORE]], %c0_i32 : i32
// CHECK-NEXT:      device.add_tile %[[PART]] to %{{.*}}[%c0_i32, %[[BEFORE]]] through %{{.*}} shares unless %[[FIRST]]
// CHECK-NEXT:      device.wait 0 %{{.*}}, %{{.*}} : !device.{{operand|fragment}}
// CHECK-NEXT:      device.release %[[Q]]
// CHECK-NEXT:      device.advance %[[Q]]
// CHECK-NEXT:      scf.yield %[[AT]] : i32
// CHECK-NEXT:    } {tile.fold = "q"}
// CHECK-NEXT:    %[[END:.*]] = scf.for {{.*}} iter_args(%[[BEFORE2:.*]] = %[[LAST]]) -> (i32)
// CHECK:           %[[FIRST2:.*]] = arith.cmpi slt, %[[BEFORE2]], %c0_i32 : i32
// CHECK-NEXT:      device.add_tile %[[PART]] to %{{.*}}[%c0_i32, %[[BEFORE2]]] through %{{.*}} shares unless %[[FIRST2]]
// CHECK:         } {tile.fold = "q"}
// CHECK-NEXT:    device.await %[[C]]
// CHECK-NEXT:    device.fence %[[PART]]
// CHECK-NEXT:    device.multiply %[[PART]], %[[X]] at %[[C]], %{{.*}} at %[[K]] depth 128 transposed
// CHECK-NEXT:    device.commit
// CHECK-NEXT:    device.wait 0 %[[PART]]
// CHECK-NEXT:    device.release %[[C]]
// CHECK-NEXT:    device.advance %[[C]]
// CHECK-NEXT:    %[[EMPTY:.*]] = arith.cmpi slt, %[[END]], %c0_i32 : i32
// CHECK-NEXT:    device.add_tile %[[PART]] to %{{.*}}[%c0_i32, %[[END]]] through %{{.*}} shares unless %[[EMPTY]]
// CHECK-NEXT:    device.release %[[K]]
device.kernel @two_loops "sm90a" items "k" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "q"
  %half = device.extent "d"
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %Ks = device.ring "K" : !block
  %Qs = device.ring "Q" : !step
  %x = device.ring "x" : !exchange
  %out = device.ring "Sum" : !device.ring<8 x [512] f32>
  %Kb = device.barriers "K" releases 8 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 8 : !device.barriers<2>
  %xb = device.barriers "x" releases 8 arrivals 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !sum
    %sum = device.registers "sum" : !sum
    %w = device.registers "w" : !operand
    %part = device.registers "part" : !device.fragment<32 x f32>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<2>
    %xc = device.cursor "x" on %xb phase 0 : !device.barriers<2>
    device.await %kc
    scf.for %q0 = %c0 to %half step %c64 : i32 {
      device.await %qc
      device.pack %s into %w : !sum, !operand
      device.reserve %xc
      device.publish %w to %x at %xc : !operand, !exchange
      device.fence %sum, %w : !sum, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !sum, !operand, !step
      device.commit
      device.await %xc
      device.fence %part : !device.fragment<32 x f32>
      device.multiply %part, %x at %xc, %Ks at %kc depth 128 transposed shares : !device.fragment<32 x f32>, !exchange, !block
      device.commit
      device.wait 0 %sum, %w, %part : !sum, !operand, !device.fragment<32 x f32>
      device.release %qc
      device.advance %qc
      device.add_tile %part to %map[%c0, %q0] through %out shares : !device.fragment<32 x f32>, !device.ring<8 x [512] f32>
      device.release %xc
      device.advance %xc
    } {tile.fold = "q"}
    scf.for %q0 = %half to %n step %c64 : i32 {
      device.await %qc
      device.pack %s into %w : !sum, !operand
      device.reserve %xc
      device.publish %w to %x at %xc : !operand, !exchange
      device.fence %sum, %w : !sum, !operand
      device.multiply %sum, %w, %Qs at %qc depth 64 transposed accumulate : !sum, !operand, !step
      device.commit
      device.await %xc
      device.fence %part : !device.fragment<32 x f32>
      device.multiply %part, %x at %xc, %Ks at %kc depth 128 transposed shares : !device.fragment<32 x f32>, !exchange, !block
      device.commit
      device.wait 0 %sum, %w, %part : !sum, !operand, !device.fragment<32 x f32>
      device.release %qc
      device.advance %qc
      device.add_tile %part to %map[%c0, %q0] through %out shares : !device.fragment<32 x f32>, !device.ring<8 x [512] f32>
      device.release %xc
      device.advance %xc
    } {tile.fold = "q"}
    device.release %kc
    device.advance %kc
  }
}

// -----

!sum = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [128, 64] bf16>
!exchange = !device.ring<2 x [64, 128] bf16>

// Where a step adds element by element besides, it needs the slot itself: nothing changes.
// CHECK-LABEL: device.kernel @apart
// CHECK-NOT:   x_ahead
// CHECK:       device.add_apart
// CHECK-NEXT:  }
// CHECK-NEXT:  device.release
device.kernel @apart "sm90a" items "k" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %at = arith.constant 0 : i64
  %n = device.extent "q"
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %Sum = device.tensor "Sum" : !device.pointer<f32>
  %stride = device.stride "Sum" 0
  %Ks = device.ring "K" : !block
  %x = device.ring "x" : !exchange
  %out = device.ring "Sum" : !device.ring<8 x [512] f32>
  %Kb = device.barriers "K" releases 8 : !device.barriers<1>
  %xb = device.barriers "x" releases 8 arrivals 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !sum
    %w = device.registers "w" : !operand
    %part = device.registers "part" : !device.fragment<32 x f32>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %xc = device.cursor "x" on %xb phase 0 : !device.barriers<2>
    %found = device.scan %Ks at %kc : !block
    scf.for %q0 = %c0 to %n step %c64 : i32 {
      device.pack %s into %w : !sum, !operand
      device.reserve %xc
      device.publish %w to %x at %xc : !operand, !exchange
      device.await %xc
      device.fence %part : !device.fragment<32 x f32>
      device.multiply %part, %x at %xc, %Ks at %kc depth 128 transposed shares : !device.fragment<32 x f32>, !exchange, !block
      device.commit
      device.wait 0 %part : !device.fragment<32 x f32>
      device.add_tile %part to %map[%c0, %q0] through %out shares unless %found : !device.fragment<32 x f32>, !device.ring<8 x [512] f32>
      scf.if %found {
        device.add_apart %x at %xc, %Ks at %kc to %Sum[%at] by %stride rows %n columns %c64 width 64 transposed : !exchange, !block, !device.pointer<f32>
      }
      device.release %xc
      device.advance %xc
    } {tile.fold = "q"}
  }
}

// -----

!sum = !device.fragment<64 x f32>
!operand = !device.operand<64 x bf16>
!block = !device.ring<1 x [128, 64] bf16>
!exchange = !device.ring<2 x [64, 128] bf16>

// What is not added for another reason stays so, in the last step too.
// CHECK-LABEL: device.kernel @unless
// CHECK:       %[[FOUND:.*]] = device.scan
// CHECK:       scf.for {{.*}} iter_args(%[[BEFORE:.*]] = %c-1_i32)
// CHECK:         %[[FIRST:.*]] = arith.cmpi slt, %[[BEFORE]], %c0_i32 : i32
// CHECK-NEXT:    %[[LEFT:.*]] = arith.ori %[[FOUND]], %[[FIRST]] : i1
// CHECK-NEXT:    device.add_tile {{.*}} unless %[[LEFT]]
// CHECK:       {tile.fold = "q"}
// CHECK:       %[[LAST:.*]] = arith.ori %[[FOUND]], %{{.*}} : i1
// CHECK-NEXT:  device.add_tile {{.*}} unless %[[LAST]]
device.kernel @unless "sm90a" items "k" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "q"
  %map = device.tensor_map "Sum" f32 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [32, 16] swizzle 128
  %Ks = device.ring "K" : !block
  %x = device.ring "x" : !exchange
  %out = device.ring "Sum" : !device.ring<8 x [512] f32>
  %Kb = device.barriers "K" releases 8 : !device.barriers<1>
  %xb = device.barriers "x" releases 8 arrivals 8 : !device.barriers<2>
  device.consumers 2 registers 240 {
    %s = device.registers "s" : !sum
    %w = device.registers "w" : !operand
    %part = device.registers "part" : !device.fragment<32 x f32>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %xc = device.cursor "x" on %xb phase 0 : !device.barriers<2>
    %found = device.scan %Ks at %kc : !block
    scf.for %q0 = %c0 to %n step %c64 : i32 {
      device.pack %s into %w : !sum, !operand
      device.reserve %xc
      device.publish %w to %x at %xc : !operand, !exchange
      device.await %xc
      device.fence %part : !device.fragment<32 x f32>
      device.multiply %part, %x at %xc, %Ks at %kc depth 128 transposed shares : !device.fragment<32 x f32>, !exchange, !block
      device.commit
      device.wait 0 %part : !device.fragment<32 x f32>
      device.add_tile %part to %map[%c0, %q0] through %out shares unless %found : !device.fragment<32 x f32>, !device.ring<8 x [512] f32>
      device.release %xc
      device.advance %xc
    } {tile.fold = "q"}
  }
}
