// What elements read of global memory, and when they are made.
// RUN: tilewright opt %s -device-distribute-tiles -canonicalize -cse | FileCheck %s
#q = #tile.axes<"q">
#k = #tile.axes<"k">
#qk = #tile.axes<"q", "k">
!table = memref<?xi32, strided<[?], offset: ?>>
!matrix = memref<?x?xf16, strided<[?, ?], offset: ?>>

// A row reads its table at its place, an element what stands at its row's number and its column, both only inside.
// CHECK-LABEL: device.kernel @reads
// CHECK-DAG: %[[TABLE:.*]] = device.tensor "table" : <i32>
// CHECK-DAG: %[[BIAS:.*]] = device.tensor "bias" : <f16>
// CHECK-DAG: %[[KEEP:.*]] = device.tensor "keep" : <i8>
// CHECK-DAG: %[[ROWS:.*]] = device.dimension "bias" 0
// CHECK-DAG: %[[NUMBER:.*]] = device.registers "{{.*}}" : !device.rows<i32>
// CHECK: device.each_row {
// CHECK: %[[T:.*]] = device.load %[[TABLE]][%{{.*}}] if %{{.*}} : <i32> -> i32
// CHECK: device.set %[[T]] in %[[NUMBER]]
// CHECK: device.each_element 32 {
// CHECK: %[[N:.*]] = device.get %[[NUMBER]]
// CHECK: arith.cmpi slt, %[[N]], %[[ROWS]]
// CHECK: device.load %[[BIAS]][%{{.*}}] if %{{.*}} : <f16> -> f32
// CHECK: %[[BYTE:.*]] = device.load %[[KEEP]][%{{.*}}] if %{{.*}} : <i8> -> i8
// CHECK: arith.cmpi ne, %[[BYTE]], %
device.kernel @reads "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %table = device.memory "table" : !table
    %bias = device.memory "bias" : !matrix
    %keep = device.memory "keep" : memref<?xi8, strided<[?], offset: ?>>
    %out = device.memory "out" : memref<?xf32, strided<[?], offset: ?>>
    %p = tile.positions %q0 : tensor<64xi32, #q>
    %t = tile.gather %table[%p] : !table, (tensor<64xi32, #q>) -> tensor<64xi32, #q>
    %k = tile.positions %c0 : tensor<32xi32, #k>
    %b = tile.gather %bias[%t, %k] : !matrix, (tensor<64xi32, #q>, tensor<32xi32, #k>) -> tensor<64x32xf16, #qk>
    %f = arith.extf %b : tensor<64x32xf16, #qk> to tensor<64x32xf32, #qk>
    %bytes = tile.load %keep[%c0] dims [0] : memref<?xi8, strided<[?], offset: ?>> -> tensor<32xi8, #k>
    %no = arith.constant dense<0> : tensor<32xi8, #k>
    %holds = arith.cmpi ne, %bytes, %no : tensor<32xi8, #k>
    %each = tile.broadcast %holds : tensor<32xi1, #k> -> tensor<64x32xi1, #qk>
    %zero = arith.constant dense<0.0> : tensor<64x32xf32, #qk>
    %kept = arith.select %each, %f, %zero : tensor<64x32xi1, #qk>, tensor<64x32xf32, #qk>
    %r = tile.reduce max %kept over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    tile.store %r, %out[%q0] dims [0] : tensor<64xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  }
}

// What stands on coordinates alone is made in the loop that needs it: in an earlier one each element would wait in a register.
// CHECK-LABEL: device.kernel @sinks
// CHECK-NOT: !device.fragment
// CHECK: device.each_element 32 {
// CHECK-NOT: arith.sitofp
// CHECK: device.combine max
// CHECK: device.each_element 32 {
// CHECK: arith.sitofp
// CHECK: device.combine sum
device.kernel @sinks "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %bias = device.memory "bias" : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %out = device.memory "out" : memref<?xf32, strided<[?], offset: ?>>
    %p = tile.positions %q0 : tensor<64xi32, #q>
    %pk = tile.broadcast %p : tensor<64xi32, #q> -> tensor<64x32xi32, #qk>
    %k = tile.positions %c0 : tensor<32xi32, #k>
    %kp = tile.broadcast %k : tensor<32xi32, #k> -> tensor<64x32xi32, #qk>
    %both = arith.muli %pk, %kp : tensor<64x32xi32, #qk>
    %f = arith.sitofp %both : tensor<64x32xi32, #qk> to tensor<64x32xf32, #qk>
    %b = tile.load %bias[%c0, %q0] dims [1, 0] : memref<?x?xf32, strided<[?, ?], offset: ?>> -> tensor<64x32xf32, #qk>
    %m = tile.reduce max %b over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    %mk = tile.broadcast %m : tensor<64xf32, #q> -> tensor<64x32xf32, #qk>
    %s = arith.addf %f, %mk : tensor<64x32xf32, #qk>
    %r = tile.reduce sum %s over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    tile.store %r, %out[%q0] dims [0] : tensor<64xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  }
}

