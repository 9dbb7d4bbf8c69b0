// Tiled attention as a competent person writes it in plain C++: no intrinsics, no register blocking, float throughout,
// loops that g++ -O3 -march=native -ffast-math vectorises, exp included.
//
// The algorithm is the one that the CPU target runs: for each batch, head and block of rows, over tiles of keys, scores,
// running maximum and sum, and an accumulator that shrinks when the maximum grows.
//
// Loop orders tried, per core of an AVX2 machine (D 64 / D 128): this one 23 / 27 GFLOP/s; a dot along d for each row and
// key 15 / 17; scores accumulated in memory instead of a local row 15 / 16; rows innermost in the second product
// 14 / 18. D as a compile-time constant changes nothing here.
#include "plain_loops.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <thread>
#include <vector>

namespace tw::bench {
namespace {

constexpr int rowsPerBlock = 64;
constexpr int keysPerTile = 64;
constexpr float lowest = -1e30f; // no infinity: -ffast-math assumes that there is none

struct Bf16 {
  std::uint16_t bits;
};

float toFloat(float x) { return x; }
float toFloat(_Float16 x) { return static_cast<float>(x); }
float toFloat(Bf16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }

void store(float &to, float x) { to = x; }
void store(_Float16 &to, float x) { to = static_cast<_Float16>(x); }
void store(Bf16 &to, float x) { // to nearest, ties to even
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  to.bits = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The tiles of one thread.
struct Scratch {
  explicit Scratch(const PlainProblem &p)
      : q(rowsPerBlock * p.D), keys(p.D * keysPerTile), v(keysPerTile * p.Dv), accumulator(rowsPerBlock * p.Dv) {}

  std::vector<float> q;           // [rows, D], scaled
  std::vector<float> keys;        // [D, keys]
  std::vector<float> v;           // [keys, Dv]
  std::vector<float> accumulator; // [rows, Dv]
  float maximum[rowsPerBlock], sum[rowsPerBlock];
};

/// One row against one tile of which it sees the first `seen` keys.
void step(const float *q, const float *keys, const float *v, std::int64_t D, std::int64_t Dv, std::int64_t seen,
          float &maximum, float &sum, float *__restrict accumulator) {
  float scores[keysPerTile] = {};
  for (std::int64_t d = 0; d < D; ++d)
    for (int c = 0; c < keysPerTile; ++c)
      scores[c] += q[d] * keys[d * keysPerTile + c];

  float highest = maximum;
  for (std::int64_t c = 0; c < seen; ++c)
    highest = std::max(highest, scores[c]);
  const float shrink = std::exp(maximum - highest);
  float weights = 0;
  for (std::int64_t c = 0; c < seen; ++c) {
    scores[c] = std::exp(scores[c] - highest);
    weights += scores[c];
  }
  maximum = highest;
  sum = sum * shrink + weights;

  for (std::int64_t e = 0; e < Dv; ++e)
    accumulator[e] *= shrink;
  for (std::int64_t c = 0; c < seen; ++c)
    for (std::int64_t e = 0; e < Dv; ++e)
      accumulator[e] += scores[c] * v[c * Dv + e];
}

template <typename T>
void block(const PlainProblem &p, std::int64_t batch, std::int64_t head, std::int64_t firstRow, Scratch &scratch) {
  const std::int64_t rows = std::min<std::int64_t>(rowsPerBlock, p.Sq - firstRow);
  const std::int64_t kvHead = batch * p.Hkv + head / (p.H / p.Hkv);
  const T *q = static_cast<const T *>(p.q) + ((batch * p.H + head) * p.Sq + firstRow) * p.D;
  const T *k = static_cast<const T *>(p.k) + kvHead * p.Skv * p.D;
  const T *v = static_cast<const T *>(p.v) + kvHead * p.Skv * p.Dv;
  T *out = static_cast<T *>(p.out) + ((batch * p.H + head) * p.Sq + firstRow) * p.Dv;

  for (std::int64_t i = 0; i < rows * p.D; ++i)
    scratch.q[i] = toFloat(q[i]) * p.scale;
  std::fill(scratch.accumulator.begin(), scratch.accumulator.end(), 0.0f);
  std::fill(scratch.maximum, scratch.maximum + rowsPerBlock, lowest);
  std::fill(scratch.sum, scratch.sum + rowsPerBlock, 0.0f);

  const auto visible = [&](std::int64_t row) { // keys that a row of this block sees
    return p.causal ? std::clamp<std::int64_t>(firstRow + row + p.Skv - p.Sq + 1, 0, p.Skv) : p.Skv;
  };
  const std::int64_t end = visible(rows - 1);
  for (std::int64_t firstKey = 0; firstKey < end; firstKey += keysPerTile) {
    const std::int64_t keys = std::min<std::int64_t>(keysPerTile, p.Skv - firstKey);
    if (keys < keysPerTile)
      std::fill(scratch.keys.begin(), scratch.keys.end(), 0.0f);
    for (std::int64_t c = 0; c < keys; ++c)
      for (std::int64_t d = 0; d < p.D; ++d)
        scratch.keys[d * keysPerTile + c] = toFloat(k[(firstKey + c) * p.D + d]);
    for (std::int64_t i = 0; i < keys * p.Dv; ++i)
      scratch.v[i] = toFloat(v[firstKey * p.Dv + i]);

    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t seen = std::min(keys, visible(row) - firstKey);
      if (seen > 0)
        step(&scratch.q[row * p.D], scratch.keys.data(), scratch.v.data(), p.D, p.Dv, seen, scratch.maximum[row],
             scratch.sum[row], &scratch.accumulator[row * p.Dv]);
    }
  }

  for (std::int64_t row = 0; row < rows; ++row) {
    const float inverse = scratch.sum[row] > 0 ? 1 / scratch.sum[row] : 0;
    for (std::int64_t e = 0; e < p.Dv; ++e)
      store(out[row * p.Dv + e], scratch.accumulator[row * p.Dv + e] * inverse);
  }
}

template <typename T> void allBlocks(const PlainProblem &p) {
  const std::int64_t blocks = (p.Sq + rowsPerBlock - 1) / rowsPerBlock;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    Scratch scratch(p);
    // The last blocks first: under `causal` they are the longest.
    for (std::int64_t i; (i = next++) < p.B * p.H * blocks;)
      block<T>(p, i / blocks / p.H, i / blocks % p.H, (blocks - 1 - i % blocks) * rowsPerBlock, scratch);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < p.threads; ++i)
    others.emplace_back(work);
  work();
  for (std::thread &other : others)
    other.join();
}

} // namespace

void plainLoops(const PlainProblem &problem) {
  switch (problem.type) {
  case PlainType::f32:
    return allBlocks<float>(problem);
  case PlainType::bf16:
    return allBlocks<Bf16>(problem);
  case PlainType::f16:
    return allBlocks<_Float16>(problem);
  }
}

} // namespace tw::bench
