// RUN: tilewright opt %s -device-draw-items | FileCheck %s
// RUN: tilewright opt %s -device-draw-items -device-check-protocol -o /dev/null

// A mailbox of two slots: the producer posts each item that it draws, and last one that is too large; a block starts with the item of
// its own number.
// CHECK-LABEL: device.kernel @items
// CHECK-DAG: %[[COUNTERS:.*]] = device.counters 2
// CHECK-DAG: %[[ITEMS:.*]] = device.count items
// CHECK: device.mailbox "work" : <2>
// CHECK: %[[B:.*]] = device.barriers "work" releases 8 : <2>
// CHECK: device.producer registers 24 {
// CHECK: %[[FIRST:.*]] = device.block_index
// CHECK: %[[C:.*]] = device.cursor "work" on %[[B]] phase 1
// CHECK-NEXT: scf.while (%[[I:.*]] = %[[FIRST]]) : (i32) -> i32 {
// CHECK-NEXT: device.acquire %[[C]] bytes 0
// CHECK-NEXT: device.post %[[I]] to %[[WORK:.*]] at %[[C]]
// CHECK-NEXT: device.advance %[[C]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[ITEMS]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[ITEM:.*]]: i32):
// CHECK-NEXT: arith.muli %[[ITEM]], %
// CHECK: %[[NEXT:.*]] = device.draw %[[COUNTERS]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: device.retire %[[COUNTERS]]
// CHECK: device.consumers 2 registers 240 {
// CHECK: %[[C:.*]] = device.cursor "work" on %[[B]] phase 0
// CHECK-NEXT: scf.while : () -> i32 {
// CHECK-NEXT: device.await %[[C]]
// CHECK-NEXT: %[[I:.*]] = device.read_post %[[WORK]] at %[[C]]
// CHECK-NEXT: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[ITEMS]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[I]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[ITEM:.*]]: i32):
// CHECK-NEXT: arith.addi %[[ITEM]], %
// CHECK-NEXT: scf.yield
device.kernel @items "sm90a" items "q" 128 of [] {
  %c1 = arith.constant 1 : i32
  %n = device.count items
  device.producer registers 24 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %x = arith.muli %item, %c1 : i32
    } {device.items}
  }
  device.consumers 2 registers 240 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %x = arith.addi %item, %c1 : i32
    } {device.items}
  }
}

// Where nothing is copied there is nobody to draw.
// CHECK-LABEL: device.kernel @alone
// CHECK-NOT: scf.while
device.kernel @alone "sm90a" items "q" 64 of [] {
  %n = device.count items
  device.consumers 1 registers 240 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
    } {device.items}
  }
}
