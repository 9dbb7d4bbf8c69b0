// Scalars print as expressions: where they are used, if that is once and in the same block; else by a name.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK-LABEL: causal_(const __grid_constant__ Params p)
device.kernel @"causal!" "sm90a" items "q" 64 of ["b"] {
  %n = device.extent "q"
  %m = device.dimension "K" 1
  %long = device.stride "O" 0
  %scale = device.scalar "scale" : f32
  %x = device.scalar "x" : f32
  %out = device.counters 2 : !device.pointer<i32>
  %rows = device.tensor "R" : !device.pointer<f32>
  device.consumers 1 registers 240 {
    %i = device.registers "n" : !device.rows<i32>
    %f = device.registers "f" : !device.rows<f32>
    %w = device.registers "w" : !device.rows<i64>
    %t = device.registers "t" : !device.rows<i1>
    %c1 = arith.constant 1 : i32
    %cm1 = arith.constant -1 : i32
    %c3 = arith.constant 3 : i32
    %true = arith.constant true
    %half = arith.constant 0.5 : f32
    %tenth = arith.constant 0.1 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %inf = arith.constant 0x7F800000 : f32
    %million = arith.constant 1.0e6 : f32
    %wide1 = arith.constant 1 : i64
    // Operators bind as they should, and a + -1 is a - 1.
    // CHECK: n[0] = n[1] = (p.len_q + p.K_dim1) * 3 - (p.len_q - (p.K_dim1 - 1));
    %a = arith.addi %n, %m : i32
    %b = arith.muli %a, %c3 : i32
    %c = arith.addi %m, %cm1 : i32
    %d = arith.subi %n, %c : i32
    %e = arith.subi %b, %d : i32
    device.fill %i with %e : !device.rows<i32>, i32
    // Too long for its place: a name too.
    // CHECK: const int sum = floor_div(p.len_q, 3) % p.K_dim1 + ceil_div(p.len_q, 3) / (p.len_q / 3);
    // CHECK-NEXT: n[0] = n[1] = sum;
    %g = arith.floordivsi %n, %c3 : i32
    %g1 = arith.remsi %g, %m : i32
    %h = arith.ceildivsi %n, %c3 : i32
    %h1 = arith.divsi %n, %c3 : i32
    %h2 = arith.divsi %h, %h1 : i32
    %g2 = arith.addi %g1, %h2 : i32
    device.fill %i with %g2 : !device.rows<i32>, i32
    // Outside of loops over elements and tiles a quotient of a power of two stays one.
    // CHECK: n[0] = n[1] = floor_div(p.len_q - 1, 4) + p.K_dim1;
    %four = arith.constant 4 : i32
    %quarter = arith.addi %n, %cm1 : i32
    %quarter1 = arith.floordivsi %quarter, %four : i32
    %quarter2 = arith.addi %quarter1, %m : i32
    device.fill %i with %quarter2 : !device.rows<i32>, i32
    // CHECK: n[0] = n[1] = max(p.len_q, min(p.K_dim1, 3)) << (p.len_q & 3);
    %k = arith.minsi %m, %c3 : i32
    %l = arith.maxsi %n, %k : i32
    %l1 = arith.andi %n, %c3 : i32
    %l2 = arith.shli %l, %l1 : i32
    device.fill %i with %l2 : !device.rows<i32>, i32
    // C++ shifts and multiplies without a sign where the type has none.
    // CHECK: n[0] = n[1] = (int)((u32)p.len_q >> 3);
    %l3 = arith.shrui %n, %c3 : i32
    device.fill %i with %l3 : !device.rows<i32>, i32
    // CHECK: w[0] = w[1] = (i64)((u64)(i64)(u32)p.len_q * (u64)p.
    %l4 = arith.extui %n : i32 to i64
    %l5 = arith.muli %l4, %long : i64
    device.fill %w with %l5 : !device.rows<i64>, i64
    // Used twice: a name, after what it is.
    // CHECK: const int product = p.len_q * p.K_dim1;
    // CHECK: n[0] = n[1] = product / (product + 1);
    %twice = arith.muli %n, %m : i32
    %more = arith.addi %twice, %c1 : i32
    %part = arith.divsi %twice, %more : i32
    device.fill %i with %part : !device.rows<i32>, i32
    // A name that the program gave stands for itself, but for words of the text.
    // CHECK: const int left_over = p.len_q - 3;
    // CHECK: const int p2 = left_over * left_over;
    // CHECK: n[0] = n[1] = p2 + p2;
    %named = arith.subi %n, %c3 : i32 loc("left over")
    %square = arith.muli %named, %named : i32 loc("p")
    %doubled = arith.addi %square, %square : i32
    device.fill %i with %doubled : !device.rows<i32>, i32
    // CHECK: w[0] = w[1] = (i64)p.len_q * p.O_s0 + 1ll;
    %o = arith.extsi %n : i32 to i64
    %o1 = arith.muli %o, %long : i64
    %o2 = arith.addi %o1, %wide1 : i64
    device.fill %w with %o2 : !device.rows<i64>, i64
    // CHECK: const bool differs = (p.len_q < 3 || (p.K_dim1 == 3 && (u32)p.len_q >= (u32)3)) != !(p.scale < 0.5f);
    // CHECK-NEXT: t[0] = t[1] = differs;
    %q = arith.cmpi slt, %n, %c3 : i32
    %q1 = arith.cmpi eq, %m, %c3 : i32
    %q2 = arith.cmpi uge, %n, %c3 : i32
    %q3 = arith.andi %q1, %q2 : i1
    %q4 = arith.ori %q, %q3 : i1
    %q5 = arith.cmpf uge, %scale, %half : f32
    %q6 = arith.xori %q4, %q5 : i1
    device.fill %t with %q6 : !device.rows<i1>, i1
    // CHECK: const bool both = !(p.scale == p.scale && p.x == p.x) && !(p.scale < p.x || p.scale > p.x);
    // CHECK-NEXT: t[0] = t[1] = both;
    %r = arith.cmpf ord, %scale, %x : f32
    %r1 = arith.xori %r, %true : i1
    %r2 = arith.cmpf ueq, %scale, %x : f32
    %r3 = arith.andi %r1, %r2 : i1
    device.fill %t with %r3 : !device.rows<i1>, i1
    // CHECK: f[0] = f[1] = fmaf(p.scale, 0.1f, -(p.x - 1e+06f)) / (-p.x * neg_inf());
    %s = arith.subf %x, %million : f32
    %s1 = arith.negf %s : f32
    %s2 = math.fma %scale, %tenth, %s1 : f32
    %s3 = arith.negf %x : f32
    %s4 = arith.mulf %s3, %ninf : f32
    %s5 = arith.divf %s2, %s4 : f32
    device.fill %f with %s5 : !device.rows<f32>, f32
    // CHECK: f[0] = f[1] = ex2(lg2(p.x) + tanh_accurate(p.scale)) - ex2(p.x * 1.44269504f);
    %u = math.log2 %x : f32
    %u1 = math.tanh %scale : f32
    %u2 = arith.addf %u, %u1 : f32
    %u3 = math.exp2 %u2 : f32
    %u4 = math.exp %x : f32
    %u5 = arith.subf %u3, %u4 : f32
    device.fill %f with %u5 : !device.rows<f32>, f32
    // CHECK: f[0] = f[1] = tanh_fast(p.x);
    %uf = math.tanh %x fastmath<afn> : f32
    device.fill %f with %uf : !device.rows<f32>, f32
    // CHECK: f[0] = f[1] = max_nan(min_nan(p.x, p.scale), fmaxf(fabsf(p.x), -neg_inf()));
    %v = arith.minimumf %x, %scale : f32
    %v1 = math.absf %x : f32
    %v2 = arith.maxnumf %v1, %inf : f32
    %v3 = arith.maximumf %v, %v2 : f32
    device.fill %f with %v3 : !device.rows<f32>, f32
    // CHECK: const float number = (float)p.len_q;
    // CHECK-NEXT: const float wide = unpack_bf16_lo(pack_bf16(p.x, 0.f));
    // CHECK-NEXT: f[0] = f[1] = p.len_q < 3 ? number : wide;
    %y = arith.cmpi slt, %n, %c3 : i32
    %y1 = arith.sitofp %n : i32 to f32
    %y2 = arith.truncf %x : f32 to bf16
    %y3 = arith.extf %y2 : bf16 to f32
    %y4 = arith.select %y, %y1, %y3 : f32
    device.fill %f with %y4 : !device.rows<f32>, f32
  }
}
