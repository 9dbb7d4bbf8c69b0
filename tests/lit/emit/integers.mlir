// Integers of every width, by row and by column: a byte is held in an int, sums of i64 meet as i64. Scalars have the type that they were given.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK:      struct Params {
// CHECK-NEXT:   i64* far;
// CHECK-NEXT:   unsigned char* keep;
// CHECK-NEXT:   i64 limit;
// CHECK-NEXT:   bool on;
// CHECK-NEXT:   unsigned short gain;
// CHECK-NEXT: };
// CHECK-LABEL: integers(const
device.kernel @integers "sm90a" items "q" 64 of [] {
  %far = device.tensor "far" : !device.pointer<i64>
  %keep = device.tensor "keep" : !device.pointer<i8>
  %limit = device.scalar "limit" : i64
  %on = device.scalar "on" : i1
  %gain = device.scalar "gain" : f16
  %Ps = device.ring "P" offset 0 : !device.ring<1 x [32] i64>
  %Fs = device.ring "F" offset 256 : !device.ring<1 x [32] i8>
  %b = device.barriers "P" releases 4 offset 384 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %c = device.cursor "P" on %b phase 0 : !device.barriers<1>
    %at = device.registers "at" : !device.rows<i64>
    %in = device.registers "in" : !device.rows<i1>
    %sums = device.registers "sums" : !device.rows<i64>
    %flags = device.registers "flags" : !device.rows<i8>
    %r = device.registers "r" : !device.rows<f32>
    // CHECK:      int flags[2];
    // CHECK:        const i64 far = in[r] ? p.far[at[r]] : 0;
    // CHECK-NEXT:   const int keep = in[r] ? (int)p.keep[at[r]] : 0;
    // CHECK-NEXT:   flags[r] = keep;
    // CHECK-NEXT:   const float number = (float)far;
    // CHECK-NEXT:   const float wide = unpack_f16_lo(p.gain);
    // CHECK-NEXT:   r2[r] = far < p.limit && p.on ? number : wide;
    device.each_row {
      %o = device.get %at : !device.rows<i64> -> i64
      %i = device.get %in : !device.rows<i1> -> i1
      %f = device.load %far[%o] if %i : !device.pointer<i64> -> i64
      %k = device.load %keep[%o] if %i : !device.pointer<i8> -> i8
      device.set %k in %flags : i8, !device.rows<i8>
      %less = arith.cmpi slt, %f, %limit : i64
      %both = arith.andi %less, %on : i1
      %x = arith.sitofp %f : i64 to f32
      %y = arith.extf %gain : f16 to f32
      %z = arith.select %both, %x, %y : f32
      device.set %z in %r : f32, !device.rows<f32>
    }
    // CHECK:      i64 sums_e[4];
    // CHECK-NEXT: u32 P_pair[4];   // of two columns side by side
    // CHECK-NEXT: u32 F_pair;   // of two columns side by side
    // CHECK:        if ((i & 3) == 0) ld_shared_v4(sb + P_AT + 8 * (col + c), P_pair);
    // CHECK-NEXT:   const i64 P{{[0-9]*}} = (i64)(P_pair[2 * (i & 1)] | (u64)P_pair[2 * (i & 1) + 1] << 32);
    // CHECK-NEXT:   if ((i & 3) == 0) F_pair = ld_shared_u16(sb + F_AT + col + c);
    // CHECK-NEXT:   const int F{{[0-9]*}} = (int)(F_pair >> 8 * (i & 1) & 0xff);
    // CHECK:        sums[r] = sums[r] + __shfl_xor_sync(~0u, sums[r], 1);
    %zero = arith.constant 0 : i8
    %none = arith.constant 0 : i64
    device.each_element 32 {
      %v = device.load_column %Ps at %c : !device.ring<1 x [32] i64> -> i64
      %k = device.load_column %Fs at %c : !device.ring<1 x [32] i8> -> i8
      %is = arith.cmpi ne, %k, %zero : i8
      %w = arith.select %is, %v, %none : i64
      device.combine sum %w into %sums : i64, !device.rows<i64>
    }
  }
}
