// A mailbox of several words, and the answers that consumers give to what was posted.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK:      constexpr u32 work_AT = 64;   // 3 x 2 numbers from the producer
// CHECK-NEXT: constexpr u32 work_BACK = 96;   // 3 x 4 answers, one from each warp
// CHECK:      smem_name(sb + work_AT, 24, "work");
// CHECK-NEXT: smem_name(sb + work_BACK, 48, "work_BACK");
// CHECK-NEXT: for (int i = 0; i < 12; i++) st_shared_u32(sb + work_BACK + 4 * i, 0);
device.kernel @answers "sm90a" items "q" 64 of [] shared 144 {
  %n = device.count items
  %blocks = device.count blocks
  %work = device.mailbox "work" answers 4 offset 64 : !device.mailbox<3 words 2>
  %wb = device.barriers "work" releases 4 offset 0 : !device.barriers<3>
  device.producer registers 40 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<3>
    device.acquire %wc bytes 0
    // The answers are taken, so that a slot without an item has none.
    // CHECK:      int back = -1;
    // CHECK-NEXT: {
    // CHECK-NEXT:   u32 answer[4] = {0, 0, 0, 0};
    // CHECK-NEXT:   for (int i = 0; i < 4; i += 4) {
    // CHECK-NEXT:     u32 x[4];
    // CHECK-NEXT:     ld_shared_v4(sb + work_BACK + 16 * work_slot + 4 * i, x);
    // CHECK-NEXT:     for (int j = 0; j < 4; j++) answer[j] |= x[j];
    // CHECK-NEXT:     st_shared_v4(sb + work_BACK + 16 * work_slot + 4 * i, 0, 0, 0, 0);
    // CHECK-NEXT:   }
    // CHECK-NEXT:   if (answer[0] | answer[1] | answer[2] | answer[3]) back = (int)ld_shared_u32(sb + work_AT + 8 * work_slot);
    // CHECK-NEXT: }
    // CHECK-NEXT: st_shared_u32(sb + work_AT + 8 * work_slot, back);
    // CHECK-NEXT: st_shared_u32(sb + work_AT + 8 * work_slot + 4, p.blocks);
    // CHECK-NEXT: mbar_arrive(sb + work_FULL + 8 * work_slot);
    %back = device.sent_back %work at %wc : !device.mailbox<3 words 2>
    device.post %back, %blocks to %work at %wc : !device.mailbox<3 words 2>
    device.advance %wc
  }
  device.consumers 1 registers 232 {
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %wc = device.cursor "work" on %wb phase 0 : !device.barriers<3>
    device.await %wc
    // CHECK:      int item = 0, item2 = 0;
    // CHECK-NEXT: if (lane == 0) {
    // CHECK-NEXT:   item = (int)ld_shared_u32(sb + work_AT + 8 * work_slot);
    // CHECK-NEXT:   item2 = (int)ld_shared_u32(sb + work_AT + 8 * work_slot + 4);
    // CHECK-NEXT: }
    // CHECK-NEXT: item = __shfl_sync(~0u, item, 0);
    // CHECK-NEXT: item2 = __shfl_sync(~0u, item2, 0);
    // CHECK:      const bool spoiled = __any_sync(~0u, !(zero_times<32>(acc) == 0.f));
    // CHECK-NEXT: if (lane == 0) st_shared_u32(sb + work_BACK + 16 * work_slot + 4 * (cw * 4 + (warp & 3)), spoiled);
    // CHECK-NEXT: if (lane == 0) mbar_arrive(sb + work_EMPTY + 8 * work_slot);
    %item, %point = device.read_post %work at %wc : !device.mailbox<3 words 2> -> i32, i32
    %x = arith.sitofp %point : i32 to f32
    device.fill %acc with %x : !device.fragment<64 x f32>, f32
    %spoiled = device.spoiled %acc : !device.fragment<64 x f32>
    device.send_back %work at %wc if %spoiled : !device.mailbox<3 words 2>
    device.release %wc
    device.advance %wc
  }
}
