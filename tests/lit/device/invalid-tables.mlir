// What operations on tables refuse by themselves.
// RUN: tilewright opt -split-input-file -verify-diagnostics %s -o /dev/null

device.kernel @short "sm90a" items "q" 64 of [] {
  %t = device.ring "t" : !device.ring<4 x [78] i32>
  device.consumers 1 registers 240 {
    // expected-error @+1 {{fills '!device.ring<4 x[78] i32>' with 79 distances for each of 4 warps; expected i32, an element for each distance, and a slot for each warp}}
    device.tabulate %t width 64 : !device.ring<4 x [78] i32> {
    ^bb0(%d: i32):
      device.yield %d : i32
    }
  }
}

// -----

device.kernel @bare "sm90a" items "q" 64 of [] {
  %t = device.ring "t" : !device.ring<4 x [79] i32>
  device.consumers 1 registers 240 {
    // expected-error @+1 {{needs a body that takes one distance, i32, and yields}}
    device.tabulate %t width 64 : !device.ring<4 x [79] i32> {
    ^bb0(%d: f32):
      device.yield %d : f32
    }
  }
}

// -----

device.kernel @outside "sm90a" items "q" 64 of [] {
  %t = device.ring "t" : !device.ring<4 x [79] i32>
  device.consumers 1 registers 240 {
    // expected-error @+1 {{stands outside of a device.each_element over all rows}}
    %x = device.look_up %t : !device.ring<4 x [79] i32> -> f32
  }
}

// -----

device.kernel @wider "sm90a" items "q" 64 of [] {
  %t = device.ring "t" : !device.ring<4 x [79] i32>
  device.consumers 1 registers 240 {
    device.each_element 128 {
      // expected-error @+1 {{reads '!device.ring<4 x[79] i32>' in a loop whose elements have 143 distances, in each of 4 warps}}
      %x = device.look_up %t : !device.ring<4 x [79] i32> -> f32
    }
  }
}
