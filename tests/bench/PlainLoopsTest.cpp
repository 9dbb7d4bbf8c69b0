// The peer is right: a benchmark against a wrong program would mean nothing.
#include "plain_loops.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

using namespace tw::bench;

namespace {

/// Words of one element type, and the same values as doubles.
struct Values {
  std::vector<std::uint16_t> words;
  std::vector<float> floats;
  PlainType type;

  Values(PlainType type, std::size_t size) : words(size), floats(size), type(type) {}

  void set(std::size_t i, float x) {
    floats[i] = x;
    if (type == PlainType::bf16)
      words[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
    else
      words[i] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(x));
  }
  double get(std::size_t i) const {
    if (type == PlainType::f32)
      return floats[i];
    if (type == PlainType::bf16)
      return std::bit_cast<float>(std::uint32_t{words[i]} << 16);
    return static_cast<float>(std::bit_cast<_Float16>(words[i]));
  }
  void *data() { return type == PlainType::f32 ? static_cast<void *>(floats.data()) : words.data(); }
};

/// The largest error of plainLoops against softmax written out in double, beyond what rounding an output to its type
/// may cost: `halfUnit` of its value.
double largestError(PlainProblem p, double halfUnit = 0) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  Values q(p.type, p.B * p.H * p.Sq * p.D), k(p.type, p.B * p.Hkv * p.Skv * p.D), v(p.type, p.B * p.Hkv * p.Skv * p.Dv),
      out(p.type, p.B * p.H * p.Sq * p.Dv);
  for (Values *values : {&q, &k, &v})
    for (std::size_t i = 0; i < values->floats.size(); ++i)
      values->set(i, normal(random));
  for (std::size_t i = 0; i < out.floats.size(); ++i)
    out.set(i, NAN); // what is not written stays seen
  p.q = q.data(), p.k = k.data(), p.v = v.data(), p.out = out.data();
  plainLoops(p);

  double worst = 0;
  for (std::int64_t row = 0; row < p.B * p.H * p.Sq; ++row) {
    const std::int64_t batch = row / p.Sq / p.H, head = row / p.Sq % p.H;
    const std::int64_t kv = (batch * p.Hkv + head / (p.H / p.Hkv)) * p.Skv;
    const std::int64_t seen = p.causal ? std::clamp<std::int64_t>(row % p.Sq + p.Skv - p.Sq + 1, 0, p.Skv) : p.Skv;
    std::vector<double> weights(seen), expected(p.Dv);
    double highest = -INFINITY, sum = 0;
    for (std::int64_t key = 0; key < seen; ++key) {
      for (std::int64_t d = 0; d < p.D; ++d)
        weights[key] += double(p.scale) * q.get(row * p.D + d) * k.get((kv + key) * p.D + d);
      highest = std::max(highest, weights[key]);
    }
    for (double &weight : weights)
      sum += weight = std::exp(weight - highest);
    for (std::int64_t key = 0; key < seen; ++key)
      for (std::int64_t e = 0; e < p.Dv; ++e)
        expected[e] += weights[key] / sum * v.get((kv + key) * p.Dv + e);
    for (std::int64_t e = 0; e < p.Dv; ++e) {
      const double error = std::abs(out.get(row * p.Dv + e) - expected[e]) - halfUnit * std::abs(expected[e]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

} // namespace

TEST_CASE("plain loops agree with float64 at odd sizes, grouped heads and D ≠ Dv") {
  PlainProblem p{.B = 2, .H = 6, .Hkv = 2, .Sq = 131, .Skv = 203, .D = 40, .Dv = 72};
  p.scale = 1 / std::sqrt(40.0f);
  p.causal = GENERATE(false, true);
  p.threads = GENERATE(1, 3);
  CHECK(largestError(p) < 2e-6);
}

TEST_CASE("plain loops agree with float64 when lengths fill whole tiles") {
  PlainProblem p{.B = 1, .H = 1, .Hkv = 1, .Sq = 128, .Skv = 128, .D = 64, .Dv = 64};
  p.scale = 0.125f;
  p.causal = GENERATE(false, true);
  CHECK(largestError(p) < 2e-6);
}

TEST_CASE("plain loops read and write bf16 and f16") {
  PlainProblem p{.B = 1, .H = 2, .Hkv = 1, .Sq = 65, .Skv = 97, .D = 64, .Dv = 64};
  p.scale = 0.125f;
  p.type = PlainType::bf16;
  CHECK(largestError(p, 0x1p-8) < 2e-6);
  p.type = PlainType::f16;
  CHECK(largestError(p, 0x1p-11) < 2e-6);
}

TEST_CASE("plain loops give 0 to rows that see no key") {
  PlainProblem p{.B = 1, .H = 1, .Hkv = 1, .Sq = 70, .Skv = 3, .D = 16, .Dv = 16};
  p.causal = true;
  CHECK(largestError(p) < 2e-6);
  p.Skv = 0;
  CHECK(largestError(p) == 0);
}
