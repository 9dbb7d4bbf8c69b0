// A kernel that keeps every rule; then what barriers, cursors and the producer can do wrong, one rule each.
// RUN: tilewright opt -device-check-protocol -split-input-file -verify-diagnostics %s -o /dev/null

// All at once, and nothing to say: a mailbox, two tiles under one barrier pair, a tile of both stages with a trailing cursor, dots
// of two groups in flight, two dots that accumulate in one another's place, a slot given back by the warps that are content.
device.kernel @kept "sm90a" items "q" 128 of [] {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %n = device.extent "k"
  %items = device.count items
  %zero = arith.constant 0.0 : f32
  %yes = arith.constant true
  %counters = device.counters 2 : !device.pointer<i32>
  %Q = device.tensor_map "Q" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 128] swizzle 128
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %w = device.tensor_map "w" f32 dimensions [0] chunks [0] sizes [0] box [64] swizzle 0
  %Qs = device.ring "Q" : !device.ring<1 x [128, 64] bf16>
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %ws = device.ring "w" : !device.ring<2 x [64] f32>
  %Qb = device.barriers "Q" releases 8 : !device.barriers<1>
  %Kb = device.barriers "K" releases 8 : !device.barriers<2>
  %work = device.mailbox "work" : !device.mailbox<2>
  %workb = device.barriers "work" releases 8 : !device.barriers<2>
  device.producer registers 24 {
    %qc = device.cursor "Q" on %Qb phase 1 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %wc = device.cursor "work" on %workb phase 1 : !device.barriers<2>
    %first = device.block_index
    %end = scf.while (%item = %first) : (i32) -> i32 {
      device.acquire %wc bytes 0
      device.post %item to %work at %wc : !device.mailbox<2>
      device.advance %wc
      %more = arith.cmpi slt, %item, %items : i32
      scf.condition(%more) %item : i32
    } do {
    ^bb0(%item: i32):
      device.acquire %qc bytes 16384
      device.copy %Q[%c0, %item] to %Qs at %qc : !device.ring<1 x [128, 64] bf16>
      device.advance %qc
      scf.for %k0 = %c0 to %n step %c64 : i32 {
        device.acquire %kc bytes 8448
        device.copy %K[%c0, %k0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
        device.copy %w[%k0] to %ws at %kc : !device.ring<2 x [64] f32>
        device.advance %kc
      }
      %next = device.draw %counters : !device.pointer<i32>
      scf.yield %next : i32
    }
  }
  device.consumers 2 registers 240 {
    device.turn first
    %qc = device.cursor "Q" on %Qb phase 0 : !device.barriers<1>
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    %kb = device.cursor "K_back" on %Kb phase 0 trailing : !device.barriers<2>
    %wc = device.cursor "work" on %workb phase 0 : !device.barriers<2>
    %s = device.registers "s" : !device.fragment<64 x f32>
    %p = device.registers "p" : !device.operand<64 x bf16>
    %acc = device.registers "acc" : !device.fragment<64 x f32>
    %bad = device.registers "bad" : !device.rows<i1>
    %end = scf.while : () -> i32 {
      device.await %wc
      %item = device.read_post %work at %wc : !device.mailbox<2> -> i32
      device.release %wc
      device.advance %wc
      %more = arith.cmpi slt, %item, %items : i32
      scf.condition(%more) %item : i32
    } do {
    ^bb0(%item: i32):
      device.fill %acc with %zero : !device.fragment<64 x f32>, f32
      device.fill %s with %zero : !device.fragment<64 x f32>, f32
      device.pack %s into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
      device.await %qc
      device.await %kc
      device.advance %kc
      scf.for %k0 = %c64 to %n step %c64 : i32 {
        device.await %kc
        device.turn
        device.fence %s, %acc, %p : !device.fragment<64 x f32>, !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.multiply %s, %Qs at %qc, %Ks at %kc depth 64 : !device.fragment<64 x f32>, !device.ring<1 x [128, 64] bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.multiply %acc, %p, %Ks at %kb depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.multiply %acc, %p, %Ks at %kb depth 64 transposed accumulate : !device.fragment<64 x f32>, !device.operand<64 x bf16>, !device.ring<2 x [64, 64] bf16>
        device.commit
        device.turn pass
        device.wait 1 %s : !device.fragment<64 x f32>
        device.each_element 64 {
          %x = device.get %s : !device.fragment<64 x f32> -> f32
          %y = device.load_column %ws at %kc : !device.ring<2 x [64] f32> -> f32
          %z = arith.mulf %x, %y : f32
          device.set %z in %s : f32, !device.fragment<64 x f32>
        }
        device.wait 0 %acc, %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.pack %s into %p : !device.fragment<64 x f32>, !device.operand<64 x bf16>
        device.release %kb
        device.advance %kb
        device.advance %kc
      }
      device.release %kb
      device.advance %kb
      %any = device.any %bad
      %content = arith.xori %any, %yes : i1
      device.release %qc if %content
      scf.if %any {
        device.fill %acc with %zero : !device.fragment<64 x f32>, f32
        device.release %qc
      }
      device.advance %qc
      scf.yield
    }
  }
}

