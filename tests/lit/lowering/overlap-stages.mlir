// RUN: tilewright opt %s -device-overlap-stages | FileCheck %s
// RUN: tilewright opt %s -device-overlap-stages -device-check-protocol -o /dev/null
!s = !device.fragment<64 x f32>
!p = !device.operand<64 x bf16>
!tile = !device.ring<2 x [64, 64] bf16>
!item = !device.ring<1 x [64, 64] bf16>

// Dots of stage 1 of a step are issued behind those of stage 0 of the next one. The wait for stage 0 leaves one group in flight; what touches
// the registers of stage 1 comes after the wait for it, and the last dots of stage 1 after the loop.
// CHECK-LABEL: device.kernel @plain
// CHECK: device.consumers
// CHECK: scf.if
// CHECK: device.multiply %[[S:.*]], %{{.*}} at %{{.*}}, %[[K:.*]] at %[[KC:.*]] depth 64
// CHECK: device.wait 0 %[[S]]
// CHECK-NOT: device.multiply
// CHECK: scf.for
// CHECK-NEXT: device.await %[[KC]]
// CHECK-NEXT: device.fence %[[S]], %[[ACC:.*]], %[[P:.*]] : {{.*}} {device.stage = 0 : i64}
// CHECK-NEXT: device.multiply %[[S]], %{{.*}}, %[[K]] at %[[KC]]
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.await %[[VC:.*]] {device.stage = 1 : i64}
// CHECK-NEXT: device.fence {device.stage = 1 : i64}
// CHECK-NEXT: device.multiply %[[ACC]], %[[P]], %[[V:.*]] at %[[VC]]
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.wait 1 %[[S]] :
// CHECK-NEXT: device.release %[[KC]]
// CHECK-NEXT: device.advance %[[KC]]
// CHECK-NEXT: device.each_element
// CHECK: math.exp2
// CHECK: device.wait 0 %[[ACC]], %[[P]] :
// CHECK-NEXT: device.release %[[VC]]
// CHECK-NEXT: device.advance %[[VC]]
// CHECK-NEXT: device.pack %[[S]] into %[[P]]
// CHECK-NEXT: device.each_element
// CHECK: arith.mulf
// CHECK: } {tile.fold = "k"}
// CHECK-NEXT: device.await %[[VC]]
// CHECK-NEXT: device.fence %[[ACC]], %[[P]]
// CHECK-NEXT: device.multiply %[[ACC]], %[[P]], %[[V]] at %[[VC]]
// CHECK-NEXT: device.commit
// CHECK-NEXT: device.wait 0 %[[ACC]], %[[P]]
// CHECK-NEXT: device.release %[[VC]]
// CHECK-NEXT: device.advance %[[VC]]
// CHECK-NEXT: } {tile.fold = "k"}
device.kernel @plain "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %Q = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %V = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Vs = device.ring "V" : !tile
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 1 : !device.barriers<2>
    device.acquire %qc bytes 8192
    device.copy %Q[%c0, %c0] to %Qs at %qc : !item
    device.advance %qc
    device.acquire %kc bytes 8192
    device.copy %K[%c0, %c0] to %Ks at %kc : !tile
    device.advance %kc
    device.acquire %vc bytes 8192
    device.copy %V[%c0, %c0] to %Vs at %vc : !tile
    device.advance %vc
    scf.for %k0 = %c64 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !tile
      device.advance %kc
      device.acquire %vc bytes 8192
      device.copy %V[%c0, %k0] to %Vs at %vc : !tile
      device.advance %vc
    }
  }
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %p = device.registers "p" : !p
    %acc = device.registers "acc" : !s
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %any = arith.cmpi sgt, %n, %c0 : i32
    device.fill %acc with %zero : !s, f32
    device.await %qc
    scf.if %any {
      device.await %kc {device.stage = 0 : i64}
      device.fence %s : !s {device.stage = 0 : i64}
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
      device.commit {device.stage = 0 : i64}
      device.wait 0 %s : !s {device.stage = 0 : i64}
      device.release %kc {device.stage = 0 : i64}
      device.advance %kc {device.stage = 0 : i64}
      device.each_element 64 {
        %x = device.get %s : !s -> f32
        %y = math.exp2 %x : f32
        device.set %y in %s : f32, !s
      }
      device.pack %s into %p : !s, !p
      device.each_element 64 {
        %x = device.get %acc : !s -> f32
        %y = arith.mulf %x, %half : f32
        device.set %y in %acc : f32, !s
      }
      device.await %vc {device.stage = 1 : i64}
      device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
      device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
      device.commit {device.stage = 1 : i64}
      device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
      device.release %vc {device.stage = 1 : i64}
      device.advance %vc {device.stage = 1 : i64}
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc {device.stage = 0 : i64}
        device.fence %s : !s {device.stage = 0 : i64}
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
        device.commit {device.stage = 0 : i64}
        device.wait 0 %s : !s {device.stage = 0 : i64}
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
        device.each_element 64 {
          %x = device.get %s : !s -> f32
          %y = math.exp2 %x : f32
          device.set %y in %s : f32, !s
        }
        device.pack %s into %p : !s, !p
        device.each_element 64 {
          %x = device.get %acc : !s -> f32
          %y = arith.mulf %x, %half : f32
          device.set %y in %acc : f32, !s
        }
        device.await %vc {device.stage = 1 : i64}
        device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
        device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
        device.commit {device.stage = 1 : i64}
        device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
        device.release %vc {device.stage = 1 : i64}
        device.advance %vc {device.stage = 1 : i64}
      } {tile.fold = "k"}
    } {tile.fold = "k"}
    device.release %qc
    device.advance %qc
  }
}

