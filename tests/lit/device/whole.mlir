// One consumer's causal forward without overlap, static items.
// RUN: tilewright opt -device-check-protocol %s -o /dev/null
device.kernel @causal "sm90a" items "q" 128 of ["b", "h"] grouped {
  %K = device.tensor_map "K" bf16 dimensions [3, 2, 3, 1, 0] chunks [0, 0, 64, 0, 0] sizes [64, 0, 2, 0, 0] box [64, 128, 2, 1, 1] swizzle 128
  %V = device.tensor_map "V" bf16 dimensions [3, 2, 3, 1, 0] chunks [0, 0, 64, 0, 0] sizes [64, 0, 2, 0, 0] box [64, 128, 2, 1, 1] swizzle 128
  %Q = device.tensor_map "Q" bf16 dimensions [3, 2, 3, 1, 0] chunks [0, 0, 64, 0, 0] sizes [64, 0, 2, 0, 0] box [64, 128, 2, 1, 1] swizzle 128
  %O = device.tensor "O" : !device.pointer<bf16>
  %O0 = device.stride "O" 0
  %O1 = device.stride "O" 1
  %O2 = device.stride "O" 2
  %b_ = device.extent "b"
  %h_ = device.extent "h"
  %q_ = device.extent "q"
  %k_ = device.extent "k"
  %hk_ = device.dimension "K" 1
  %items = device.count items
  %blocks = device.count blocks
  %Qs = device.ring "Q" offset 0 : !device.ring<1 x [128, 128] bf16>
  %Ks = device.ring "K" offset 32768 : !device.ring<2 x [128, 128] bf16>
  %Vs = device.ring "V" offset 98304 : !device.ring<2 x [128, 128] bf16>
  %Qb = device.barriers "Q" releases 8 offset 163840 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 offset 163856 : !device.barriers<2>
  %Vb = device.barriers "V" releases 8 offset 163888 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 1 : !device.barriers<2>
    %bid = device.block_index
    %grid = device.grid_size
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    scf.for %t = %bid to %items step %grid : i32 {
      %m = arith.remsi %t, %blocks : i32
      %f = arith.divsi %t, %blocks : i32
      %q0 = arith.muli %m, %c128 : i32
      %h = arith.remsi %f, %h_ : i32
      %b = arith.divsi %f, %h_ : i32
      device.acquire %qc bytes 32768
      device.copy %Q[%c0, %q0, %c0, %h, %b] to %Qs at %qc : !device.ring<1 x [128, 128] bf16>
      device.advance %qc
      scf.for %k0 = %c0 to %k_ step %c128 : i32 {
        device.acquire %kc bytes 32768
        device.copy %K[%c0, %k0, %c0, %h, %b] to %Ks at %kc : !device.ring<2 x [128, 128] bf16>
        device.advance %kc
        device.acquire %vc bytes 32768
        device.copy %V[%c0, %k0, %c0, %h, %b] to %Vs at %vc : !device.ring<2 x [128, 128] bf16>
        device.advance %vc
      }
    }
  }
  device.consumers 2 registers 240 {
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %bid = device.block_index
    %grid = device.grid_size
    %r0 = device.row_offset
    %col0 = device.column_offset
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant 0.0 : f32
    %ninf = arith.constant 0xFF800000 : f32
    %scale = arith.constant 0.125 : f32
    %s = device.registers "s" : !device.fragment<128 x f32>
    %p = device.registers "s_16" : !device.operand<128 x bf16>
    %acc = device.registers "acc" : !device.fragment<128 x f32>
    %top = device.registers "top" : !device.rows<f32>
    %total = device.registers "total" : !device.rows<f32>
    %shrink = device.registers "shrink" : !device.rows<f32>
    %base = device.registers "base" : !device.rows<f32>
    %smax = device.registers "s_max" : !device.rows<f32>
    %wsum = device.registers "w_sum" : !device.rows<f32>
    %hi = device.registers "hi" : !device.rows<i32>
    %off = device.registers "O_at" : !device.rows<i64>
    %in = device.registers "O_in" : !device.rows<i1>
    scf.for %t = %bid to %items step %grid : i32 {
      %m = arith.remsi %t, %blocks : i32
      %f = arith.divsi %t, %blocks : i32
      %q0 = arith.muli %m, %c128 : i32
      %h = arith.remsi %f, %h_ : i32
      %b = arith.divsi %f, %h_ : i32
      device.fill %top with %ninf : !device.rows<f32>, f32
      device.fill %total with %zero : !device.rows<f32>, f32
      device.fill %acc with %zero : !device.fragment<128 x f32>, f32
      device.await %qc
      scf.for %k0 = %c0 to %k_ step %c128 : i32 {
        device.await %kc
        device.fence %s : !device.fragment<128 x f32>
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 128 : !device.fragment<128 x f32>, !device.ring<1 x [128, 128] bf16>, !device.ring<2 x [128, 128] bf16>
        device.commit
        device.wait 0 %s : !device.fragment<128 x f32>
        device.release %kc
        device.advance %kc
        device.each_row {
          %r = device.row
          %a = arith.addi %r, %q0 : i32
          %a1 = arith.addi %a, %r0 : i32
          %a2 = arith.subi %a1, %k0 : i32
          %a3 = arith.subi %a2, %col0 : i32
          device.set %a3 in %hi : i32, !device.rows<i32>
        }
        device.each_element 128 {
          %c = device.column
          %lim = device.get %hi : !device.rows<i32> -> i32
          %keep = arith.cmpi sle, %c, %lim : i32
          %x = device.get %s : !device.fragment<128 x f32> -> f32
          %y = arith.select %keep, %x, %ninf : f32
          device.set %y in %s : f32, !device.fragment<128 x f32>
        }
        device.each_element 128 {
          %x = device.get %s : !device.fragment<128 x f32> -> f32
          device.combine max %x into %smax : f32, !device.rows<f32>
        }
        device.each_row {
          %a = device.get %top : !device.rows<f32> -> f32
          %x = device.get %smax : !device.rows<f32> -> f32
          %n = arith.maximumf %a, %x : f32
          %d = arith.subf %a, %n : f32
          %e = arith.mulf %d, %scale : f32
          %sh = math.exp2 %e : f32
          %nb = arith.mulf %n, %scale : f32
          %mb = arith.negf %nb : f32
          device.set %mb in %base : f32, !device.rows<f32>
          device.set %sh in %shrink : f32, !device.rows<f32>
          device.set %n in %top : f32, !device.rows<f32>
        }
        device.each_element 128 {
          %x = device.get %s : !device.fragment<128 x f32> -> f32
          %y = device.get %base : !device.rows<f32> -> f32
          %z = math.fma %x, %scale, %y : f32
          %w = math.exp2 %z : f32
          device.combine sum %w into %wsum lanes : f32, !device.rows<f32>
          device.set %w in %s : f32, !device.fragment<128 x f32>
        }
        device.each_row {
          %a = device.get %total : !device.rows<f32> -> f32
          %sh = device.get %shrink : !device.rows<f32> -> f32
          %x = device.get %wsum : !device.rows<f32> -> f32
          %n = math.fma %a, %sh, %x : f32
          device.set %n in %total : f32, !device.rows<f32>
        }
        device.pack %s into %p : !device.fragment<128 x f32>, !device.operand<128 x bf16>
        device.each_element 128 {
          %x = device.get %acc : !device.fragment<128 x f32> -> f32
          %sh = device.get %shrink : !device.rows<f32> -> f32
          %y = arith.mulf %x, %sh : f32
          device.set %y in %acc : f32, !device.fragment<128 x f32>
        }
        device.await %vc
        device.fence %acc, %p : !device.fragment<128 x f32>, !device.operand<128 x bf16>
        device.multiply %acc, %p, %Vs at %vc depth 128 transposed accumulate : !device.fragment<128 x f32>, !device.operand<128 x bf16>, !device.ring<2 x [128, 128] bf16>
        device.commit
        device.wait 0 %acc, %p : !device.fragment<128 x f32>, !device.operand<128 x bf16>
        device.release %vc
        device.advance %vc
      }
      device.release %qc
      device.advance %qc
      device.join sum %total : !device.rows<f32>
      device.each_element 128 {
        %x = device.get %acc : !device.fragment<128 x f32> -> f32
        %y = device.get %total : !device.rows<f32> -> f32
        %z = arith.divf %x, %y : f32
        device.set %z in %acc : f32, !device.fragment<128 x f32>
      }
      %bw = arith.extsi %b : i32 to i64
      %hw = arith.extsi %h : i32 to i64
      %ob = arith.muli %bw, %O0 : i64
      %oh = arith.muli %hw, %O1 : i64
      %obh = arith.addi %ob, %oh : i64
      device.each_row {
        %r = device.row
        %a = arith.addi %r, %q0 : i32
        %a1 = arith.addi %a, %r0 : i32
        %inside = arith.cmpi slt, %a1, %q_ : i32
        %aw = arith.extsi %a1 : i32 to i64
        %oq = arith.muli %aw, %O2 : i64
        %o = arith.addi %obh, %oq : i64
        device.set %o in %off : i64, !device.rows<i64>
        device.set %inside in %in : i1, !device.rows<i1>
      }
      device.store_tile %acc, %O[%off] if %in columns %c128 : !device.fragment<128 x f32>, !device.pointer<bf16>
    }
  }
}