// -----

device.kernel @releases "sm90a" items "q" 128 of [] {
  // expected-error @below {{"K" take 4 releases a slot; expected 8, one for each warp of 2 warpgroups}}
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 2 registers 0 {
  }
}

// -----

device.kernel @slots "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<3 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 8192
    // expected-error @below {{fills ring "K" of 3 slots at a cursor of barriers "K", which have 2}}
    device.copy %K[%c0, %c0] to %Ks at %kc : !device.ring<3 x [64, 64] bf16>
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @two_pairs "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  %Vb = device.barriers "V" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %vc = device.cursor "V" on %Vb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 8192
    device.copy %K[%c0, %c0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
    device.advance %kc
    device.acquire %vc bytes 8192
    // expected-error @below {{fills ring "K" under barriers "V"; elsewhere it is filled under "K"}}
    device.copy %K[%c0, %c0] to %Ks at %vc : !device.ring<2 x [64, 64] bf16>
    device.advance %vc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @second_cursor "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{is a second cursor of its role on barriers "K"; their phases would turn twice a round}}
    %again = device.cursor "again" on %Kb phase 0 : !device.barriers<2>
  }
}

// -----

device.kernel @inner_cursor "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %n = device.extent "k"
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      // expected-error @below {{"K" is declared inside of other operations; a role declares its cursors first, so that they go on from item to item}}
      %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    }
  }
}

// -----

device.kernel @roles "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.consumers 1 registers 0 {
    %kc = device.cursor "K" on %Kb phase 0 : !device.barriers<2>
    // expected-error @below {{is for the producer, and stands in the other role}}
    device.acquire %kc bytes 8192
  }
}

// -----

