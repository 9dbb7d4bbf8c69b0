// Loops and branches; what they carry and yield are variables.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK-LABEL: loops(const
device.kernel @loops "sm90a" items "q" 64 of [] {
  %n = device.extent "q"
  %items = device.count items
  device.consumers 1 registers 0 {
    %r = device.registers "r_" : !device.rows<i32>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    // A loop that carries two numbers, which change places.
    // CHECK:      int carried = 0;
    // CHECK-NEXT: int carried2 = 1;
    // CHECK-NEXT: for (int n = 0; n < p.len_q; n++) {
    // CHECK-NEXT:   const int carried2_next = carried;
    // CHECK-NEXT:   carried = carried2 + n;
    // CHECK-NEXT:   carried2 = carried2_next;
    // CHECK-NEXT: }
    // CHECK-NEXT: r_[0] = r_[1] = carried + carried2;
    %p:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %c1) -> (i32, i32) : i32 {
      %s = arith.addi %b, %i : i32
      scf.yield %s, %a : i32, i32
    }
    %sum = arith.addi %p#0, %p#1 : i32
    device.fill %r with %sum : !device.rows<i32>, i32
    // Only a condition before the break: a plain while loop.
    // CHECK:      int at = 0;
    // CHECK-NEXT: while (at < p.len_q) {
    // CHECK-NEXT:   at = at + 2;
    // CHECK-NEXT: }
    // CHECK-NEXT: r_[0] = r_[1] = at;
    %w = scf.while (%a = %c0) : (i32) -> i32 {
      %more = arith.cmpi slt, %a, %n : i32
      scf.condition(%more) %a : i32
    } do {
    ^bb0(%a: i32):
      %next = arith.addi %a, %c2 : i32
      scf.yield %next : i32
    } loc("at")
    device.fill %r with %w : !device.rows<i32>, i32
    // What is computed before the break and passed on lives outside.
    // CHECK:      int carried3 = 0;
    // CHECK-NEXT: int passed;
    // CHECK-NEXT: while (true) {
    // CHECK-NEXT:   const int product = carried3 * 2;
    // CHECK-NEXT:   passed = product;
    // CHECK-NEXT:   if (!(product < p.len_q)) break;
    // CHECK-NEXT:   carried3 = passed + 1;
    // CHECK-NEXT: }
    // CHECK-NEXT: r_[0] = r_[1] = passed;
    %v = scf.while (%a = %c0) : (i32) -> i32 {
      %d = arith.muli %a, %c2 : i32
      %more = arith.cmpi slt, %d, %n : i32
      scf.condition(%more) %d : i32
    } do {
    ^bb0(%d: i32):
      %next = arith.addi %d, %c1 : i32
      scf.yield %next : i32
    }
    device.fill %r with %v : !device.rows<i32>, i32
    // CHECK:      int chosen;
    // CHECK-NEXT: if (p.len_q < 2) {
    // CHECK-NEXT:   chosen = p.len_q * 2;
    // CHECK-NEXT: } else {
    // CHECK-NEXT:   chosen = 1;
    // CHECK-NEXT: }
    // CHECK-NEXT: if (chosen == 2) {
    // CHECK-NEXT:   r_[0] = r_[1] = chosen;
    // CHECK-NEXT: }
    %few = arith.cmpi slt, %n, %c2 : i32
    %x = scf.if %few -> i32 {
      %d = arith.muli %n, %c2 : i32
      scf.yield %d : i32
    } else {
      scf.yield %c1 : i32
    }
    %two = arith.cmpi eq, %x, %c2 : i32
    scf.if %two {
      device.fill %r with %x : !device.rows<i32>, i32
    }
  }
}
