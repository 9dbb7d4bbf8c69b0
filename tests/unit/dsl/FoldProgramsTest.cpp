// Programs that are folds and not attention, against plain loops.
#include "programs/Programs.h"
#include "support/Arrays.h"
#include "support/Compare.h"
#include <catch2/catch.hpp>

using namespace tw;
using namespace tw::tests;

namespace {

const std::int64_t tokens = 133, vocabulary = 70, depth = 24;

struct Linear {
  Array X = randomArray({tokens, depth}, 1), W = randomArray({vocabulary, depth}, 2);
  double z(std::int64_t t, std::int64_t v) const {
    double sum = 0;
    for (std::int64_t d = 0; d < depth; ++d)
      sum += X.data[std::size_t(t * depth + d)] * W.data[std::size_t(v * depth + d)];
    return sum;
  }
};

/// For each token, a number made by `f` of the token's row of X·Wᵀ.
template <class F> Array perToken(F f) {
  Array out = zeros({tokens});
  for (std::int64_t t = 0; t < tokens; ++t)
    out.data[std::size_t(t)] = f(t);
  return out;
}

void check(const Program &program, const std::map<std::string, Array> &inputs, const std::map<std::string, Array> &expected) {
  for (std::int64_t width : {0, 1, 16}) {
    const auto result = evaluate(program, {inputs, {{"scale", 0.25}}, {}, width});
    for (const auto &[name, array] : expected) {
      const Comparison c = compare(result.at(name), array, {1e-11, 1e-12});
      INFO(program.name << " " << name << ": " << c.summary);
      CHECK(c.ok);
    }
  }
}

} // namespace

TEST_CASE("a matrix product as a fold") {
  const Array X = randomArray({37, 29}, 1), W = randomArray({29, 11}, 2);
  Array Y = zeros({37, 11});
  for (std::size_t t = 0; t < 37; ++t)
    for (std::size_t v = 0; v < 29; ++v)
      for (std::size_t e = 0; e < 11; ++e)
        Y.data[t * 11 + e] += X.data[t * 29 + v] * W.data[v * 11 + e];
  check(programs::gemm(), {{"X", X}, {"W", W}}, {{"Y", Y}});
}

TEST_CASE("row sums of |X·Wᵀ|") {
  const Linear l;
  check(programs::rowSumsOfAbs(), {{"X", l.X}, {"W", l.W}}, {{"R", perToken([&](std::int64_t t) {
          double sum = 0;
          for (std::int64_t v = 0; v < vocabulary; ++v)
            sum += std::abs(l.z(t, v));
          return sum;
        })}});
}

TEST_CASE("a linear layer fused with log-sum-exp") {
  const Linear l;
  auto best = [&](std::int64_t t) {
    double top = -INFINITY;
    for (std::int64_t v = 0; v < vocabulary; ++v)
      top = std::max(top, l.z(t, v));
    return top;
  };
  auto lse = [&](std::int64_t t) {
    double total = 0;
    for (std::int64_t v = 0; v < vocabulary; ++v)
      total += std::exp(l.z(t, v) - best(t));
    return best(t) + std::log(total);
  };
  check(programs::linearLogSumExp(), {{"X", l.X}, {"W", l.W}}, {{"lse", perToken(lse)}, {"best", perToken(best)}});
}

TEST_CASE("three sums under different masks") {
  const Linear l;
  auto a = [&](std::int64_t t) {
    double sum = 0;
    for (std::int64_t v = 0; v < vocabulary; ++v)
      sum += v <= t ? l.z(t, v) : 1;
    return sum;
  };
  auto b = [&](std::int64_t t) {
    double sum = 0;
    for (std::int64_t v = 0; v < vocabulary; ++v)
      sum += t - v < 90 ? std::abs(l.z(t, v)) : 0;
    return sum;
  };
  auto c = [&](std::int64_t t) {
    double top = -INFINITY;
    for (std::int64_t v = 0; v < vocabulary; ++v)
      top = std::max(top, l.z(t, v));
    return top;
  };
  check(programs::sumsUnderMasks(), {{"X", l.X}, {"W", l.W}}, {{"A", perToken(a)}, {"B", perToken(b)}, {"C", perToken(c)}});
}

TEST_CASE("sigmoid weights") {
  const std::int64_t H = 4, Hkv = 2, Sq = 19, Skv = 26, D = 8;
  const Array Q = randomArray({1, H, Sq, D}, 1), K = randomArray({1, Hkv, Skv, D}, 2), V = randomArray({1, Hkv, Skv, D}, 3);
  for (bool bottomRight : {false, true}) {
    Array O = zeros({1, H, Sq, D});
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t i = 0; i < Sq; ++i)
        for (std::int64_t j = 0; j < Skv; ++j) {
          if (bottomRight && j > i + Skv - Sq)
            continue;
          double s = 0;
          for (std::int64_t d = 0; d < D; ++d)
            s += Q.data[std::size_t((h * Sq + i) * D + d)] * K.data[std::size_t((h / 2 * Skv + j) * D + d)];
          for (std::int64_t e = 0; e < D; ++e)
            O.data[std::size_t((h * Sq + i) * D + e)] += V.data[std::size_t((h / 2 * Skv + j) * D + e)] / (1 + std::exp(3 - 0.25 * s));
        }
    check(programs::sigmoidWeights(Type::bf16, bottomRight), {{"Q", Q}, {"K", K}, {"V", V}}, {{"O", O}});
  }
}
