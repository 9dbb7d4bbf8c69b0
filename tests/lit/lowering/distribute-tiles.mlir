// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse | FileCheck %s
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qd = #tile.axes<"q", "d">
#kd = #tile.axes<"k", "d">
#ke = #tile.axes<"k", "e">
#qe = #tile.axes<"q", "e">
#qk = #tile.axes<"q", "k">
!row = tensor<64xf32, #q>
!element = tensor<64x32xf32, #qk>
!sum = tensor<64x16xf32, #qe>

// A whole step. Its phases: the dot of stage 0, then rows (the mask's interval), elements (up to the maximum), rows, elements (up to the
// sum), rows, and the dot that accumulates. Each value of elements that outlives its loop is in registers, the same ones in turn.
// CHECK-LABEL: device.kernel @fold
// CHECK-DAG: %[[O:.*]] = device.tensor "O" : <bf16>
// CHECK-DAG: %[[LSE:.*]] = device.tensor "lse" : <f32>
// CHECK-DAG: %[[STRIDE:.*]] = device.stride "O" 0
// CHECK-DAG: %[[REST:.*]] = device.scalar "rest" : i32
// CHECK-DAG: %[[HEIGHT:.*]] = device.dimension "O" 0
// CHECK-DAG: %[[COLUMNS:.*]] = device.dimension "O" 1
// CHECK-DAG: %[[Q:.*]] = device.ring "Q"
// CHECK-DAG: %[[K:.*]] = device.ring "K"
// CHECK-DAG: %[[V:.*]] = device.ring "V"
// CHECK-DAG: %[[W:.*]] = device.ring "w"
// CHECK: device.consumers 1 registers 240 {
// CHECK-DAG: %[[S:.*]] = device.registers "t" : !device.fragment<32 x f32>
// CHECK-DAG: %[[P:.*]] = device.registers "operand" : !device.operand<32 x bf16>
// CHECK-DAG: %[[ACC:.*]] = device.registers "accumulator" : !device.fragment<16 x f32>
// CHECK-DAG: %[[FROM:.*]] = device.registers "from" : !device.rows<i32>
// CHECK-DAG: %[[TO:.*]] = device.registers "to" : !device.rows<i32>
// CHECK-DAG: %[[QC:.*]] = device.cursor "Q"
// CHECK-DAG: %[[KC:.*]] = device.cursor "K"
// CHECK-DAG: %[[VC:.*]] = device.cursor "V"
// CHECK-DAG: %[[WC:.*]] = device.cursor "w"
// CHECK: %[[Q0:.*]] = device.block_index

// Carried values start in registers of their own; the item's tile is awaited before the fold and given back behind it.
// CHECK: device.await %[[QC]]
// CHECK-NEXT: device.fill %[[TOP:.*]] with %cst_0
// CHECK-NEXT: device.fill %[[TOTAL:.*]] with %cst
// CHECK-NEXT: device.fill %[[ACC]] with %cst
// CHECK-NEXT: scf.for %[[K0:.*]] = %c0_i32 to

// A dot awaits its tile, names its registers in a fence and a wait, and gives the tile back; what elements read of shared memory is
// awaited behind it, and given back before the dots of stage 1.
// CHECK-NEXT: device.await %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.fence %[[S]] : !device.fragment<32 x f32> {device.stage = 0 : i64}
// CHECK-NEXT: device.multiply %[[S]], %[[Q]] at %[[QC]], %[[K]] at %[[KC]] depth 64 {device.stage = 0 : i64}
// CHECK-NEXT: device.commit {device.stage = 0 : i64}
// CHECK-NEXT: device.wait 0 %[[S]] : !device.fragment<32 x f32> {device.stage = 0 : i64}
// CHECK-NEXT: device.release %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.advance %[[KC]] {device.stage = 0 : i64}
// CHECK-NEXT: device.await %[[WC]]

