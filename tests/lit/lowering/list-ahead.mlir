// RUN: tilewright opt %s -split-input-file -device-draw-items -device-list-ahead -canonicalize -cse | FileCheck %s
// RUN: tilewright opt %s -split-input-file -device-draw-items -device-list-ahead -device-check-protocol -o /dev/null
// RUN: tilewright opt %s -split-input-file -device-draw-items -device-list-ahead -device-lay-out-memory -canonicalize -cse -emit-cuda -o /dev/null | FileCheck %s --check-prefix=TEXT

// Another warp draws, lists and posts; it takes a slot before it draws. The producer is told by the words that the consumers are told by, and gives the slot
// back, so that it takes a release more.
// CHECK-LABEL: device.kernel @listed
// CHECK: device.mailbox "work" : <2 words 6>
// CHECK: %[[B:.*]] = device.barriers "work" releases 5 : <2>
// CHECK: device.producer registers 40 {
// CHECK-NEXT: %[[KC:.*]] = device.cursor "K"
// CHECK-NEXT: %[[C:.*]] = device.cursor "work" on %[[B]] phase 0
// CHECK-NEXT: scf.while : () -> (i32, i32, i32) {
// CHECK-NEXT: device.await %[[C]]
// CHECK-NEXT: %[[W:.*]]:6 = device.read_post %[[WORK:.*]] at %[[C]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[W]]#0, %[[N:.*]] : i32
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[W]]#1, %[[W]]#2, %[[W]]#3
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[POINT:.*]]: i32, %[[LIST:.*]]: i32, %[[PARTIAL:.*]]: i32):
// CHECK-NEXT: scf.for %[[I:.*]] = %c0_i32 to %[[PARTIAL]]
// CHECK-NEXT: device.kept_at %{{.*}}[%[[LIST]] + %[[I]]]
// CHECK: device.copy %{{.*}}[%c0_i32, %{{.*}}, %[[POINT]]]
// CHECK: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
// CHECK-NEXT: }
// CHECK-NEXT: device.lister {
// CHECK-NEXT: %[[FIRST:.*]] = device.block_index
// CHECK-NEXT: %[[L:.*]] = device.cursor "work" on %[[B]] phase 1
// CHECK-NEXT: device.acquire %[[L]] bytes 0
// CHECK-NEXT: scf.while (%[[ITEM:.*]] = %[[FIRST]]) : (i32) -> () {
// CHECK: %[[TOLD:.*]] = arith.divsi
// CHECK: %list, %partial, %full, %all = device.list_tiles
// CHECK: device.post %[[ITEM]], %[[TOLD]], %list, %partial, %full, %all to %[[WORK]] at %[[L]]
// CHECK-NEXT: device.advance %[[L]]
// CHECK-NEXT: scf.condition
// CHECK-NEXT: } do {
// CHECK-NEXT: device.acquire %[[L]] bytes 0
// CHECK-NEXT: %[[NEXT:.*]] = device.draw
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: device.retire
// CHECK-NEXT: }
// CHECK-NEXT: device.consumers
// TEXT: // a lister, a producer and 1 warpgroup of consumers
// TEXT: // 2 x 6 numbers from the lister
// TEXT: mbar_init(sb + work_EMPTY + 8 * i, 5);
// TEXT: if (wg == 0) {
// TEXT: reg_dec<40>();
// TEXT: if (warp == 0) {
// TEXT: mbar_wait(sb + work_FULL + 8 * work_slot, work_phase);
// TEXT: __syncwarp();
// TEXT-NEXT: if (lane == 0) mbar_arrive(sb + work_EMPTY + 8 * work_slot);
// TEXT: if (warp == 1) {
// TEXT-NEXT: {{.*}} lister
// TEXT: mbar_wait(sb + work_EMPTY + 8 * work_slot, work_phase);
// TEXT: __ballot_sync
// TEXT: atomicAdd(p.counters, 1)
// TEXT: {{.*}} consumers
device.kernel @listed "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %blocks = device.count blocks
  %sk = device.extent "k"
  %map = device.tensor_map "K" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [64, 0, 0] box [64, 64, 1] swizzle 128
  %lists = device.lists "k" by 64 : !device.pointer<i32>
  %K = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %kb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 {
      ^bb0(%k: i32):
        %e = arith.cmpi slt, %k, %point : i32
        %f = arith.cmpi slt, %n, %k : i32
        device.classes %e, %f
      } : !device.pointer<i32>
      scf.for %i = %c0 to %partial step %c1 : i32 {
        %k0 = device.kept_at %lists[%list + %i] : !device.pointer<i32>
        device.acquire %kc bytes 8192
        device.copy %map[%c0, %k0, %point] to %K at %kc : !device.ring<2 x [64, 64] bf16>
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %kc = device.cursor "K" on %kb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %list, %partial, %full, %all = device.listed
      %part = arith.addi %partial, %point : i32
      scf.for %i = %c0 to %part step %c1 : i32 {
        device.await %kc
        device.release %kc
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
}

// -----

// Elsewhere a warp more would cost the others registers: the producer lists.
// CHECK-LABEL: device.kernel @elsewhere
// CHECK: device.producer
// CHECK: device.list_tiles
// CHECK-NOT: device.lister
device.kernel @elsewhere "sm80" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %sk = device.extent "k"
  %lists = device.lists "k" by 64 : !device.pointer<i32>
  device.producer registers 0 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 {
      ^bb0(%k: i32):
        %e = arith.cmpi slt, %k, %n : i32
        device.classes %e, %e
      } : !device.pointer<i32>
    } {device.items}
  }
  device.consumers 1 registers 0 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %list, %partial, %full, %all = device.listed
    } {device.items}
  }
}

