// Rings, barriers, mailboxes, items and turns.
// RUN: tilewright opt --emit-cuda=facts %s -o /dev/null | FileCheck %s

// CHECK:      // launch rings: 384 threads, 100488 bytes shared, 2 counters, block q 128, free [b], ring tensors [K, bias]
// CHECK:      // field tm_K: map K bf16 (1 chunk 0 size 64 box 64) (0 chunk 0 size 0 box 128) swizzle 128
// CHECK-NEXT: // field tm_bias: map bias f32 (0 chunk 0 size 0 box 128) swizzle 0
// CHECK-NEXT: // field counters: counters
// CHECK-NEXT: // field items: items
// CHECK:      constexpr u32 K_AT = 0, K_BYTES = 32768;   // 3 x [2][128][64] bf16, 128-byte swizzle
// CHECK-NEXT: constexpr u32 bias_AT = 98304, bias_BYTES = 512;   // 2 x [128] f32
// CHECK-NEXT: constexpr u32 K_FULL = 99328, K_EMPTY = 99352;   // 3 barriers each
// CHECK-NEXT: constexpr u32 bias_FULL = 99376, bias_EMPTY = 99392;   // 2 barriers each
// CHECK-NEXT: constexpr u32 next_FULL = 99408, next_EMPTY = 99424;   // 2 barriers each
// CHECK-NEXT: constexpr u32 next_AT = 99456;   // 2 x 1 number from the producer
// CHECK-NEXT: constexpr int TURN = 1;
// CHECK-LABEL: rings(const
// CHECK:      if (threadIdx.x == 0) {
// CHECK-NEXT:   for (int i = 0; i < 3; i++) smem_name(sb + K_AT + i * K_BYTES, K_BYTES, "K", i);
// CHECK:        for (int i = 0; i < 3; i++) {
// CHECK-NEXT:     mbar_init(sb + K_FULL + 8 * i, 1);
// CHECK-NEXT:     mbar_init(sb + K_EMPTY + 8 * i, 8);
// CHECK-NEXT:   }
// CHECK:        mbar_init_fence();
// CHECK-NEXT: }
// CHECK-NEXT: __syncthreads();
device.kernel @rings "sm90a" items "q" 128 of ["b"] {
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [64, 0] box [64, 128] swizzle 128
  %B = device.tensor_map "bias" f32 dimensions [0] chunks [0] sizes [0] box [128] swizzle 0
  %counters = device.counters 2 : !device.pointer<i32>
  %items = device.count items
  %Ks = device.ring "K" offset 0 : !device.ring<3 x [128, 128] bf16>
  %Bs = device.ring "bias" offset 98304 : !device.ring<2 x [128] f32>
  %Kb = device.barriers "K" releases 8 offset 99328 : !device.barriers<3>
  %Bb = device.barriers "bias" releases 8 offset 99376 : !device.barriers<2>
  %Nb = device.barriers "next" releases 8 offset 99408 : !device.barriers<2>
  %N = device.mailbox "next" offset 99456 : !device.mailbox<2>
  // CHECK:      if (wg == 0) {
  // CHECK-NEXT:   // ---- producer
  // CHECK-NEXT:   reg_dec<24>();
  // CHECK-NEXT:   if (warp == 0 && lane == 0) {
  // CHECK-NEXT:     tma_prefetch_desc(&p.tm_K);
  // CHECK-NEXT:     tma_prefetch_desc(&p.tm_bias);
  device.producer registers 24 {
    // CHECK-NEXT: int K_slot = 0, K_phase = 1;
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<3>
    %bc = device.cursor "bias" on %Bb phase 1 : !device.barriers<2>
    %nc = device.cursor "next" on %Nb phase 1 : !device.barriers<2>
    %c0 = arith.constant 0 : i32
    %c64 = arith.constant 64 : i32
    %bid = device.block_index
    // CHECK:      int carried = (int)blockIdx.x;
    // CHECK-NEXT: while (true) {
    // CHECK-NEXT:   mbar_wait(sb + next_EMPTY + 8 * next_slot, next_phase);
    // CHECK-NEXT:   st_shared_u32(sb + next_AT + 4 * next_slot, carried);
    // CHECK-NEXT:   mbar_arrive(sb + next_FULL + 8 * next_slot);
    // CHECK-NEXT:   if (++next_slot == 2) { next_slot = 0; next_phase ^= 1; }
    // CHECK-NEXT:   if (!(carried < p.items)) break;
    scf.while (%t = %bid) : (i32) -> i32 {
      device.acquire %nc bytes 0
      device.post %t to %N at %nc : !device.mailbox<2>
      device.advance %nc
      %more = arith.cmpi slt, %t, %items : i32
      scf.condition(%more) %t : i32
    } do {
    ^bb0(%t: i32):
      // CHECK-NEXT: mbar_wait(sb + K_EMPTY + 8 * K_slot, K_phase);
      // CHECK-NEXT: mbar_expect_tx(sb + K_FULL + 8 * K_slot, 32768);
      // CHECK-NEXT: tma_load_2d(sb + K_AT + K_slot * K_BYTES, &p.tm_K, sb + K_FULL + 8 * K_slot, 0, carried);
      // CHECK-NEXT: tma_load_2d(sb + K_AT + K_slot * K_BYTES + 16384, &p.tm_K, sb + K_FULL + 8 * K_slot, 64, carried);
      // CHECK-NEXT: if (++K_slot == 3) { K_slot = 0; K_phase ^= 1; }
      device.acquire %kc bytes 32768
      device.copy %K[%c0, %t] to %Ks at %kc : !device.ring<3 x [128, 128] bf16>
      device.copy %K[%c64, %t] to %Ks at %kc column 64 : !device.ring<3 x [128, 128] bf16>
      device.advance %kc
      device.acquire %bc bytes 512
      // CHECK: tma_load_1d(sb + bias_AT + bias_slot * bias_BYTES, &p.tm_bias, sb + bias_FULL + 8 * bias_slot, carried);
      device.copy %B[%t] to %Bs at %bc : !device.ring<2 x [128] f32>
      device.advance %bc
      // CHECK: const int item = atomicAdd(p.counters, 1) + (int)gridDim.x;
      // CHECK-NEXT: carried = item;
      %next = device.draw %counters : !device.pointer<i32>
      scf.yield %next : i32
    }
    // CHECK:      if (atomicAdd(p.counters + 1, 1) == (int)gridDim.x - 1) {
    // CHECK-NEXT:   p.counters[0] = 0;
    // CHECK-NEXT:   p.counters[1] = 0;
    device.retire %counters : !device.pointer<i32>
  }
  // CHECK:      // ---- consumers
  // CHECK-NEXT: reg_inc<240>();
  device.consumers 2 registers 240 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<3>
    // CHECK: int K_slot = 0, K_phase = 0;
    // CHECK-NEXT: int back_slot = 0;
    %back = device.cursor "back" on %Kb phase 0 trailing : !device.barriers<3>
    %bc = device.cursor "bias" on %Bb phase 0 : !device.barriers<2>
    %nc = device.cursor "next" on %Nb phase 0 : !device.barriers<2>
    %f = device.registers "f" : !device.fragment<128 x f32>
    // CHECK: if (cw == 1) bar_arrive(TURN, 256);
    device.turn first
    // CHECK:      mbar_wait(sb + next_FULL + 8 * next_slot, next_phase);
    // CHECK-NEXT: int item = 0;
    // CHECK-NEXT: if (lane == 0) item = (int)ld_shared_u32(sb + next_AT + 4 * next_slot);
    // CHECK-NEXT: item = __shfl_sync(~0u, item, 0);
    // CHECK-NEXT: if (lane == 0) mbar_arrive(sb + next_EMPTY + 8 * next_slot);
    device.await %nc
    %t = device.read_post %N at %nc : !device.mailbox<2> -> i32
    device.release %nc
    device.advance %nc
    // CHECK:      bar_sync(TURN + cw, 256);
    // CHECK-NEXT: bar_arrive(TURN + (cw == 1 ? 0 : cw + 1), 256);
    device.turn
    device.turn pass
    // CHECK:      mbar_wait(sb + K_FULL + 8 * K_slot, K_phase);
    // CHECK-NEXT: if (++K_slot == 3) { K_slot = 0; K_phase ^= 1; }
    // CHECK-NEXT: if (item < p.items && lane == 0) mbar_arrive(sb + K_EMPTY + 8 * back_slot);
    // CHECK-NEXT: if (++back_slot == 3) back_slot = 0;
    device.await %kc
    device.advance %kc
    %last = arith.cmpi slt, %t, %items : i32
    device.release %back if %last
    device.advance %back
    // CHECK:      u32 bias_pair[2];   // of two columns side by side
    // CHECK:      for (int i = 0; i < 64; i++) {
    // CHECK-NEXT:   const int c = 8 * (i >> 2) + (i & 1);
    // CHECK-NEXT:   if ((i & 3) == 0) ld_shared_v2(sb + bias_AT + bias_slot * bias_BYTES + 4 * (col + c), bias_pair);
    // CHECK-NEXT:   const float bias = __uint_as_float(bias_pair[i & 1]);
    // CHECK-NEXT:   f[i] = bias;
    // CHECK-NEXT: }
    // Lanes read this slot themselves: the one that gives it back waits for the others.
    // CHECK-NEXT: __syncwarp();
    // CHECK-NEXT: if (lane == 0) mbar_arrive(sb + bias_EMPTY + 8 * bias_slot);
    device.await %bc
    device.each_element 128 {
      %b = device.load_column %Bs at %bc : !device.ring<2 x [128] f32> -> f32
      device.set %b in %f : f32, !device.fragment<128 x f32>
    }
    device.release %bc
    device.advance %bc
  }
}
