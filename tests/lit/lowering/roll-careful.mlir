// RUN: tilewright opt %s -device-roll-careful | FileCheck %s

// In the careful way the condition is made of 32 columns in turn, a bit each; in the other way it stays where it is.
// CHECK-LABEL: device.kernel @drops
// CHECK: %[[BITS:[a-z0-9]+]] = device.registers "bits" : !device.rows<i32>
// CHECK: scf.if
// CHECK: device.fill %[[BITS]] with %{{.*}} : !device.rows<i32>, i32
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[N:[a-z0-9_]+]] step
// CHECK: arith.shrui %[[J]]
// CHECK: %[[C:[a-z0-9]+]] = arith.addi %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: device.each_row {
// CHECK-DAG: device.get %{{.*}} : !device.rows<i32> -> i32
// CHECK-DAG: device.column_offset
// CHECK-NOT: device.column{{$}}
// CHECK: %[[HOLDS:[a-z0-9]+]] = arith.cmpi slt
// CHECK: %[[BIT:[a-z0-9]+]] = arith.shli %{{.*}}, %[[J]] : i32
// CHECK: arith.select %[[HOLDS]], %[[BIT]]
// CHECK: arith.ori
// CHECK-NEXT: device.set %{{.*}} in %[[BITS]]
// CHECK: device.each_element 64 {
// CHECK-NOT: arith.xori
// CHECK: device.column
// CHECK: %[[OWN:[a-z0-9]+]] = device.column
// CHECK: %[[EIGHTS:[a-z0-9]+]] = arith.shrui %[[OWN]]
// CHECK: %[[WORD:[a-z0-9]+]] = device.get %[[BITS]]
// CHECK: %[[SHIFTED:[a-z0-9]+]] = arith.shrui %[[WORD]]
// CHECK: %[[IS:[a-z0-9]+]] = arith.cmpi ne
// CHECK: arith.select %[[IS]]
// CHECK: } else {
// CHECK-NOT: device.get %[[BITS]]
// CHECK: device.each_element 64 {
// CHECK: arith.xori
// CHECK: arith.select
// CHECK: } {tile.careful}
device.kernel @drops "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %n = device.extent "k"
  %rare = arith.cmpi slt, %n, %c0 : i32
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<64 x f32>
    %rows = device.registers "r" : !device.rows<i32>
    %zero = arith.constant 0.0 : f32
    scf.if %rare {
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %x0 = arith.addi %at, %row : i32
        %p0 = arith.muli %x0, %c3 : i32
        %x1 = arith.xori %p0, %row : i32
        %p1 = arith.muli %x1, %c3 : i32
        %x2 = arith.xori %p1, %row : i32
        %p2 = arith.muli %x2, %c3 : i32
        %x3 = arith.xori %p2, %row : i32
        %p3 = arith.muli %x3, %c3 : i32
        %x4 = arith.xori %p3, %row : i32
        %p4 = arith.muli %x4, %c3 : i32
        %x5 = arith.xori %p4, %row : i32
        %p5 = arith.muli %x5, %c3 : i32
        %x6 = arith.xori %p5, %row : i32
        %p6 = arith.muli %x6, %c3 : i32
        %x7 = arith.xori %p6, %row : i32
        %p7 = arith.muli %x7, %c3 : i32
        %x8 = arith.xori %p7, %row : i32
        %p8 = arith.muli %x8, %c3 : i32
        %x9 = arith.xori %p8, %row : i32
        %p9 = arith.muli %x9, %c3 : i32
        %x10 = arith.xori %p9, %row : i32
        %holds = arith.cmpi slt, %x10, %n : i32
        %old = device.get %s : !device.fragment<64 x f32> -> f32
        %kept = arith.select %holds, %old, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
    } else {
      device.each_element 64 {
        %row = device.get %rows : !device.rows<i32> -> i32
        %o = device.column_offset
        %c = device.column
        %at = arith.addi %o, %c : i32
        %x0 = arith.addi %at, %row : i32
        %p0 = arith.muli %x0, %c3 : i32
        %x1 = arith.xori %p0, %row : i32
        %p1 = arith.muli %x1, %c3 : i32
        %x2 = arith.xori %p1, %row : i32
        %p2 = arith.muli %x2, %c3 : i32
        %x3 = arith.xori %p2, %row : i32
        %p3 = arith.muli %x3, %c3 : i32
        %x4 = arith.xori %p3, %row : i32
        %p4 = arith.muli %x4, %c3 : i32
        %x5 = arith.xori %p4, %row : i32
        %p5 = arith.muli %x5, %c3 : i32
        %x6 = arith.xori %p5, %row : i32
        %p6 = arith.muli %x6, %c3 : i32
        %x7 = arith.xori %p6, %row : i32
        %p7 = arith.muli %x7, %c3 : i32
        %x8 = arith.xori %p7, %row : i32
        %p8 = arith.muli %x8, %c3 : i32
        %x9 = arith.xori %p8, %row : i32
        %p9 = arith.muli %x9, %c3 : i32
        %x10 = arith.xori %p9, %row : i32
        %holds = arith.cmpi slt, %x10, %n : i32
        %old = device.get %s : !device.fragment<64 x f32> -> f32
        %kept = arith.select %holds, %old, %zero : f32
        device.set %kept in %s : f32, !device.fragment<64 x f32>
      }
    } {tile.careful}
  }
}