// k - q + rest <= 0 bounds the columns of a row from above, q - k + rest <= 0 from below; both count from the thread's first column.
// CHECK-NEXT: device.each_row {
// CHECK: %[[C0:.*]] = device.column_offset
// CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[K0]], %[[C0]]
// CHECK-NEXT: %[[R0:.*]] = device.row_offset
// CHECK-NEXT: %[[TR:.*]] = arith.addi %[[Q0]], %[[R0]]
// CHECK-NEXT: %[[R:.*]] = device.row
// CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[TR]], %[[R]]
// CHECK-NEXT: %[[E:.*]] = arith.subi %[[REST]], %[[ROW]]
// CHECK-NEXT: %[[MINUS:.*]] = arith.subi %c0_i32, %[[E]]
// CHECK-NEXT: %[[HI:.*]] = arith.subi %[[MINUS]], %[[FIRST]]
// CHECK: %[[F:.*]] = arith.addi %[[REST]], %
// CHECK-NEXT: %[[LO:.*]] = arith.subi %[[F]], %[[FIRST]]
// CHECK-NEXT: device.set %[[LO]] in %[[FROM]]
// CHECK-NEXT: device.set %[[HI]] in %[[TO]]
// CHECK-NEXT: }

// CHECK-NEXT: device.each_element 32 {
// CHECK-NEXT: %[[X:.*]] = device.get %[[S]]
// CHECK-NEXT: %[[WX:.*]] = device.load_column %[[W]] at %[[WC]]
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[X]], %[[WX]]
// CHECK-NEXT: %[[C:.*]] = device.column
// CHECK-NEXT: %[[LO:.*]] = device.get %[[FROM]]
// CHECK-NEXT: %[[ABOVE:.*]] = arith.cmpi sge, %[[C]], %[[LO]]
// CHECK-NEXT: %[[HI:.*]] = device.get %[[TO]]
// CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi sle, %[[C]], %[[HI]]
// CHECK-NEXT: %[[KEPT:.*]] = arith.andi %[[ABOVE]], %[[BELOW]]
// CHECK-NEXT: %[[Z:.*]] = arith.select %[[KEPT]], %[[Y]], %cst_0
// CHECK-NEXT: device.combine max %[[Z]] into %[[MAX:.*]] : f32, <f32>
// CHECK-NEXT: device.set %[[Z]] in %[[S]]
// CHECK-NEXT: }

// CHECK-NEXT: device.each_row {
// CHECK-NEXT: %[[OLD:.*]] = device.get %[[TOP]]
// CHECK-NEXT: %[[M:.*]] = device.get %[[MAX]]
// CHECK-NEXT: %[[N:.*]] = arith.maximumf %[[OLD]], %[[M]]
// CHECK: %[[SH:.*]] = math.exp2
// CHECK: device.set %[[N]] in %[[NEW:.*]] : f32
// CHECK: device.set %[[SH]] in %[[SHRINK:.*]] : f32

// What only adds to a carried sum is summed by each lane for itself; the lanes meet when the fold has ended.
// CHECK: device.each_element 32 {
// CHECK: %[[WEIGHT:.*]] = math.exp2
// CHECK: device.combine sum %[[WEIGHT]] into %{{.*}} lanes : f32, <f32>
// CHECK-NEXT: device.set %[[WEIGHT]] in %[[S]]

// The factor of the accumulated tile is a loop of its own, before the dot. A step with a mask isolates what the mask may hide.
// CHECK: device.release %[[WC]]
// CHECK-NEXT: device.advance %[[WC]]
// CHECK-NEXT: device.each_element 16 {
// CHECK-NEXT: %[[SH:.*]] = device.get %[[SHRINK]]
// CHECK-NEXT: %[[A:.*]] = device.get %[[ACC]]
// CHECK-NEXT: %[[AS:.*]] = arith.mulf %[[A]], %[[SH]]
// CHECK-NEXT: device.set %[[AS]] in %[[ACC]]
// CHECK-NEXT: }
// CHECK-NEXT: device.isolate %[[ACC]], %[[S]], %[[V]] at %[[VC]] depth 32 transposed :
// CHECK-NEXT: device.pack %[[S]] into %[[P]]
// CHECK-NEXT: device.await %[[VC]] {device.stage = 1 : i64}
// CHECK-NEXT: device.fence %[[ACC]], %[[P]] : {{.*}} {device.stage = 1 : i64}
// CHECK-NEXT: device.multiply %[[ACC]], %[[P]], %[[V]] at %[[VC]] depth 32 transposed accumulate {device.stage = 1 : i64}
// CHECK-NEXT: device.commit {device.stage = 1 : i64}
// CHECK-NEXT: device.wait 0 %[[ACC]], %[[P]] : {{.*}} {device.stage = 1 : i64}
// CHECK-NEXT: device.release %[[VC]] {device.stage = 1 : i64}
// CHECK-NEXT: device.advance %[[VC]] {device.stage = 1 : i64}