// Of a branch only what touches the registers of stage 1 waits for them, in a branch of its own.
// CHECK-LABEL: device.kernel @branch
// CHECK: device.consumers
// CHECK: scf.for
// CHECK: device.wait 1 %[[S:[a-z0-9]+]] :
// CHECK-NEXT: device.release
// CHECK-NEXT: device.advance
// CHECK-NEXT: scf.if %[[ANY:[a-z0-9]+]] {
// CHECK: math.exp2
// CHECK: math.absf
// CHECK: device.wait 0 %[[ACC:[a-z0-9]+]], %[[P:[a-z0-9]+]] :
// CHECK-NEXT: device.release
// CHECK-NEXT: device.advance
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: device.each_element
// CHECK-NEXT: device.get %[[ACC]]
// CHECK: arith.mulf
// CHECK: device.pack %[[S]] into %[[P]]
// CHECK-NEXT: } {tile.fold = "k"}
device.kernel @branch "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %Q = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %V = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Vs = device.ring "V" : !tile
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 1 : !device.barriers<2>
    device.acquire %qc bytes 8192
    device.copy %Q[%c0, %c0] to %Qs at %qc : !item
    device.advance %qc
    device.acquire %kc bytes 8192
    device.copy %K[%c0, %c0] to %Ks at %kc : !tile
    device.advance %kc
    device.acquire %vc bytes 8192
    device.copy %V[%c0, %c0] to %Vs at %vc : !tile
    device.advance %vc
    scf.for %k0 = %c64 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !tile
      device.advance %kc
      device.acquire %vc bytes 8192
      device.copy %V[%c0, %k0] to %Vs at %vc : !tile
      device.advance %vc
    }
  }
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %p = device.registers "p" : !p
    %acc = device.registers "acc" : !s
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %any = arith.cmpi sgt, %n, %c0 : i32
    device.fill %acc with %zero : !s, f32
    device.await %qc
    scf.if %any {
      device.await %kc {device.stage = 0 : i64}
      device.fence %s : !s {device.stage = 0 : i64}
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
      device.commit {device.stage = 0 : i64}
      device.wait 0 %s : !s {device.stage = 0 : i64}
      device.release %kc {device.stage = 0 : i64}
      device.advance %kc {device.stage = 0 : i64}
      device.each_element 64 {
        %x = device.get %s : !s -> f32
        %y = math.exp2 %x : f32
        device.set %y in %s : f32, !s
      }
      device.pack %s into %p : !s, !p
      device.each_element 64 {
        %x = device.get %acc : !s -> f32
        %y = arith.mulf %x, %half : f32
        device.set %y in %acc : f32, !s
      }
      device.await %vc {device.stage = 1 : i64}
      device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
      device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
      device.commit {device.stage = 1 : i64}
      device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
      device.release %vc {device.stage = 1 : i64}
      device.advance %vc {device.stage = 1 : i64}
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc {device.stage = 0 : i64}
        device.fence %s : !s {device.stage = 0 : i64}
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
        device.commit {device.stage = 0 : i64}
        device.wait 0 %s : !s {device.stage = 0 : i64}
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
        scf.if %any {
          device.each_element 64 {
            %x = device.get %s : !s -> f32
            %y = math.exp2 %x : f32
            device.set %y in %s : f32, !s
          }
          device.each_element 64 {
            %x = device.get %acc : !s -> f32
            %y = arith.mulf %x, %half : f32
            device.set %y in %acc : f32, !s
          }
          device.each_element 64 {
            %x = device.get %s : !s -> f32
            %y = math.absf %x : f32
            device.set %y in %s : f32, !s
          }
        }
        device.pack %s into %p : !s, !p
        device.await %vc {device.stage = 1 : i64}
        device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
        device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
        device.commit {device.stage = 1 : i64}
        device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
        device.release %vc {device.stage = 1 : i64}
        device.advance %vc {device.stage = 1 : i64}
      } {tile.fold = "k"}
    } {tile.fold = "k"}
    device.release %qc
    device.advance %qc
  }
}

