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
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[ITEMS]]
// CHECK-NEXT: device.post %[[I]] to %[[WORK:.*]] at %[[C]]
// CHECK-NEXT: device.advance %[[C]]
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
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[I]], %[[ITEMS]]
// CHECK-NEXT: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
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

// Where an isolate keeps what a mask hides out of an accumulator, the accumulator tells whether there was anything: an item whose accumulator is
// not finite at the end is sent back, posted again with a bit set, and only then are tiles looked at. The item's slot is held until it is
// done, so that the answer is there when the producer takes the slot again; three of them let it run ahead. The division is the producer's: its result is
// posted as a second word. Before the end, a number that stands for no item is posted to each slot, so that no answer is missed.
// CHECK-LABEL: device.kernel @looked
// CHECK: %[[WORK:.*]] = device.mailbox "work" answers 4 : <3 words 2>
// CHECK: device.producer
// CHECK: scf.while (%[[DRAWN:.*]] = %{{.*}}, %[[QUIET:.*]] = %{{.*}}) : (i32, i32) -> (i32, i32, i32, i32, i1, i1) {
// CHECK-NEXT: device.acquire %[[C:.*]] bytes 0
// CHECK-NEXT: %[[LEFT:.*]] = arith.cmpi slt, %[[DRAWN]], %{{.*}}
// CHECK-NEXT: %[[BACK:.*]] = device.sent_back %[[WORK]] at %[[C]]
// CHECK: %[[AGAIN:.*]] = arith.cmpi sge, %[[BACK]], %{{.*}}
// CHECK: %[[TILE:.*]] = arith.divsi
// CHECK: device.post %{{.*}}, %[[TILE]] to %[[WORK]] at %[[C]]
// CHECK: } do {
// CHECK-NEXT: ^bb0(%[[ITEM:.*]]: i32, %[[POINT:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32, %[[FRESH:.*]]: i1, %{{.*}}: i1):
// CHECK: scf.if
// CHECK-NOT: arith.divsi
// CHECK: device.copy %{{.*}}[%{{.*}}, %[[POINT]]]
// CHECK: scf.if %[[FRESH]] -> (i32)
// CHECK-NEXT: device.draw
// CHECK: device.consumers
// CHECK: device.await %[[C:.*]]
// CHECK-NEXT: %[[WORDS:.*]]:2 = device.read_post %[[WORK]] at %[[C]] : <3 words 2> -> i32, i32
// CHECK-NOT: device.release
// CHECK: } do {
// CHECK: %[[CAREFUL:.*]] = arith.cmpi ne
// CHECK: scf.if
// CHECK: %[[FOUND:.*]] = scf.if %[[CAREFUL]] -> (i1) {
// CHECK: device.scan
// CHECK: } else {
// CHECK: device.isolate %[[ACC:.*]], %{{.*}}, %{{.*}} at %{{.*}} if %[[FOUND]] depth 64
// CHECK: } {tile.fold = "k"}
// CHECK-NEXT: %[[SPOILED:.*]] = device.spoiled %[[ACC]]
// CHECK: %[[BAD:.*]] = arith.andi %[[SPOILED]]
// CHECK-NEXT: device.send_back %[[WORK]] at %[[C]] if %[[BAD]]
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: device.release %[[C]]
// CHECK-NEXT: device.advance %[[C]]
device.kernel @looked "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %blocks = device.count blocks
  %yes = device.extent "k"
  %map = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 64] swizzle 128
  %V = device.ring "V" : !device.ring<2 x [64, 64] bf16>
  %vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %vc = device.cursor "V" on %vb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      scf.if %any {
        device.acquire %vc bytes 8192
        device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %w = device.registers "w" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %vc = device.cursor "V" on %vb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %zero = arith.sitofp %point : i32 to f32
      device.fill %acc with %zero : !device.fragment<64 x f32>, f32
      device.fill %w with %zero : !device.fragment<64 x f32>, f32
      scf.if %any {
        device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
        device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.await %vc
        device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.multiply %acc, %p, %V at %vc depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.release %vc
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
}

// Where there is a careful way, only it looks at tiles, and the producer goes the same way.
// CHECK-LABEL: device.kernel @ways
// CHECK: device.producer
// CHECK: %[[BACK:.*]] = device.sent_back
// CHECK: arith.cmpi sge, %[[BACK]], %{{.*}}
// CHECK: %[[BIT:.*]] = arith.andi %{{.*}}, %c1073741824{{.*}} : i32
// CHECK: %[[AGAIN:.*]] = arith.cmpi ne, %[[BIT]], %{{.*}}
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[AGAIN]] : i32, i32, i32, i32, i1, i1
// CHECK: ^bb0({{.*}}, %[[SECOND:.*]]: i1):
// CHECK-NOT: tile.careful :
// CHECK: scf.if %[[SECOND]] {
// CHECK-NEXT: scf.for
// CHECK: } else {
// CHECK-NEXT: scf.if
// CHECK: device.consumers
// CHECK: } do {
// CHECK: %[[CAREFUL:.*]] = arith.cmpi ne
// CHECK: scf.if %[[CAREFUL]] {
// CHECK: scf.for
// CHECK-NEXT: device.isolate %[[ACC:.*]], %{{.*}}, %{{.*}} at %{{.*}} depth 64
// CHECK: } else {
// CHECK: scf.if
// CHECK-NOT: device.isolate
// CHECK: } {tile.careful}
// CHECK-NEXT: %[[SPOILED:.*]] = device.spoiled %[[ACC]]
// CHECK: device.send_back
device.kernel @ways "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %blocks = device.count blocks
  %yes = device.extent "k"
  %map = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 64] swizzle 128
  %V = device.ring "V" : !device.ring<2 x [64, 64] bf16>
  %vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %vc = device.cursor "V" on %vb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %careful = tile.careful
      scf.if %careful {
        scf.for %k = %c0 to %yes step %step : i32 {
          device.acquire %vc bytes 8192
          device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
          device.advance %vc
        } {tile.fold = "k"}
      } else {
        scf.if %any {
          device.acquire %vc bytes 8192
          device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
          device.advance %vc
        } {tile.fold = "k"}
      } {tile.careful}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %w = device.registers "w" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %vc = device.cursor "V" on %vb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %zero = arith.sitofp %point : i32 to f32
      device.fill %w with %zero : !device.fragment<64 x f32>, f32
      %careful = tile.careful
      scf.if %careful {
        device.fill %acc with %zero : !device.fragment<64 x f32>, f32
        scf.for %k = %c0 to %yes step %step : i32 {
          device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
          device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.await %vc
          device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.multiply %acc, %p, %V at %vc depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
          device.commit
          device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.release %vc
          device.advance %vc
        } {tile.fold = "k"}
      } else {
        device.fill %acc with %zero : !device.fragment<64 x f32>, f32
        scf.if %any {
          device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
          device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.await %vc
          device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.multiply %acc, %p, %V at %vc depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
          device.commit
          device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
          device.release %vc
          device.advance %vc
        } {tile.fold = "k"}
      } {tile.careful}
    } {device.items}
  }
}

