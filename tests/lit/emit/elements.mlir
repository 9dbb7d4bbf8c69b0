// Loops over rows and elements, reductions in chains, reads that must not move behind writes.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK-LABEL: elements(const
device.kernel @elements "sm90a" items "q" 64 of [] {
  %n = device.extent "q"
  %x = device.tensor "gain" : !device.pointer<bf16>
  %flags = device.tensor "flags" : !device.pointer<i1>
  %Hs = device.ring "H" offset 0 : !device.ring<1 x [32] bf16>
  %Hb = device.barriers "H" releases 4 offset 128 : !device.barriers<1>
  device.consumers 1 registers 0 {
    %hc = device.cursor "H" on %Hb phase 0 : !device.barriers<1>
    %s = device.registers "s" : !device.fragment<32 x f32>
    %m = device.registers "m" : !device.rows<f32>
    %t = device.registers "t" : !device.rows<f32>
    %at = device.registers "at" : !device.rows<i64>
    %in = device.registers "in" : !device.rows<i1>
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1.0 : f32
    // The old element is used after the new one is written: it has a name by then.
    // CHECK:      for (int i = 0; i < 16; i++) {
    // CHECK-NEXT:   const int r = (i >> 1) & 1;
    // CHECK-NEXT:   const float s2 = s[i];
    // CHECK-NEXT:   s[i] = 1.f;
    // CHECK-NEXT:   t[r] = s2;
    // CHECK-NEXT: }
    device.each_element 32 {
      %old = device.get %s : !device.fragment<32 x f32> -> f32
      device.set %one in %s : f32, !device.fragment<32 x f32>
      device.set %old in %t : f32, !device.rows<f32>
    }
    // CHECK:      float m_e[4];
    // CHECK:      for (int i = 0; i < 16; i++) {
    // CHECK-NEXT:   const int r = (i >> 1) & 1;
    // CHECK-NEXT:   const float quotient = __fdividef(s[i], t[r]);
    // CHECK-NEXT:   m_e[i & 3] = i < 4 ? quotient : min_nan(m_e[i & 3], quotient);
    // CHECK-NEXT: }
    // CHECK-NEXT: #pragma unroll
    // CHECK-NEXT: for (int r = 0; r < 2; r++) {
    // CHECK-NEXT:   m[r] = min_nan(m_e[2 * r], m_e[2 * r + 1]);
    // CHECK-NEXT:   m[r] = min_nan(m[r], __shfl_xor_sync(~0u, m[r], 1));
    // CHECK-NEXT:   m[r] = min_nan(m[r], __shfl_xor_sync(~0u, m[r], 2));
    // CHECK-NEXT: }
    device.each_element 32 {
      %a = device.get %s : !device.fragment<32 x f32> -> f32
      %b = device.get %t : !device.rows<f32> -> f32
      %q = arith.divf %a, %b : f32
      device.combine min %q into %m : f32, !device.rows<f32>
    }
    // What divides 1 takes one instruction.
    // CHECK:      for (int i = 0; i < 16; i++) {
    // CHECK-NEXT:   s[i] = rcp(s[i]);
    // CHECK-NEXT: }
    device.each_element 32 {
      %a = device.get %s : !device.fragment<32 x f32> -> f32
      %q = arith.divf %one, %a : f32
      device.set %q in %s : f32, !device.fragment<32 x f32>
    }
    // Row by row: the elements of one row, four chains of them.
    // CHECK:      for (int r = 0; r < 2; r++) {
    // CHECK-NEXT:   const float t2 = t[r];
    // CHECK-NEXT:   float m_e2[4];
    // CHECK-NEXT:   u32 H_pair;   // of two columns side by side
    // CHECK-NEXT:   #pragma unroll
    // CHECK-NEXT:   for (int e = 0; e < 8; e++) {
    // CHECK-NEXT:     const int i = 4 * (e >> 1) + 2 * r + (e & 1), c = 8 * (e >> 1) + (e & 1);
    // CHECK-NEXT:     if ((e & 1) == 0) H_pair = ld_shared_u32(sb + H_AT + 2 * (col + c));
    // CHECK-NEXT:     const float H = (i & 1 ? unpack_bf16_hi(H_pair) : unpack_bf16_lo(H_pair));
    // CHECK-NEXT:     s[i] = H * (float)c + t2;
    // CHECK-NEXT:     m_e2[e & 3] = e < 4 ? s[i] : m_e2[e & 3] + s[i];
    // CHECK-NEXT:   }
    // CHECK-NEXT:   m[r] = (m_e2[0] + m_e2[1]) + (m_e2[2] + m_e2[3]);
    // CHECK-NEXT:   t[r] = m[r] / t2;
    // CHECK-NEXT: }
    device.each_row {
      %u = device.get %t : !device.rows<f32> -> f32
      device.each_element 32 {
        %h = device.load_column %Hs at %hc : !device.ring<1 x [32] bf16> -> f32
        %c = device.column
        %cf = arith.sitofp %c : i32 to f32
        %p = arith.mulf %h, %cf : f32
        %v = arith.addf %p, %u : f32
        device.set %v in %s : f32, !device.fragment<32 x f32>
        %w = device.get %s : !device.fragment<32 x f32> -> f32
        device.combine sum %w into %m lanes : f32, !device.rows<f32>
      }
      %y = device.get %m : !device.rows<f32> -> f32
      %z = arith.divf %y, %u : f32
      device.set %z in %t : f32, !device.rows<f32>
    }
    // CHECK:      t[r] = t[r] + __shfl_xor_sync(~0u, t[r], 1);
    // CHECK-NEXT: t[r] = t[r] + __shfl_xor_sync(~0u, t[r], 2);
    device.join sum %t : !device.rows<f32>
    // CHECK:      const float gain = in[r] ? unpack_bf16_lo(p.gain[at[r]]) : 0.f;
    // CHECK-NEXT: const int flags = in[r] ? (int)p.flags[at[r]] : 0;
    // CHECK-NEXT: const float difference = 0.f - gain;
    // CHECK-NEXT: t[r] = flags == 0 ? difference : gain;
    device.each_row {
      %o = device.get %at : !device.rows<i64> -> i64
      %i = device.get %in : !device.rows<i1> -> i1
      %v = device.load %x[%o] if %i : !device.pointer<bf16> -> f32
      %g = device.load %flags[%o] if %i : !device.pointer<i1> -> i32
      %no = arith.cmpi eq, %g, %c0 : i32
      %zero = arith.constant 0.0 : f32
      %minus = arith.subf %zero, %v : f32
      %w = arith.select %no, %minus, %v : f32
      device.set %w in %t : f32, !device.rows<f32>
    }
    // CHECK:      const bool any = __any_sync(~0u, in[0] || in[1]);
    // CHECK-NEXT: if (any) {
    %any = device.any %in
    scf.if %any {
      device.fill %t with %one : !device.rows<f32>, f32
    }
    // CHECK:      const bool any2 = in[0];
    // CHECK-NEXT: if (any2) {
    %same = device.any %in uniform
    scf.if %same {
      device.fill %t with %one : !device.rows<f32>, f32
    }
  }
}
