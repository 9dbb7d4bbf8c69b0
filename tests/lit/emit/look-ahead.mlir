// A cursor that stands at the slot which comes next.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// CHECK:      mbar_wait(sb + Q_FULL + 8 * Q_slot, Q_phase);
// CHECK:      dot0(s, K_left, Q_right + Q_slot * (Q_BYTES / 16));
// CHECK:      mbar_wait(sb + Q_FULL + 8 * Q_slot, Q_phase);
// CHECK-NEXT: const int Q_slot_ahead = 64 < p.len_q ? (Q_slot == 2 ? 0 : Q_slot + 1) : Q_slot;
// CHECK-NEXT: if (64 < p.len_q) mbar_wait(sb + Q_FULL + 8 * Q_slot_ahead, Q_phase ^ (Q_slot == 2));
// CHECK:      dot0(s, K_left, Q_right + Q_slot_ahead * (Q_BYTES / 16));
!s = !device.fragment<64 x f32>
!block = !device.ring<1 x [64, 64] bf16>
!step = !device.ring<3 x [64, 64] bf16>
device.kernel @ahead "sm90a" items "k" 64 of [] {
  %n = device.extent "q"
  %c64 = arith.constant 64 : i32
  %Ks = device.ring "K" offset 0 : !block
  %Qs = device.ring "Q" offset 8192 : !step
  %Kb = device.barriers "K" releases 4 offset 32768 : !device.barriers<1>
  %Qb = device.barriers "Q" releases 4 offset 32784 : !device.barriers<3>
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !s
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<1>
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<3>
    %first = device.look_ahead %qc
    device.fence %s : !s
    device.multiply %s, %Ks at %kc, %Qs at %first depth 64 : !s, !block, !step
    device.commit
    device.wait 0 %s : !s
    device.await %qc
    %more = arith.cmpi slt, %c64, %n : i32
    %next = device.look_ahead %qc if %more
    device.fence %s : !s
    device.multiply %s, %Ks at %kc, %Qs at %next depth 64 : !s, !block, !step
    device.commit
    device.wait 0 %s : !s
    device.release %qc
    device.advance %qc
  }
}