// What a step yields becomes what is carried.
// CHECK: %[[N:.*]] = device.get %[[NEW]]
// CHECK-NEXT: device.set %[[N]] in %[[TOP]]
// CHECK: device.set %{{.*}} in %[[TOTAL]]
// CHECK: } {tile.fold = "k"}
// CHECK-NEXT: device.release %[[QC]]
// CHECK-NEXT: device.advance %[[QC]]
// CHECK-NEXT: device.join sum %[[TOTAL]]

// A store says where each row lies, and whether it is inside; it rounds by itself.
// CHECK: device.each_row {
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[HEIGHT]]
// CHECK: %[[WIDE:.*]] = arith.extsi
// CHECK-NEXT: %[[AT:.*]] = arith.muli %[[WIDE]], %[[STRIDE]]
// CHECK-NEXT: device.set %[[AT]] in %[[OAT:.*]] : i64
// CHECK-NEXT: device.set %[[IN]] in %[[OIN:.*]] : i1
// CHECK: device.store_tile %{{.*}}, %[[O]][%[[OAT]]] if %[[OIN]] columns %[[COLUMNS]] : <16 x f32>, <bf16>
// CHECK: device.store_rows %[[TOTAL]], %[[LSE]]
device.kernel @fold "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = device.extent "k"
  %rest = device.scalar "rest" : i32
  %Qs = device.ring "Q" : !device.ring<1 x [64, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [32, 64] bf16>
  %Vs = device.ring "V" : !device.ring<2 x [32, 16] bf16>
  %ws = device.ring "w" : !device.ring<2 x [32] f32>
  %Qb = device.barriers "Q" releases 4 : !device.barriers<1>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  %wb = device.barriers "w" releases 4 : !device.barriers<2>
  device.consumers 1 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %wc = device.cursor "w" on %wb phase 0 : !device.barriers<2>
    %lowest = arith.constant dense<0xFF800000> : !row
    %none = arith.constant dense<0.0> : !row
    %nothing = arith.constant dense<0.0> : !sum
    %q0 = device.block_index
    %q = device.tile %Qs at %qc columns "d" : !device.ring<1 x [64, 64] bf16> -> tensor<64x64xbf16, #qd>
    %r:3 = scf.for %k0 = %c0 to %n step %c32 iter_args(%mi = %lowest, %li = %none, %ai = %nothing) -> (!row, !row, !sum) : i32 {
      %k = device.tile %Ks at %kc columns "d" : !device.ring<2 x [32, 64] bf16> -> tensor<32x64xbf16, #kd>
      %s = tile.dot %q, %k over "d" stage 0 : tensor<64x64xbf16, #qd>, tensor<32x64xbf16, #kd> -> !element
      %w = device.tile %ws at %wc columns "k" : !device.ring<2 x [32] f32> -> tensor<32xf32, #k>
      %wide = tile.broadcast %w : tensor<32xf32, #k> -> !element
      %x = arith.mulf %s, %wide : !element
      %kept = tile.mask %x at(%q0, %k0) planes [-1, 1, 1, -1] rest(%rest, %rest) else 0xFF800000 : f32 : !element
      %m = tile.reduce max %kept over "k" : !element -> !row
      %top = arith.maximumf %mi, %m : !row
      %dm = arith.subf %mi, %top : !row
      %shrink = math.exp2 %dm : !row
      %tops = tile.broadcast %top : !row -> !element
      %z = arith.subf %kept, %tops : !element
      %p = math.exp2 %z : !element
      %sum = tile.reduce sum %p over "k" : !element -> !row
      %ls = arith.mulf %li, %shrink : !row
      %l = arith.addf %ls, %sum : !row
      %v = device.tile %Vs at %vc columns "e" : !device.ring<2 x [32, 16] bf16> -> tensor<32x16xbf16, #ke>
      %d = tile.dot %p, %v over "k" stage 1 : !element, tensor<32x16xbf16, #ke> -> !sum
      %shrinks = tile.broadcast %shrink : !row -> !sum
      %a = math.fma %ai, %shrinks, %d : !sum
      scf.yield %top, %l, %a : !row, !row, !sum
    } {tile.fold = "k", tile.carried = ["value", "sum", "accumulator"]}
    %O = device.memory "O" : memref<?x?xbf16, strided<[?, ?], offset: ?>>
    %lse = device.memory "lse" : memref<?xf32, strided<[?], offset: ?>>
    %o = arith.truncf %r#2 : !sum to tensor<64x16xbf16, #qe>
    tile.store %o, %O[%q0, %c0] dims [0, 1] : tensor<64x16xbf16, #qe>, memref<?x?xbf16, strided<[?, ?], offset: ?>>
    tile.store %r#1, %lse[%q0] dims [0] : !row, memref<?xf32, strided<[?], offset: ?>>
  }
}

