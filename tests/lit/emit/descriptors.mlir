// Descriptors of a crowded role: its registers would not fit, were all of them alive.
// RUN: tilewright opt --emit-cuda %s -o /dev/null | FileCheck %s

// Computed where they are used, of a base that the compiler cannot know.
// CHECK:      auto A_left = [&] { return desc_sw128(opaque(sb) + A_AT + cw * 64 * 128, 16, 1024); };
// CHECK-NEXT: auto B_right = [&] { return desc_sw128(opaque(sb) + B_AT, 16, 1024); };
// CHECK:      dot0(s, A_left(), B_right() + B_slot * (B_BYTES / 16));
device.kernel @crowded "sm90a" items "q" 64 of [] {
  %As = device.ring "A" offset 0 : !device.ring<1 x [64, 64] f16>
  %Bs = device.ring "B" offset 8192 : !device.ring<2 x [256, 64] f16>
  %Ab = device.barriers "A" releases 4 offset 73728 : !device.barriers<1>
  %Bb = device.barriers "B" releases 4 offset 73744 : !device.barriers<2>
  device.consumers 1 registers 240 attributes {device.crowded} {
    %ac = device.cursor "A" on %Ab phase 0 : !device.barriers<1>
    %bc = device.cursor "B" on %Bb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<256 x f32>
    %acc = device.registers "acc" : !device.fragment<256 x f32>
    device.fence %s : !device.fragment<256 x f32>
    device.multiply %s, %As at %ac, %Bs at %bc depth 64 : !device.fragment<256 x f32>, !device.ring<1 x [64, 64] f16>, !device.ring<2 x [256, 64] f16>
    device.commit
    device.wait 0 %s : !device.fragment<256 x f32>
  }
}