// An accumulator that starts anew in a step, in which a comparison hides NaN, or that something else is computed from would not tell: tiles are looked
// at in every item.
// CHECK-LABEL: device.kernel @starts_anew
// CHECK-NOT: answers
// CHECK-NOT: device.send_back
// CHECK-LABEL: device.kernel @hidden
// CHECK-NOT: answers
// CHECK-NOT: device.send_back
// CHECK-LABEL: device.kernel @read_inside
// CHECK-NOT: answers
// CHECK-NOT: device.send_back
device.kernel @starts_anew "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %blocks = device.count blocks
  %yes = device.extent "k"
  %map = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 64] swizzle 128
  %V = device.ring "V" : !device.ring<2 x [64, 64] bf16>
  %vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %vc = device.cursor "V" on %vb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      scf.if %any {
        device.acquire %vc bytes 8192
        device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %w = device.registers "w" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %vc = device.cursor "V" on %vb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %zero = arith.sitofp %point : i32 to f32
      device.fill %acc with %zero : !device.fragment<64 x f32>, f32
      device.fill %w with %zero : !device.fragment<64 x f32>, f32
      scf.if %any {
        device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
        device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.await %vc
        device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.multiply %acc, %p, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.release %vc
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
}

device.kernel @hidden "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %none = arith.constant 0.0 : f32
  %n = device.count items
  %blocks = device.count blocks
  %yes = device.extent "k"
  %map = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 64] swizzle 128
  %V = device.ring "V" : !device.ring<2 x [64, 64] bf16>
  %vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %vc = device.cursor "V" on %vb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      scf.if %any {
        device.acquire %vc bytes 8192
        device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %w = device.registers "w" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %vc = device.cursor "V" on %vb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %zero = arith.sitofp %point : i32 to f32
      device.fill %acc with %zero : !device.fragment<64 x f32>, f32
      device.fill %w with %zero : !device.fragment<64 x f32>, f32
      scf.if %any {
        device.each_element 64 {
          %x = device.get %acc : !device.fragment<64 x f32> -> f32
          %positive = arith.cmpf ogt, %x, %none : f32
          %kept = arith.select %positive, %x, %none : f32
          device.set %kept in %acc : f32, !device.fragment<64 x f32>
        }
        device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
        device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.await %vc
        device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.multiply %acc, %p, %V at %vc depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.release %vc
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
}

device.kernel @read_inside "sm90a" items "q" 64 of ["h"] {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %blocks = device.count blocks
  %yes = device.extent "k"
  %map = device.tensor_map "V" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 64] swizzle 128
  %V = device.ring "V" : !device.ring<2 x [64, 64] bf16>
  %vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %vc = device.cursor "V" on %vb phase 1 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      scf.if %any {
        device.acquire %vc bytes 8192
        device.copy %map[%c0, %point] to %V at %vc : !device.ring<2 x [64, 64] bf16>
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %w = device.registers "w" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %vc = device.cursor "V" on %vb phase 0 : !device.barriers<2>
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %point = arith.divsi %item, %blocks : i32
      %any = arith.cmpi sgt, %yes, %c0 : i32
      %zero = arith.sitofp %point : i32 to f32
      device.fill %acc with %zero : !device.fragment<64 x f32>, f32
      device.fill %w with %zero : !device.fragment<64 x f32>, f32
      scf.if %any {
        device.pack %acc into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.isolate %acc, %w, %V at %vc depth 64 transposed : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.ring<2 x [64, 64] bf16>
        device.pack %w into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.await %vc
        device.fence %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.multiply %acc, %p, %V at %vc depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.release %vc
        device.advance %vc
      } {tile.fold = "k"}
    } {device.items}
  }
}