// A way that a warp may take alone reads the tiles of stage 0 once more, which are given back behind it, and rescales by a vector: that comes behind the wait
// for stage 1, and the vector is given back behind it.
// CHECK-LABEL: device.kernel @repeated
// CHECK: device.consumers
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NEXT: device.await %[[KC:[a-z0-9]+]] {
// CHECK: device.wait 1 %[[S:[a-z0-9]+]] :
// CHECK-NOT: device.release
// CHECK: %[[REFUSED:.*]] = device.any
// CHECK-NEXT: scf.if %[[REFUSED]] {
// CHECK-NEXT: device.repeat %[[S]]
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.advance %[[KC]]
// CHECK-NEXT: device.wait 0 %[[ACC:[a-z0-9]+]], %[[P:[a-z0-9]+]] :
// CHECK-NEXT: device.release %[[VC:[a-z0-9]+]] {device.stage = 1 : i64}
// CHECK-NEXT: device.advance %[[VC]]
// CHECK-NEXT: scf.if %[[REFUSED]] {
// CHECK: device.set %{{.*}} in %[[ACC]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[WC:[a-z0-9]+]]
// CHECK-NEXT: device.advance %[[WC]]
// CHECK-NEXT: device.pack %[[S]] into %[[P]]
// CHECK-NEXT: } {tile.fold = "k"}
device.kernel @repeated "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %Q = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %V = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %W = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [64] swizzle 0
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Vs = device.ring "V" : !tile
  %Ws = device.ring "w" : !device.ring<2 x [64] f32>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  %Wb = device.barriers "w" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 1 : !device.barriers<2>
    %wc = device.cursor "w" on %Wb phase 1 : !device.barriers<2>
    device.acquire %qc bytes 8192
    device.copy %Q[%c0, %c0] to %Qs at %qc : !item
    device.advance %qc
    device.acquire %kc bytes 8192
    device.copy %K[%c0, %c0] to %Ks at %kc : !tile
    device.advance %kc
    device.acquire %wc bytes 256
    device.copy %W[%c0] to %Ws at %wc : !device.ring<2 x [64] f32>
    device.advance %wc
    device.acquire %vc bytes 8192
    device.copy %V[%c0, %c0] to %Vs at %vc : !tile
    device.advance %vc
    scf.for %k0 = %c64 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !tile
      device.advance %kc
      device.acquire %wc bytes 256
      device.copy %W[%k0] to %Ws at %wc : !device.ring<2 x [64] f32>
      device.advance %wc
      device.acquire %vc bytes 8192
      device.copy %V[%c0, %k0] to %Vs at %vc : !tile
      device.advance %vc
    }
  }
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %p = device.registers "p" : !p
    %acc = device.registers "acc" : !s
    %bad = device.registers "bad" : !device.rows<i1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %wc = device.cursor "w" on %Wb phase 0 : !device.barriers<2>
    %any = arith.cmpi sgt, %n, %c0 : i32
    device.fill %acc with %zero : !s, f32
    device.await %qc
    scf.if %any {
      device.await %kc {device.stage = 0 : i64}
      device.fence %s : !s {device.stage = 0 : i64}
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
      device.commit {device.stage = 0 : i64}
      device.wait 0 %s : !s {device.stage = 0 : i64}
      device.await %wc
      device.each_element 64 {
        %x = device.get %s : !s -> f32
        %y = math.exp2 %x : f32
        device.set %y in %s : f32, !s
      }
      %refused = device.any %bad
      scf.if %refused {
        device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
        device.each_element 64 {
          %x = device.get %acc : !s -> f32
          %w = device.load_column %Ws at %wc : !device.ring<2 x [64] f32> -> f32
          %y = arith.mulf %x, %w : f32
          device.set %y in %acc : f32, !s
        }
      }
      device.release %kc {device.stage = 0 : i64}
      device.advance %kc {device.stage = 0 : i64}
      device.release %wc
      device.advance %wc
      device.pack %s into %p : !s, !p
      device.await %vc {device.stage = 1 : i64}
      device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
      device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
      device.commit {device.stage = 1 : i64}
      device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
      device.release %vc {device.stage = 1 : i64}
      device.advance %vc {device.stage = 1 : i64}
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc {device.stage = 0 : i64}
        device.fence %s : !s {device.stage = 0 : i64}
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
        device.commit {device.stage = 0 : i64}
        device.wait 0 %s : !s {device.stage = 0 : i64}
        device.await %wc
        device.each_element 64 {
          %x = device.get %s : !s -> f32
          %y = math.exp2 %x : f32
          device.set %y in %s : f32, !s
        }
        %again = device.any %bad
        scf.if %again {
          device.repeat %s, %Qs at %qc, %Ks at %kc depth 64 : !s, !item, !tile
          device.each_element 64 {
            %x = device.get %acc : !s -> f32
            %w = device.load_column %Ws at %wc : !device.ring<2 x [64] f32> -> f32
            %y = arith.mulf %x, %w : f32
            device.set %y in %acc : f32, !s
          }
        }
        device.release %kc {device.stage = 0 : i64}
        device.advance %kc {device.stage = 0 : i64}
        device.release %wc
        device.advance %wc
        device.pack %s into %p : !s, !p
        device.await %vc {device.stage = 1 : i64}
        device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
        device.multiply %acc, %p, %Vs at %vc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
        device.commit {device.stage = 1 : i64}
        device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
        device.release %vc {device.stage = 1 : i64}
        device.advance %vc {device.stage = 1 : i64}
      } {tile.fold = "k"}
    } {tile.fold = "k"}
    device.release %qc
    device.advance %qc
  }
}

