// Numbers looked for in lists: of an element one, of a tile in a list of tiles a range.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

device.kernel @searched "sm90a" items "q" 64 of [] shared 144 {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i64
  %n = device.count items
  %sk = device.extent "k"
  %lists = device.lists "k" by 64 slots 2 : !device.pointer<i32>
  %blocks = device.tensor "blocks" : !device.pointer<i32>
  %stride = device.stride "blocks" 0
  %work = device.mailbox "work" offset 64 : !device.mailbox<2 words 5>
  %wb = device.barriers "work" releases 4 offset 0 : !device.barriers<2>
  device.producer registers 40 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<2>
    device.acquire %wc bytes 0
    // CHECK: bool all_among, some_among;
    // CHECK-NEXT: range_among(p.blocks + p.blocks_s0, 1ll, 1ll, 1ll, wide, wide + 1ll, all_among, some_among);
    // CHECK: is_empty = !some_among;
    // CHECK-NEXT: is_full = all_among;
    %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 at %wc {
    ^bb0(%k: i32):
      %low = arith.extsi %k : i32 to i64
      %high = arith.addi %low, %one : i64
      %every, %some = device.among %blocks[%stride] by %one count %one to %one from %low to %high : !device.pointer<i32>
      %yes = arith.constant true
      %e = arith.xori %some, %yes : i1
      device.classes %e, %every
    } : !device.pointer<i32>
    // CHECK: const bool among = is_among(p.blocks + p.blocks_s0, 1ll, 1ll, 1ll);
    %never, %is = device.among %blocks[%stride] by %one count %one to %one from %one to %one : !device.pointer<i32>
    // CHECK: among ? p.items : 0
    %posted = arith.select %is, %n, %c0 : i32
    device.post %posted, %list, %partial, %full, %all to %work at %wc : !device.mailbox<2 words 5>
    device.advance %wc
  }
  device.consumers 1 registers 240 {
    %wc = device.cursor "work" on %wb phase 0 : !device.barriers<2>
    device.await %wc
    %first, %list, %partial, %full, %all = device.read_post %work at %wc : !device.mailbox<2 words 5> -> i32, i32, i32, i32, i32
    device.release %wc
    device.advance %wc
  }
}
