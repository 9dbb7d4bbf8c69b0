// RUN: tilewright opt %s -device-count-registers | FileCheck %s

// 128 + 128 of 240.
// CHECK-LABEL: device.kernel @crowded
// CHECK: device.consumers 1 registers 240 attributes {device.crowded} {
device.kernel @crowded "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<256 x f32>
    %acc = device.registers "acc" : !device.fragment<256 x f32>
  }
}

// 128 + 96 + 16: they fit.
// CHECK-LABEL: device.kernel @fits
// CHECK: device.consumers 1 registers 240 {
device.kernel @fits "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 240 {
    %s = device.registers "s" : !device.fragment<256 x f32>
    %acc = device.registers "acc" : !device.fragment<192 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %top = device.registers "top" : !device.rows<f32>
  }
}

// As many as at launch: nothing is known of how many there are.
// CHECK-LABEL: device.kernel @unbounded
// CHECK: device.consumers 1 registers 0 {
device.kernel @unbounded "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 0 {
    %s = device.registers "s" : !device.fragment<256 x f32>
    %acc = device.registers "acc" : !device.fragment<256 x f32>
    %more = device.registers "more" : !device.fragment<256 x f32>
  }
}