// A tile that both stages read stays until stage 1 has: a second cursor trails, reads and gives back; the leading one only advances.
// CHECK-LABEL: device.kernel @both_stages
// CHECK: device.consumers
// CHECK: %[[KC:.*]] = device.cursor "K" on %[[KB:.*]] phase 0
// CHECK-NEXT: %[[BACK:.*]] = device.cursor "K_back" on %[[KB]] phase 0 trailing
// CHECK: scf.if
// CHECK-NEXT: device.await %[[KC]]
// CHECK: device.wait 0
// CHECK-NEXT: device.advance %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.each_element
// CHECK: scf.for
// CHECK-NEXT: device.await %[[KC]]
// CHECK: device.multiply %[[S:.*]], %{{.*}}, %[[K:.*]] at %[[KC]]
// CHECK: device.multiply %[[ACC:.*]], %[[P:.*]], %[[K]] at %[[BACK]]
// CHECK: device.wait 1 %[[S]]
// CHECK-NEXT: device.advance %[[KC]]
// CHECK: device.wait 0 %[[ACC]], %[[P]]
// CHECK-NEXT: device.release %[[BACK]]
// CHECK-NEXT: device.advance %[[BACK]]
// CHECK: } {tile.fold = "k"}
// CHECK: device.multiply %[[ACC]], %[[P]], %[[K]] at %[[BACK]]
// CHECK: device.release %[[BACK]]
// CHECK-NEXT: device.advance %[[BACK]]
// CHECK-NOT: device.release %[[KC]]
device.kernel @both_stages "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0.0 : f32
  %Q = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %n = device.extent "k"
  %Qs = device.ring "Q" : !item
  %Ks = device.ring "K" : !tile
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %qc bytes 8192
    device.copy %Q[%c0, %c0] to %Qs at %qc : !item
    device.advance %qc
    device.acquire %kc bytes 8192
    device.copy %K[%c0, %c0] to %Ks at %kc : !tile
    device.advance %kc
    scf.for %k0 = %c64 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !tile
      device.advance %kc
    }
  }
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %p = device.registers "p" : !p
    %acc = device.registers "acc" : !s
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %any = arith.cmpi sgt, %n, %c0 : i32
    device.fill %acc with %zero : !s, f32
    device.await %qc
    scf.if %any {
      device.await %kc {device.stage = 0 : i64}
      device.fence %s : !s {device.stage = 0 : i64}
      device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
      device.commit {device.stage = 0 : i64}
      device.wait 0 %s : !s {device.stage = 0 : i64}
      device.each_element 64 {
        %x = device.get %s : !s -> f32
        %y = math.exp2 %x : f32
        device.set %y in %s : f32, !s
      }
      device.pack %s into %p : !s, !p
      device.each_element 64 {
        %x = device.get %acc : !s -> f32
        %y = arith.mulf %x, %half : f32
        device.set %y in %acc : f32, !s
      }
      device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
      device.multiply %acc, %p, %Ks at %kc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
      device.commit {device.stage = 1 : i64}
      device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
      device.release %kc {device.stage = 1 : i64}
      device.advance %kc {device.stage = 1 : i64}
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc {device.stage = 0 : i64}
        device.fence %s : !s {device.stage = 0 : i64}
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 {device.stage = 0 : i64} : !s, !item, !tile
        device.commit {device.stage = 0 : i64}
        device.wait 0 %s : !s {device.stage = 0 : i64}
        device.each_element 64 {
          %x = device.get %s : !s -> f32
          %y = math.exp2 %x : f32
          device.set %y in %s : f32, !s
        }
        device.pack %s into %p : !s, !p
        device.each_element 64 {
          %x = device.get %acc : !s -> f32
          %y = arith.mulf %x, %half : f32
          device.set %y in %acc : f32, !s
        }
        device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
        device.multiply %acc, %p, %Ks at %kc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
        device.commit {device.stage = 1 : i64}
        device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
        device.release %kc {device.stage = 1 : i64}
        device.advance %kc {device.stage = 1 : i64}
      } {tile.fold = "k"}
    } {tile.fold = "k"}
    device.release %qc
    device.advance %qc
  }
}