// Nothing is multiplied here: elements that lie side by side along the rows come many at once. A place below 0 would have to be asked for.
// CHECK-LABEL: device.kernel @loads
// CHECK-DAG: %[[X:.*]] = device.tensor "X" : <bf16>
// CHECK-DAG: %[[STRIDE:.*]] = device.stride "X" 1
// CHECK-DAG: %[[COLUMNS:.*]] = device.dimension "X" 1
// CHECK: device.load_tile %[[T:.*]], %[[X]][%{{.*}}] if %{{.*}} columns %[[COLUMNS]] by %[[STRIDE]]
// CHECK: device.each_element 32 {
// CHECK-DAG: device.get %[[T]]
// CHECK-DAG: device.load %[[X]]
// CHECK: device.combine sum
device.kernel @loads "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %X = device.memory "X" : memref<?x?xbf16, strided<[?, ?], offset: ?>>
    %out = device.memory "out" : memref<?xf32, strided<[?], offset: ?>>
    %x = tile.load %X[%q0, %c0] dims [0, 1] : memref<?x?xbf16, strided<[?, ?], offset: ?>> -> tensor<64x32xbf16, #qk>
    %y = tile.load %X[%q0, %q0] dims [0, 1] : memref<?x?xbf16, strided<[?, ?], offset: ?>> -> tensor<64x32xbf16, #qk>
    %xf = arith.extf %x : tensor<64x32xbf16, #qk> to tensor<64x32xf32, #qk>
    %yf = arith.extf %y : tensor<64x32xbf16, #qk> to tensor<64x32xf32, #qk>
    %s = arith.mulf %xf, %yf : tensor<64x32xf32, #qk>
    %r = tile.reduce sum %s over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    tile.store %r, %out[%q0] dims [0] : tensor<64xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  }
}

// A tile of a fold starts at a multiple of its width: of a quotient or a rest only the column's part is asked for each element.
// CHECK-LABEL: device.kernel @divides
// CHECK: %[[K0:.*]] = device.block_index
// CHECK: device.each_element 32 {
// CHECK: %[[COLUMN:.*]] = device.column{{$}}
// CHECK: %[[OFFSET:.*]] = device.column_offset
// CHECK: %[[AT:.*]] = arith.addi %[[OFFSET]], %[[COLUMN]] : i32
// CHECK: %[[PART:.*]] = arith.floordivsi %[[AT]], %c16_i32 : i32
// CHECK: %[[START:.*]] = arith.floordivsi %[[K0]], %c16_i32 : i32
// CHECK: %[[QUOTIENT:.*]] = arith.addi %[[START]], %[[PART]] : i32
// CHECK: %[[AGAIN:.*]] = device.column{{$}}
// CHECK: %[[AT2:.*]] = arith.addi %[[OFFSET]], %[[AGAIN]] : i32
// CHECK: %[[PART2:.*]] = arith.floordivsi %[[AT2]], %c16_i32 : i32
// CHECK: %[[WHOLE:.*]] = arith.muli %[[PART2]], %c16_i32 : i32
// CHECK: %[[REST:.*]] = arith.subi %[[AT2]], %[[WHOLE]] : i32
// CHECK: arith.muli %[[QUOTIENT]], %[[REST]] : i32
// CHECK: %[[WIDE:.*]] = arith.floordivsi %[[K0]], %c64_i32 : i32
// Of 24, which neither divides 32 nor is a multiple of it, the whole is divided.
// CHECK: %[[WHERE:.*]] = arith.addi %[[K0]], %[[OFFSET]] : i32
// CHECK: %[[ALL:.*]] = arith.addi %[[WHERE]], %{{.*}} : i32
// CHECK: %[[ODD:.*]] = arith.floordivsi %[[ALL]], %c24_i32 : i32
// CHECK: arith.muli %[[WIDE]], %[[ODD]] : i32
device.kernel @divides "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  device.consumers 1 registers 240 {
    %q0 = device.block_index
    %out = device.memory "out" : memref<?xf32, strided<[?], offset: ?>>
    %c16 = arith.constant dense<16> : tensor<32xi32, #k>
    %c24 = arith.constant dense<24> : tensor<32xi32, #k>
    %c64 = arith.constant dense<64> : tensor<32xi32, #k>
    %k = tile.positions %q0 {tile.aligned} : tensor<32xi32, #k>
    %quotient = arith.floordivsi %k, %c16 : tensor<32xi32, #k>
    %whole = arith.muli %quotient, %c16 : tensor<32xi32, #k>
    %rest = arith.subi %k, %whole : tensor<32xi32, #k>
    %wide = arith.floordivsi %k, %c64 : tensor<32xi32, #k>
    %odd = arith.floordivsi %k, %c24 : tensor<32xi32, #k>
    %a = arith.muli %quotient, %rest : tensor<32xi32, #k>
    %b = arith.muli %wide, %odd : tensor<32xi32, #k>
    %c = arith.xori %a, %b : tensor<32xi32, #k>
    %f = arith.sitofp %c : tensor<32xi32, #k> to tensor<32xf32, #k>
    %p = tile.positions %q0 : tensor<64xi32, #q>
    %pf = arith.sitofp %p : tensor<64xi32, #q> to tensor<64xf32, #q>
    %pk = tile.broadcast %pf : tensor<64xf32, #q> -> tensor<64x32xf32, #qk>
    %fk = tile.broadcast %f : tensor<32xf32, #k> -> tensor<64x32xf32, #qk>
    %s = arith.mulf %pk, %fk : tensor<64x32xf32, #qk>
    %r = tile.reduce sum %s over "k" : tensor<64x32xf32, #qk> -> tensor<64xf32, #q>
    tile.store %r, %out[%q0] dims [0] : tensor<64xf32, #q>, memref<?xf32, strided<[?], offset: ?>>
  }
}
