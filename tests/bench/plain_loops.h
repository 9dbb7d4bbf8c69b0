// The peer that the CPU target is measured against: tiled attention, forward, as plain C++ loops.
#pragma once

#include <cstdint>

namespace tw::bench {

enum class PlainType { f32, bf16, f16 };

/// One forward pass over dense row-major tensors. With `causal` row i sees the keys k ≤ i + Skv − Sq; a row that sees
/// none gives 0.
struct PlainProblem {
  std::int64_t B = 1, H = 1, Hkv = 1, Sq = 0, Skv = 0, D = 0, Dv = 0; // H is a multiple of Hkv
  const void *q = nullptr;  // [B, H, Sq, D]
  const void *k = nullptr;  // [B, Hkv, Skv, D]
  const void *v = nullptr;  // [B, Hkv, Skv, Dv]
  void *out = nullptr;      // [B, H, Sq, Dv]
  PlainType type = PlainType::f32; // of all four; bf16 and f16 are 16-bit words
  bool causal = false;
  float scale = 1;
  int threads = 1; // started anew by each call; the caller is one of them
};

void plainLoops(const PlainProblem &problem);

} // namespace tw::bench