// Rows are read from global memory by the threads that own them, as f32 and only inside; coordinates are numbers of the thread.
// CHECK-LABEL: device.kernel @rows
// CHECK-DAG: %[[X:.*]] = device.tensor "x" : <f16>
// CHECK-DAG: %[[Y:.*]] = device.tensor "y" : <f16>
// CHECK: device.consumers
// CHECK: %[[SUM:.*]] = device.registers "r" : !device.rows<f32>
// CHECK: device.each_row {
// CHECK: %[[V:.*]] = device.load %[[X]][%{{.*}}] if %{{.*}} : <f16> -> f32
// CHECK: %[[N:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[V]], %[[N]]
// CHECK-NEXT: device.set %[[A]] in %[[SUM]]
// CHECK: device.store_rows %[[SUM]], %[[Y]][%{{.*}}] if %{{.*}} : <f32>, <f16>
device.kernel @rows "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %x = device.memory "x" : memref<?x?xf16, strided<[?, ?], offset: ?>>
    %y = device.memory "y" : memref<?xf16, strided<[?], offset: ?>>
    %r = tile.load %x[%q0, %c0] dims [0, -1] : memref<?x?xf16, strided<[?, ?], offset: ?>> -> tensor<64xf16, #q>
    %f = arith.extf %r : tensor<64xf16, #q> to !row
    %p = tile.positions %q0 : tensor<64xi32, #q>
    %pf = arith.sitofp %p : tensor<64xi32, #q> to !row
    %a = arith.addf %f, %pf : !row
    %h = arith.truncf %a : !row to tensor<64xf16, #q>
    tile.store %h, %y[%q0] dims [0] : tensor<64xf16, #q>, memref<?xf16, strided<[?], offset: ?>>
  }
}

// A value that the program rounds and goes on with is rounded where it is made.
// CHECK-LABEL: device.kernel @rounded
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[F]], %[[F]] : f32
// CHECK-NEXT: device.set %[[D]]
device.kernel @rounded "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 240 {
    %x = device.memory "x" : memref<?xf32, strided<[?], offset: ?>>
    %q0 = device.block_index
    %r = tile.load %x[%q0] dims [0] : memref<?xf32, strided<[?], offset: ?>> -> !row
    %h = arith.truncf %r : !row to tensor<64xf16, #q>
    %f = arith.extf %h : tensor<64xf16, #q> to !row
    %d = arith.mulf %f, %f : !row
    tile.store %d, %x[%q0] dims [0] : !row, memref<?xf32, strided<[?], offset: ?>>
  }
}

// A pass stores its part of the columns: as many as are left of the tensor.
// CHECK-LABEL: device.kernel @pass
// CHECK-DAG: %[[COLUMNS:.*]] = device.dimension "O" 1
// CHECK: scf.for %[[AT:.*]] = %c0_i32 to %c64_i32 step %c32_i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[COLUMNS]], %[[AT]]
// CHECK: device.each_row {
// CHECK: %[[WIDE:.*]] = arith.extsi %[[AT]]
// CHECK-NEXT: arith.addi %{{.*}}, %[[WIDE]]
// CHECK: device.store_tile {{.*}} columns %[[LEFT]]
device.kernel @pass "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  device.consumers 1 registers 240 {
    %O = device.memory "O" : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %v = arith.constant dense<1.0> : tensor<64x32xf32, #tile.axes<"q", "e">>
    scf.for %e0 = %c0 to %c64 step %c32 : i32 {
      tile.store %v, %O[%c0, %e0] dims [0, 1] : tensor<64x32xf32, #tile.axes<"q", "e">>, memref<?x?xf32, strided<[?, ?], offset: ?>>
    }
  }
}