// A fold of one stage has nothing to overlap.
// CHECK-LABEL: device.kernel @one_stage
// CHECK: device.wait 0
// CHECK: device.wait 0
// CHECK-NOT: device.wait
device.kernel @one_stage "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %n = device.extent "k"
  %Ks = device.ring "K" : !tile
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.acquire %kc bytes 8192
      device.copy %K[%c0, %k0] to %Ks at %kc : !tile
      device.advance %kc
    }
  }
  device.consumers 1 registers 240 {
    %p = device.registers "p" : !p
    %acc = device.registers "acc" : !s
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %any = arith.cmpi sgt, %n, %c0 : i32
    scf.if %any {
      device.await %kc {device.stage = 1 : i64}
      device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
      device.multiply %acc, %p, %Ks at %kc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
      device.commit {device.stage = 1 : i64}
      device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
      device.release %kc {device.stage = 1 : i64}
      device.advance %kc {device.stage = 1 : i64}
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc {device.stage = 1 : i64}
        device.fence %acc, %p : !s, !p {device.stage = 1 : i64}
        device.multiply %acc, %p, %Ks at %kc depth 64 transposed accumulate {device.stage = 1 : i64} : !s, !p, !tile
        device.commit {device.stage = 1 : i64}
        device.wait 0 %acc, %p : !s, !p {device.stage = 1 : i64}
        device.release %kc {device.stage = 1 : i64}
        device.advance %kc {device.stage = 1 : i64}
      } {tile.fold = "k"}
    } {tile.fold = "k"}
  }
}
