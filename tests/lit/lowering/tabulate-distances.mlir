// RUN: tilewright opt %s -device-tabulate-distances -canonicalize | FileCheck %s
// RUN: tilewright opt %s -device-tabulate-distances="limit=20480" 2>&1 | FileCheck %s --check-prefix=FULL

// FULL: remark: is computed for every element, though it depends on the distance between row and column alone: a table of the distances takes 3072 bytes of shared memory, and 0 are left
// FULL-NOT: device.tabulate

// What elements make of row - column alone is made once for each distance, with what is the same for all; what depends on the element, on its row or on
// its column, stays, and so does what costs no more than a read of a table.
// CHECK-LABEL: device.kernel @distances
// CHECK: %[[TABLE:[a-z0-9]+]] = device.ring "distances" : <4 x[79] i32>
// CHECK: %[[TABLE2:[a-z0-9]+]] = device.ring "distances2" : <4 x[79] i32>
// CHECK: scf.for %[[K0:[a-z0-9]+]] =
// CHECK: device.tabulate %[[TABLE2]] width 64
// CHECK: arith.floordivsi
// CHECK: device.yield %{{.*}} : i1
// CHECK: device.tabulate %[[TABLE]] width 64 : <4 x[79] i32> {
// CHECK-NEXT: ^bb0(%[[D:[a-z0-9]+]]: i32):
// CHECK: %[[FIRST:[a-z0-9]+]] = arith.subi %{{.*}}, %[[K0]] : i32
// CHECK: %[[FAR:[a-z0-9]+]] = arith.addi %[[D]], %[[FIRST]] : i32
// CHECK: %[[X:[a-z0-9]+]] = arith.sitofp %[[FAR]] : i32 to f32
// CHECK: %[[Y:[a-z0-9]+]] = math.log1p %[[X]] : f32
// CHECK: device.yield %[[Y]] : f32
// CHECK: device.each_element 64
// CHECK-NOT: math.log1p
// CHECK: %[[BIAS:[a-z0-9]+]] = device.look_up %[[TABLE]] : <4 x[79] i32> -> f32
// CHECK: device.get
// CHECK: arith.addf %{{.*}}, %[[BIAS]] : f32
// CHECK: %[[KEEP:[a-z0-9]+]] = device.look_up %[[TABLE2]] : <4 x[79] i32> -> i1
// CHECK: arith.select %[[KEEP]]
// CHECK: device.each_element 64
// CHECK-NOT: device.look_up
// CHECK: math.log1p
// CHECK: device.each_element 64
// CHECK-NOT: device.look_up
// CHECK: arith.cmpi sle
device.kernel @distances "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %Qs = device.ring "Q" : !device.ring<1 x [64, 128] bf16>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<64 x f32>
    %rows = device.registers "r" : !device.rows<i32>
    %slopes = device.registers "slopes" : !device.rows<f32>
    %zero = arith.constant 0.0 : f32
    device.each_row {
      %o = device.row_offset
      %r = device.row
      %at = arith.addi %o, %r : i32
      %there = arith.addi %at, %n : i32
      device.set %there in %rows : i32, !device.rows<i32>
    }
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %o = device.column_offset
        %c = device.column
        %from = arith.addi %k0, %o : i32
        %column = arith.addi %from, %c : i32
        %far = arith.subi %row, %column : i32
        %x = arith.sitofp %far : i32 to f32
        %y = math.log1p %x : f32
        %old = device.get %s : !device.fragment<64 x f32> -> f32
        %new = arith.addf %old, %y : f32
        %part = arith.floordivsi %far, %c3 : i32
        %whole = arith.muli %part, %c3 : i32
        %rest = arith.subi %far, %whole : i32
        %even = arith.cmpi eq, %rest, %c0 : i32
        %kept = arith.select %even, %new, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
      // By row: the slope is its own.
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %slope = device.get %slopes : !device.rows<f32> -> f32
        %o = device.column_offset
        %c = device.column
        %column = arith.addi %o, %c : i32
        %far = arith.subi %row, %column : i32
        %x = arith.sitofp %far : i32 to f32
        %z = arith.mulf %x, %slope : f32
        %y = math.log1p %z : f32
        device.set %y in %s : f32, !device.fragment<64 x f32>
      }
      // Cheap.
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %o = device.column_offset
        %c = device.column
        %column = arith.addi %o, %c : i32
        %far = arith.subi %row, %column : i32
        %keep = arith.cmpi sle, %far, %c64 : i32
        %old = device.get %s : !device.fragment<64 x f32> -> f32
        %kept = arith.select %keep, %old, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
    }
  }
}
