// RUN: tilewright opt %s -device-draw-items | FileCheck %s
// RUN: tilewright opt %s -device-draw-items -device-check-protocol -o /dev/null
// RUN: tilewright opt %s -device-draw-items -device-lay-out-memory --emit-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

// Consumers without a producer: one thread draws as an item begins and posts when it is done.
// CHECK-LABEL: device.kernel @alone
// CHECK-DAG: %[[COUNTERS:.*]] = device.counters 2
// CHECK-DAG: %[[ITEMS:.*]] = device.count items
// CHECK: %[[WORK:.*]] = device.mailbox "work" : <2>
// CHECK: %[[B:.*]] = device.barriers "work" releases 4 : <2>
// CHECK: device.consumers
// CHECK: %[[READ:.*]] = device.cursor "work" on %[[B]] phase 0
// CHECK-NEXT: %[[NEXT:.*]] = device.cursor "work_next" on %[[B]] phase 1
// CHECK-NEXT: scf.while (%[[I:.*]] = %{{.*}}) : (i32) -> i32 {
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[ITEMS]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[ITEM:.*]]: i32):
// CHECK-NEXT: device.acquire %[[NEXT]] bytes 0
// CHECK-NEXT: %[[DRAWN:.*]] = device.draw %[[COUNTERS]]
// CHECK: arith.addi %[[ITEM]], %
// CHECK: device.post %[[DRAWN]] to %[[WORK]] at %[[NEXT]]
// CHECK-NEXT: device.advance %[[NEXT]]
// CHECK-NEXT: device.await %[[READ]]
// CHECK-NEXT: %[[WORD:.*]] = device.read_post %[[WORK]] at %[[READ]]
// CHECK-NEXT: device.release %[[READ]]
// CHECK-NEXT: device.advance %[[READ]]
// CHECK-NEXT: scf.yield %[[WORD]]
// CHECK-NEXT: }
// CHECK-NEXT: device.retire %[[COUNTERS]]

// TEXT: constexpr u32 work_AT = {{.*}} from one thread
// TEXT: mbar_init(sb + K_FULL + 8 * i, 128);
// TEXT: while (carried < p.items) {
// TEXT-NEXT: mbar_wait(sb + work_EMPTY + 8 * work_next_slot, work_next_phase);
// TEXT-NEXT: int item = 0;
// TEXT-NEXT: if (threadIdx.x == 0) item = atomicAdd(p.counters, 1) + (int)gridDim.x;
// TEXT-NEXT: mbar_wait(sb + K_EMPTY + 8 * K_next_slot, K_next_phase);
// TEXT-NEXT: copy_box<128, 64, 1, 1, 1, 128, 128>(sb + K_AT + K_next_slot * K_BYTES, &p.tm_K, 0, carried + 1, 0, 0, 0, threadIdx.x);
// TEXT-NEXT: cp_async_mbar_arrive(sb + K_FULL + 8 * K_next_slot);
// TEXT: mbar_wait(sb + K_FULL + 8 * K_slot, K_phase);
// TEXT-NEXT: __syncwarp();
// TEXT: if (threadIdx.x == 0) {
// TEXT-NEXT: st_shared_u32(sb + work_AT + 4 * work_next_slot, item);
// TEXT-NEXT: mbar_arrive(sb + work_FULL + 8 * work_next_slot);
// TEXT: if (threadIdx.x == 0 && atomicAdd(p.counters + 1, 1) == (int)gridDim.x - 1) {
device.kernel @alone "sm80" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %kn = device.cursor "K_next" on %Kb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %x = arith.addi %item, %c1 : i32
      device.acquire %kn bytes 8192
      device.copy %K[%c0, %x] to %Ks at %kn : !device.ring<2 x [64, 64] bf16>
      device.advance %kn
      device.await %kc
      device.release %kc
      device.advance %kc
    } {device.items}
  }
}