// -----

// What no word says, but follows from those that do, the producer works out again.
// CHECK-LABEL: device.kernel @told
// CHECK: device.producer
// CHECK: ^bb0(%[[ITEM:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[KNOWN:.*]] = arith.minsi %[[ITEM]]
// CHECK-NEXT: %[[POINT:.*]] = arith.divsi %[[KNOWN]]
// CHECK-NEXT: %[[HALF:.*]] = arith.divsi %[[POINT]]
// CHECK: device.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[HALF]]]
// CHECK: device.lister
device.kernel @told "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.count items
  %blocks = device.count blocks
  %sk = device.extent "k"
  %map = device.tensor_map "K" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [64, 0, 0] box [64, 64, 1] swizzle 128
  %lists = device.lists "k" by 64 : !device.pointer<i32>
  %K = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %kb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %half = arith.divsi %point, %sk : i32
      %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 {
      ^bb0(%k: i32):
        %e = arith.cmpi slt, %k, %half : i32
        device.classes %e, %e
      } : !device.pointer<i32>
      scf.for %i = %c0 to %partial step %c1 : i32 {
        device.acquire %kc bytes 8192
        device.copy %map[%c0, %i, %half] to %K at %kc : !device.ring<2 x [64, 64] bf16>
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %kc = device.cursor "K" on %kb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %list, %partial, %full, %all = device.listed
      scf.for %i = %c0 to %partial step %c1 : i32 {
        device.await %kc
        device.release %kc
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
}

// -----

// Where a copy needs what memory holds, the producer reads it itself.
// CHECK-LABEL: device.kernel @read
// CHECK: device.producer
// CHECK: device.read_post
// CHECK: device.load
// CHECK: %[[HALF:.*]] = arith.divsi
// CHECK: device.copy %{{.*}}[%{{.*}}, %{{.*}}, %[[HALF]]]
// CHECK: device.lister
device.kernel @read "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %yes = arith.constant true
  %n = device.count items
  %sk = device.extent "k"
  %map = device.tensor_map "K" bf16 dimensions [2, 1, 0] chunks [0, 0, 0] sizes [64, 0, 0] box [64, 64, 1] swizzle 128
  %lists = device.lists "k" by 64 : !device.pointer<i32>
  %table = device.tensor "table" : !device.pointer<i32>
  %K = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %kb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %place = arith.extsi %item : i32 to i64
      %entry = device.load %table[%place] if %yes : !device.pointer<i32> -> i32
      %half = arith.divsi %entry, %sk : i32
      %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 {
      ^bb0(%k: i32):
        %e = arith.cmpi slt, %k, %half : i32
        device.classes %e, %e
      } : !device.pointer<i32>
      scf.for %i = %c0 to %partial step %c1 : i32 {
        device.acquire %kc bytes 8192
        device.copy %map[%c0, %i, %half] to %K at %kc : !device.ring<2 x [64, 64] bf16>
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %kc = device.cursor "K" on %kb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %list, %partial, %full, %all = device.listed
      scf.for %i = %c0 to %partial step %c1 : i32 {
        device.await %kc
        device.release %kc
        device.advance %kc
      } {tile.fold = "k"}
    } {device.items}
  }
}
