// Lists of tiles: a whole warp makes them, a tile a lane, and one lane does what one thread does elsewhere.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK: int list_tiles;
// CHECK: int* lists;
// CHECK: if (warp == 0) {
device.kernel @listed "sm90a" items "q" 64 of [] shared 144 {
  %c0 = arith.constant 0 : i32
  %n = device.count items
  %sk = device.extent "k"
  %lists = device.lists "k" by 64 slots 2 : !device.pointer<i32>
  %work = device.mailbox "work" offset 64 : !device.mailbox<2 words 5>
  %wb = device.barriers "work" releases 4 offset 0 : !device.barriers<2>
  device.producer registers 40 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<2>
    device.acquire %wc bytes 0
    // CHECK:      const int list = ((int)blockIdx.x * 2 + work_slot) * p.list_tiles;
    // CHECK-NEXT: const int all = ceil_div(max(p.len_k - (0), 0), 64);
    // CHECK-NEXT: int partial = 0, full = all;
    // CHECK-NEXT: for (int first = 0; first < p.len_k; first += 2048) {   // a tile a lane
    // CHECK-NEXT:   const int k = first + lane * 64;
    // CHECK-NEXT:   bool is_empty = true, is_full = false;
    // CHECK-NEXT:   if (k < p.len_k) {
    // CHECK:          is_empty = (k & 63) < p.items;
    // CHECK-NEXT:     is_full = {{.*}}k >> 6{{.*}};
    // CHECK-NEXT:   }
    // CHECK-NEXT:   const u32 partials = __ballot_sync(~0u, !is_empty && !is_full), fulls = __ballot_sync(~0u, !is_empty && is_full);
    // CHECK-NEXT:   const u32 below = (1u << lane) - 1;
    // CHECK-NEXT:   if (!is_empty) st_global_u32(p.lists + list + (is_full ? full - 1 - __popc(fulls & below) : partial + __popc(partials & below)), (u32)k);
    // CHECK-NEXT:   partial += __popc(partials);
    // CHECK-NEXT:   full -= __popc(fulls);
    // CHECK-NEXT: }
    // CHECK-NEXT: __syncwarp();
    // CHECK-NEXT: if (lane == 0) {
    // CHECK-NEXT:   st_shared_u32(sb + work_AT + 20 * work_slot, p.items);
    // CHECK-NEXT:   st_shared_u32(sb + work_AT + 20 * work_slot + 4, list);
    %list, %partial, %full, %all = device.list_tiles %lists from %c0 to %sk step 64 at %wc {
    ^bb0(%k: i32):
      %wide = arith.constant 64 : i32
      %other = arith.floordivsi %k, %wide : i32      // of what is asked of each tile, a rest is its low bits
      %whole = arith.muli %other, %wide : i32
      %rest = arith.subi %k, %whole : i32
      %e = arith.cmpi slt, %rest, %n : i32
      %block = arith.floordivsi %k, %wide : i32      // and a quotient shifts
      %f = arith.cmpi slt, %n, %block : i32
      device.classes %e, %f
    } : !device.pointer<i32>
    device.post %n, %list, %partial, %full, %all to %work at %wc : !device.mailbox<2 words 5>
    device.advance %wc
  }
  device.consumers 1 registers 240 {
    %wc = device.cursor "work" on %wb phase 0 : !device.barriers<2>
    device.await %wc
    %first, %list, %partial, %full, %all = device.read_post %work at %wc : !device.mailbox<2 words 5> -> i32, i32, i32, i32, i32
    // CHECK: = p.lists[{{.*}} + {{.*}}];
    %k0 = device.kept_at %lists[%list + %full] : !device.pointer<i32>
    device.release %wc
    device.advance %wc
  }
}