device.kernel @other_role "sm90a" items "q" 64 of [] {
  device.producer registers 24 {
    // expected-error @below {{is for consumers, and stands in the other role}}
    device.commit
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @not_acquired "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    // expected-error @below {{writes to a slot of "K" that is not acquired; the consumers may be reading it}}
    device.copy %K[%c0, %c0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @not_advanced "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 8192
    // expected-error @below {{takes a slot of "K" that it has acquired already; advance first}}
    device.acquire %kc bytes 8192
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @bytes "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 128] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 16384
    device.copy %K[%c0, %c0] to %Ks at %kc : !device.ring<2 x [64, 128] bf16>
    // expected-error @below {{leaves a slot of "K" that was armed for 16384 bytes; the copies bring 8192}}
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @too_large "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %K = device.tensor_map "K" bf16 dimensions [1, 0, 1] chunks [0, 0, 64] sizes [64, 0, 2] box [64, 64, 2] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 128] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 16384
    // expected-error @below {{copies 16384 bytes to byte 8192 of a slot of ring "K", which has 16384}}
    device.copy %K[%c0, %c0, %c0] to %Ks at %kc column 64 : !device.ring<2 x [64, 128] bf16>
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @nothing_filled "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 0
    // expected-error @below {{leaves a slot of "K" that nothing fills: neither copies nor a post}}
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @posted_armed "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %work = device.mailbox "work" : !device.mailbox<2>
  %b = device.barriers "work" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %c = device.cursor "work" on %b phase 1 : !device.barriers<2>
    device.acquire %c bytes 4
    // expected-error @below {{fills a slot of "work" that was armed for copies; acquire it with 0 bytes}}
    device.post %c0 to %work at %c : !device.mailbox<2>
    device.advance %c
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @posted_twice "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %work = device.mailbox "work" : !device.mailbox<2>
  %b = device.barriers "work" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %c = device.cursor "work" on %b phase 1 : !device.barriers<2>
    device.acquire %c bytes 0
    device.post %c0 to %work at %c : !device.mailbox<2>
    // expected-error @below {{fills a slot of "work" a second time}}
    device.post %c0 to %work at %c : !device.mailbox<2>
    device.advance %c
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @never_acquired "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    // expected-error @below {{leaves a slot of "K" that was not acquired}}
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @unfinished "sm90a" items "q" 64 of [] {
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  // expected-error @below {{ends while cursor "K" stands at an acquired slot with 0 of 8192 bytes copied}}
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    device.acquire %kc bytes 8192
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @one_way "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %n = device.extent "k"
  %K = device.tensor_map "K" bf16 dimensions [1, 0] chunks [0, 0] sizes [0, 0] box [64, 64] swizzle 128
  %Ks = device.ring "K" : !device.ring<2 x [64, 64] bf16>
  %Kb = device.barriers "K" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %kc = device.cursor "K" on %Kb phase 1 : !device.barriers<2>
    %some = arith.cmpi sgt, %n, %c0 : i32
    device.acquire %kc bytes 8192
    // expected-error @below {{has two ways that end apart: where its condition holds cursor "K" stands at an acquired slot with 8192 of 8192 bytes copied, else at an acquired slot with 0 of 8192 bytes copied}}
    scf.if %some {
      device.copy %K[%c0, %c0] to %Ks at %kc : !device.ring<2 x [64, 64] bf16>
    }
    device.advance %kc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

// 384 threads start with 168 registers each: what the consumers take beyond that must have been given up.
device.kernel @greedy "sm90a" items "q" 128 of [] {
  device.producer registers 32 {
  }
  // expected-error @below {{take 144 registers a thread more than the 168 that a thread starts with, all warpgroups together; the producer gives up 136}}
  device.consumers 2 registers 240 {
  }
}

// -----

device.kernel @late_answer "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %work = device.mailbox "work" answers 4 : !device.mailbox<3>
  %wb = device.barriers "work" releases 4 : !device.barriers<3>
  device.producer registers 24 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<3>
    device.acquire %wc bytes 0
    device.post %c0 to %work at %wc : !device.mailbox<3>
    // expected-error @below {{looks for the answer to what a slot of "work" held before, and it is filled anew}}
    %back = device.sent_back %work at %wc : !device.mailbox<3>
    device.advance %wc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @answers_nothing "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %bad = arith.constant true
  %work = device.mailbox "work" answers 4 : !device.mailbox<3>
  %wb = device.barriers "work" releases 4 : !device.barriers<3>
  device.producer registers 24 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<3>
    device.acquire %wc bytes 0
    device.post %c0 to %work at %wc : !device.mailbox<3>
    device.advance %wc
  }
  device.consumers 1 registers 0 {
    %wc = device.cursor "work" on %wb phase 0 : !device.barriers<3>
    device.await %wc
    device.release %wc
    // expected-error @below {{reads mailbox "work" outside of await and release of cursor "work"}}
    device.send_back %work at %wc if %bad : !device.mailbox<3>
    device.advance %wc
  }
}

// -----

device.kernel @few_words "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %work = device.mailbox "work" : !device.mailbox<2 words 2>
  %wb = device.barriers "work" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<2>
    device.acquire %wc bytes 0
    // expected-error @below {{posts 1 words to a mailbox of 2}}
    device.post %c0 to %work at %wc : !device.mailbox<2 words 2>
    device.advance %wc
  }
  device.consumers 1 registers 0 {
  }
}

// -----

device.kernel @no_answers "sm90a" items "q" 64 of [] {
  %c0 = arith.constant 0 : i32
  %work = device.mailbox "work" : !device.mailbox<2>
  %wb = device.barriers "work" releases 4 : !device.barriers<2>
  device.producer registers 24 {
    %wc = device.cursor "work" on %wb phase 1 : !device.barriers<2>
    device.acquire %wc bytes 0
    // expected-error @below {{needs a mailbox with answers}}
    %back = device.sent_back %work at %wc : !device.mailbox<2>
    device.post %c0 to %work at %wc : !device.mailbox<2>
    device.advance %wc
  }
  device.consumers 1 registers 0 {
  }
}
