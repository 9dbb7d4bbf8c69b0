// RUN: tilewright opt %s -tile-to-device -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -tile-to-device -canonicalize -cse -device-distribute-tiles -canonicalize -cse -device-lay-out-memory -device-check-protocol | FileCheck %s --check-prefix=REGISTERS
#t = #tile.axes<"t">
#td = #tile.axes<"t", "d">
#vd = #tile.axes<"v", "d">
#tv = #tile.axes<"t", "v">
!matrix = memref<?x?xbf16, strided<[?, ?], offset: ?>>
!vector = memref<?xf32, strided<[?], offset: ?>>

// A fold inside the step, over d in chunks of 64. Both operands of its dot have rings of three chunks, under one pair of barriers, and are copied
// before the step's vector, which has barriers of its own.
// CHECK-LABEL: device.kernel @chunks
// CHECK-DAG: %[[X:.*]] = device.ring "X" : <3 x[64, 64] bf16>
// CHECK-DAG: %[[W:.*]] = device.ring "W" : <3 x[32, 64] bf16>
// CHECK-DAG: %[[CHUNKS:.*]] = device.barriers "X" releases 4 : <3>
// CHECK-DAG: %[[VECTORS:.*]] = device.barriers "B" releases 4 : <2>
// CHECK: device.producer
// CHECK: %[[CHUNK:.*]] = device.cursor "X" on %[[CHUNKS]] phase 1
// CHECK: %[[VECTOR:.*]] = device.cursor "B" on %[[VECTORS]] phase 1
// CHECK: scf.for %[[V0:.*]] = %c0_i32 to %{{.*}} step %c32_i32
// CHECK-NEXT: scf.for %[[D0:.*]] = %c0_i32 to %c320_i32 step %c64_i32
// CHECK-NEXT: device.acquire %[[CHUNK]] bytes 12288
// CHECK-NEXT: device.copy %{{.*}}[%[[D0]], %{{.*}}] to %[[X]] at %[[CHUNK]]
// CHECK-NEXT: device.copy %{{.*}}[%[[D0]], %[[V0]]] to %[[W]] at %[[CHUNK]]
// CHECK-NEXT: device.advance %[[CHUNK]]
// CHECK-NEXT: } {tile.nested = "d"}
// CHECK-NEXT: device.acquire %[[VECTOR]] bytes 128
// CHECK: } {tile.fold = "v"}

// The consumers add up in one fragment; the first chunk starts the sum. The vector is awaited behind all chunks.
// REGISTERS: device.consumers
// REGISTERS: %[[Z:.*]] = device.registers "t" : !device.fragment<32 x f32>
// REGISTERS: %[[CHUNK:.*]] = device.cursor "X"
// REGISTERS: %[[VECTOR:.*]] = device.cursor "B"
// REGISTERS: scf.for {{.*}} step %c32_i32
// REGISTERS-NEXT: device.await %[[CHUNK]]
// REGISTERS-NEXT: device.fence %[[Z]]
// REGISTERS-NEXT: device.multiply %[[Z]], {{.*}} depth 64 :
// REGISTERS-NEXT: device.commit
// REGISTERS-NEXT: device.wait 0 %[[Z]]
// REGISTERS-NEXT: device.release %[[CHUNK]]
// REGISTERS-NEXT: device.advance %[[CHUNK]]
// REGISTERS-NEXT: scf.for %{{.*}} = %c64_i32 to %c320_i32 step %c64_i32
// REGISTERS-NEXT: device.await %[[CHUNK]]
// REGISTERS-NEXT: device.fence %[[Z]]
// REGISTERS-NEXT: device.multiply %[[Z]], {{.*}} depth 64 accumulate :
// REGISTERS-NEXT: device.commit
// REGISTERS-NEXT: device.wait 0 %[[Z]]
// REGISTERS-NEXT: device.release %[[CHUNK]]
// REGISTERS-NEXT: device.advance %[[CHUNK]]
// REGISTERS-NEXT: } {tile.nested = "d"}
// REGISTERS-NEXT: device.await %[[VECTOR]]
// REGISTERS-NEXT: device.each_element 32
// REGISTERS: device.release %[[VECTOR]]
func.func @chunks(%X: !matrix {tile.tensor = "X"}, %W: !matrix {tile.tensor = "W"}, %B: !vector {tile.tensor = "B"}, %R: !vector {tile.tensor = "R"}, %nv: i32 {tile.extent = "v"},
                  %t0: i32 {tile.item = "t"}) attributes {tile.kernel = #tile.kernel<[<"t", block, 64>, <"v", fold, 32>, <"d", inner, 320>]>} {
  %zero = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c320 = arith.constant 320 : i32
  %none = arith.constant dense<0.0> : tensor<64xf32, #t>
  %nothing = arith.constant dense<0.0> : tensor<64x32xf32, #tv>
  %r = scf.for %v0 = %zero to %nv step %c32 iter_args(%sum = %none) -> (tensor<64xf32, #t>) : i32 {
    %z = scf.for %d0 = %zero to %c320 step %c64 iter_args(%z0 = %nothing) -> (tensor<64x32xf32, #tv>) : i32 {
      %x = tile.load %X[%t0, %d0] dims [0, 1] : !matrix -> tensor<64x64xbf16, #td>
      %w = tile.load %W[%v0, %d0] dims [0, 1] : !matrix -> tensor<32x64xbf16, #vd>
      %part = tile.dot %x, %w over "d" stage 0 : tensor<64x64xbf16, #td>, tensor<32x64xbf16, #vd> -> tensor<64x32xf32, #tv>
      %z1 = arith.addf %z0, %part : tensor<64x32xf32, #tv>
      scf.yield %z1 : tensor<64x32xf32, #tv>
    } {tile.nested = "d", tile.stages = 3 : i64}
    %b = tile.load %B[%v0] dims [0] : !vector -> tensor<32xf32, #tile.axes<"v">>
    %wide = tile.broadcast %b : tensor<32xf32, #tile.axes<"v">> -> tensor<64x32xf32, #tv>
    %biased = arith.addf %z, %wide : tensor<64x32xf32, #tv>
    %part = tile.reduce sum %biased over "v" : tensor<64x32xf32, #tv> -> tensor<64xf32, #t>
    %next = arith.addf %sum, %part : tensor<64xf32, #t>
    scf.yield %next : tensor<64xf32, #t>
  } {tile.carried = ["sum"], tile.fold = "v"}
  tile.store %r, %R[%t0] dims [0] : tensor<64xf32, #t>, !vector
  return
}
