// What has no text is refused at its place.
// RUN: tilewright opt --emit-cuda --split-input-file --verify-diagnostics %s -o /dev/null

device.kernel @no_offset "sm90a" items "q" 64 of [] {
  // expected-error @below {{has no place in shared memory yet; device-lay-out-memory gives it an offset}}
  %K = device.ring "K" : !device.ring<1 x [64, 64] bf16>
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @vectors "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 0 {
    // expected-error @below {{has no text in CUDA C++}}
    %v = arith.constant dense<0.0> : vector<4xf32>
  }
}

// -----

device.kernel @indices "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 0 {
    %c0 = arith.constant 0 : i32
    // expected-error @below {{has no text in CUDA C++}}
    %i = arith.index_cast %c0 : i32 to index
  }
}

// -----

device.kernel @alone "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 0 {
    // expected-error @below {{passes a turn round 1 warpgroup; at least two are expected}}
    device.turn
  }
}

// -----

device.kernel @twice "sm90a" items "q" 64 of [] {
  device.consumers 1 registers 0 {
    %s = device.registers "s" : !device.fragment<32 x f32>
    %m = device.registers "m" : !device.rows<f32>
    device.each_element 32 {
      %x = device.get %s : !device.fragment<32 x f32> -> f32
      device.combine sum %x into %m : f32, !device.rows<f32>
      // expected-error @below {{combines into rows that this loop combines into already}}
      device.combine sum %x into %m : f32, !device.rows<f32>
    }
  }
}

// -----

device.kernel @wide "sm90a" items "q" 64 of [] {
  // expected-error @below {{is a tensor of 'f64', which device code does not hold}}
  %D = device.tensor "D" : !device.pointer<f64>
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @narrow "sm90a" items "q" 64 of [] {
  %Vs = device.ring "V" : !device.ring<2 x [64, 40] f16>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %vc = device.cursor "V" on %Vb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<32 x f32>
    %acc = device.registers "acc" : !device.fragment<40 x f32>
    // expected-error @below {{contracts 64 elements with '!device.fragment<32 x f32>'; expected a multiple of 16, as wide as the weights are}}
    device.isolate %acc, %s, %Vs at %vc depth 64 transposed : !device.fragment<40 x f32>, !device.fragment<32 x f32>, !device.ring<2 x [64, 40] f16>
  }
}
