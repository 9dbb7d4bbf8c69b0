// RUN: tilewright opt %s -device-lay-out-memory | FileCheck %s
// RUN: tilewright opt %s -device-lay-out-memory=limit=21704 | FileCheck %s
// RUN: not tilewright opt %s -device-lay-out-memory=limit=21703 -o /dev/null 2>&1 | FileCheck %s --check-prefix=LIMIT

// Tiles first, on multiples of 1024 bytes; vectors, of 128; then barriers, two for each slot; then mailboxes. A tile of 40 columns takes a
// whole chunk of 64, one of 80 two. The limit counts 1024 bytes more: where a block's memory begins is not known.
// CHECK: device.kernel @places "sm90a" items "q" 64 of [] shared 20680 {
// CHECK: device.ring "w" offset 20480 : <1 x[20] f32>
// CHECK: device.ring "K" offset 0 : <2 x[24, 40] bf16>
// CHECK: device.ring "V" offset 6144 : <2 x[24, 80] bf16>
// CHECK: device.ring "P" offset 18432 : <1 x[16, 64] bf16>
// CHECK: device.barriers "K" releases 4 offset 20608 : <2>
// CHECK: device.mailbox "work" offset 20672 : <2>
// CHECK: device.barriers "work" releases 4 offset 20640 : <2>
// LIMIT: error: needs 21704 bytes of shared memory, a block has 21703; make the schedule's tiles smaller or its stages fewer
device.kernel @places "sm90a" items "q" 64 of [] {
  %w = device.ring "w" : !device.ring<1 x [20] f32>
  %K = device.ring "K" : !device.ring<2 x [24, 40] bf16>
  %V = device.ring "V" : !device.ring<2 x [24, 80] bf16>
  %P = device.ring "P" : !device.ring<1 x [16, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %work = device.mailbox "work" : !device.mailbox<2>
  %workb = device.barriers "work" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
  }
}