// An item's list is made before the item is posted, and belongs to its slot, which is held until the item is done; nothing is listed where there is no item. What the
// list needs is computed from the item's number there.
// CHECK-LABEL: device.kernel @listed
// CHECK: %[[LISTS:.*]] = device.lists "k" by 64 slots 2
// CHECK: device.mailbox "work" : <2 words 5>
// CHECK: device.producer
// CHECK: scf.while
// CHECK: device.acquire %[[C:.*]] bytes 0
// CHECK: %[[LEFT:.*]] = arith.cmpi slt, %[[DRAWN:.*]], %[[ITEMS:.*]] : i32
// CHECK: %[[KNOWN:.*]] = arith.minsi %[[DRAWN]], %
// CHECK: %[[PRESENT:.*]] = arith.cmpi slt, %[[DRAWN]], %[[ITEMS]] : i32
// CHECK: %[[Q0:.*]] = arith.muli %[[KNOWN]], %{{.*}} : i32
// CHECK: %[[END:.*]] = arith.select %[[PRESENT]], %{{.*}}, %{{.*}} : i32
// CHECK: %[[LIST:.*]], %[[PARTIAL:.*]], %[[FULL:.*]], %[[ALL:.*]] = device.list_tiles %[[LISTS]] from %{{.*}} to %[[END]] step 64 at %[[C]] {
// CHECK: arith.cmpi slt, %{{.*}}, %[[Q0]] : i32
// CHECK: device.post %[[DRAWN]], %[[LIST]], %[[PARTIAL]], %[[FULL]], %[[ALL]] to
// CHECK: device.advance
// CHECK: scf.condition
// CHECK: ^bb0(%[[ITEM:.*]]: i32, %[[PL:.*]]: i32, %[[PP:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK-NOT: device.list_tiles
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[PP]]
// CHECK: device.kept_at %[[LISTS]][%[[PL]] + %[[I]]]
// CHECK: device.consumers
// CHECK: device.await %[[D:.*]]
// CHECK: %[[W:.*]]:5 = device.read_post
// CHECK-NOT: device.release
// CHECK: scf.condition
// CHECK: ^bb0(%{{.*}}: i32, %[[CL:.*]]: i32, %[[CP:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[CP]]
// CHECK: device.kept_at %[[LISTS]][%[[CL]] + %[[J]]]
// CHECK: device.release %[[D]]
// CHECK: device.advance %[[D]]
// CHECK: scf.yield
// CHECK: device.release %[[D]]
// CHECK: device.advance %[[D]]
device.kernel @listed "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %n = device.count items
  %sk = device.extent "k"
  %lists = device.lists "k" by 64 : !device.pointer<i32>
  device.producer registers 24 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %q0 = arith.muli %item, %c64 : i32
      %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 {
      ^bb0(%k: i32):
        %e = arith.cmpi slt, %k, %q0 : i32
        %f = arith.cmpi slt, %q0, %k : i32
        device.classes %e, %f
      } : !device.pointer<i32>
      scf.for %i = %c0 to %partial step %c1 : i32 {
        %k0 = device.kept_at %lists[%list + %i] : !device.pointer<i32>
      }
    } {device.items}
  }
  device.consumers 1 registers 240 {
    %first = device.block_index
    %step = device.grid_size
    scf.for %item = %first to %n step %step : i32 {
      %list, %partial, %full, %all = device.listed
      scf.for %i = %c0 to %partial step %c1 : i32 {
        %k0 = device.kept_at %lists[%list + %i] : !device.pointer<i32>
      }
    } {device.items}
  }
}
