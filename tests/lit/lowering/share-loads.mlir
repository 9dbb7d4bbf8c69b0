// RUN: tilewright opt %s -device-share-loads | FileCheck %s

// Two runs of 32 columns: two loads a row before the loop. What differs from element to element stays, and so do eight runs.
// CHECK-LABEL: device.kernel @blocks
// CHECK-DAG: %[[SECOND:[a-z0-9]+]] = device.registers "found" : !device.rows<i32>
// CHECK-DAG: %[[ROWS:[a-z0-9]+]] = device.registers "r" : !device.rows<i32>
// CHECK-DAG: %[[TABLE:[a-z0-9]+]] = device.tensor "blocks"
// CHECK: scf.for %[[K0:[a-z0-9]+]] =
// CHECK: device.each_row {
// CHECK-DAG: %[[R:[a-z0-9]+]] = device.get %[[ROWS]]
// CHECK-DAG: %[[C0:[a-z0-9_]+]] = arith.constant 0 : i32
// CHECK: arith.addi %{{.*}}, %[[C0]] : i32
// CHECK: %[[X:[a-z0-9]+]] = device.load %[[TABLE]]
// CHECK-NEXT: device.set %[[X]] in %[[FOUND:[a-z0-9]+]] : i32, !device.rows<i32>
// CHECK-NEXT: }
// CHECK-NEXT: device.each_row {
// CHECK: %[[C1:[a-z0-9_]+]] = arith.constant 1 : i32
// CHECK: arith.addi %{{.*}}, %[[C1]] : i32
// CHECK: device.load %[[TABLE]]
// CHECK-NEXT: device.set %{{.*}} in %[[SECOND]]
// CHECK-NEXT: }
// CHECK-NEXT: device.each_element 64 {
// CHECK-NOT: device.load %[[TABLE]]
// CHECK: %[[B:[a-z0-9]+]] = device.get %[[SECOND]]
// CHECK: %[[C:[a-z0-9]+]] = device.column
// CHECK: %[[IN:[a-z0-9]+]] = arith.cmpi slt, %[[C]], %{{.*}} : i32
// CHECK: %[[A:[a-z0-9]+]] = device.get %[[FOUND]]
// CHECK: %[[CHOSEN:[a-z0-9]+]] = arith.select %[[IN]], %[[A]], %[[B]] : i32
// CHECK: arith.cmpi ne, %[[CHOSEN]]
// CHECK: device.load %{{.*}} -> f32
// CHECK: device.each_element 64
// CHECK: device.load %[[TABLE]]
// CHECK: device.each_element 64
// CHECK: device.load %[[TABLE]]
device.kernel @blocks "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %true = arith.constant true
  %n = device.extent "k"
  %blocks = device.tensor "blocks" : <i32>
  %bias = device.tensor "bias" : <f32>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<64 x f32>
    %rows = device.registers "r" : !device.rows<i32>
    %zero = arith.constant 0.0 : f32
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %part = arith.floordivsi %at, %c32 : i32
        %first = arith.floordivsi %k0, %c32 : i32
        %block = arith.addi %first, %part : i32
        %place = arith.addi %row, %block : i32
        %far = arith.extsi %place : i32 to i64
        %in = arith.cmpi slt, %block, %n : i32
        %x = device.load %blocks[%far] if %in : <i32> -> i32
        %keep = arith.cmpi ne, %x, %c0 : i32
        %own = arith.addi %row, %at : i32
        %ownFar = arith.extsi %own : i32 to i64
        %y = device.load %bias[%ownFar] if %in : <f32> -> f32
        %kept = arith.select %keep, %y, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
      device.each_element 64 {
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %part = arith.floordivsi %at, %c8 : i32
        %far = arith.extsi %part : i32 to i64
        %x = device.load %blocks[%far] if %true : <i32> -> i32
        %y = arith.sitofp %x : i32 to f32
        device.set %y in %s : f32, !device.fragment<64 x f32>
      }
      // Runs of four columns are shared by no lane's columns.
      device.each_element 64 {
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %part = arith.floordivsi %at, %c4 : i32
        %far = arith.extsi %part : i32 to i64
        %x = device.load %blocks[%far] if %true : <i32> -> i32
        %y = arith.sitofp %x : i32 to f32
        device.set %y in %s : f32, !device.fragment<64 x f32>
      }
    }
  }
}

// A list is searched once for each row: of two runs of 32 columns twice, and once where all columns ask for one number.
// CHECK-LABEL: device.kernel @lists
// CHECK: scf.for
// CHECK: device.each_row {
// CHECK: device.among
// CHECK: device.set
// CHECK: device.each_row {
// CHECK: device.among
// CHECK: device.set
// CHECK: device.each_element 64 {
// CHECK-NOT: device.among
// CHECK: arith.select
// CHECK: device.each_row {
// CHECK: device.among
// CHECK: device.set
// CHECK: device.each_element 64 {
// CHECK-NOT: device.among
// CHECK: device.set
device.kernel @lists "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %one = arith.constant 1 : i64
  %n = device.extent "k"
  %blocks = device.tensor "blocks" : !device.pointer<i32>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<64 x f32>
    %rows = device.registers "r" : !device.rows<i64>
    %zero = arith.constant 0.0 : f32
    %full = arith.constant 1.0 : f32
    scf.for %k0 = %c0 to %n step %c64 : i32 {
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i64> -> i64
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %part = arith.floordivsi %at, %c32 : i32
        %first = arith.floordivsi %k0, %c32 : i32
        %block = arith.addi %first, %part : i32
        %sought = arith.extsi %block : i32 to i64
        %all, %some = device.among %blocks[%row] by %one count %one to %one from %sought to %sought : !device.pointer<i32>
        %kept = arith.select %some, %full, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i64> -> i64
        %sought = arith.extsi %k0 : i32 to i64
        %all, %some = device.among %blocks[%row] by %one count %one to %one from %sought to %sought : !device.pointer<i32>
        %kept = arith.select %some, %full, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
    }
  }
}
