// Hand-written tile modules through tile-to-host, against loops in double.
#include "TileKernel.h"
#include "TileNames.h"
#include "TileTensor.h"
#include <catch2/catch.hpp>
#include <limits>

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

double tolerance(const std::string &type) {
  return type == "f64" ? 1e-11 : type == "f32" ? 4e-6 : type == "f16" ? 1e-3 : 8e-3;
}

/// The largest |got - want| / (1 + |want|); infinities and NaN must agree.
struct Worst {
  double error = 0;
  void compare(double got, double want) {
    if (std::isnan(want) ? std::isnan(got) : got == want)
      return;
    double e = std::abs(got - want) / (1 + std::abs(want));
    error = std::isfinite(e) ? std::max(error, e) : infinity;
  }
};

struct Lengths { std::int64_t H, Sq, Sk, D, E; };

double weightedSum(const TileKernel &kernel, TileTensor &q, TileTensor &k, TileTensor &v, Lengths n, int block, bool causal) {
  TileTensor o(q.type, {n.H, n.Sq, n.E}), l(q.type == "f64" ? "f64" : "f32", {n.H, n.Sq});
  std::int32_t Sq = n.Sq, Sk = n.Sk;
  double wideScale = 1 / std::sqrt(double(n.D));
  float scale = wideScale;
  kernel.run({q.argument(), k.argument(), v.argument(), o.argument(), l.argument(), &Sq, &Sk,
              q.type == "f64" ? static_cast<void *>(&wideScale) : &scale, nullptr, nullptr},
             {{8, n.H, 1}, {9, n.Sq, block}});
  Worst worst;
  std::vector<double> s(n.Sk), sum(n.E);
  for (std::int64_t h = 0; h < n.H; ++h)
    for (std::int64_t i = 0; i < n.Sq; ++i) {
      std::int64_t seen = causal ? std::clamp<std::int64_t>(i + n.Sk - n.Sq + 1, 0, n.Sk) : n.Sk;
      double top = -infinity, total = 0;
      for (std::int64_t j = 0; j < seen; ++j) {
        s[j] = 0;
        for (std::int64_t d = 0; d < n.D; ++d)
          if (q.get({h, i, d}) != 0)
            s[j] += q.get({h, i, d}) * k.get({h, j, d});
        s[j] *= wideScale;
        top = std::isnan(s[j]) || s[j] > top ? s[j] : top;
      }
      std::fill(sum.begin(), sum.end(), 0);
      for (std::int64_t j = 0; j < seen; ++j) {
        double p = std::exp(s[j] - top);
        total += p;
        for (std::int64_t e = 0; e < n.E; ++e)
          sum[e] += p * v.get({h, j, e});
      }
      for (std::int64_t e = 0; e < n.E; ++e)
        worst.compare(o.get({h, i, e}), total == 0 ? 0 : sum[e] / total);
      worst.compare(l.get({h, i}), top + std::log(total));
    }
  return worst.error;
}
} // namespace

TEST_CASE("a weighted sum is right for every length", "[tile]") {
  std::mt19937 random(1);
  for (bool causal : {false, true}) {
    TileKernel kernel("weighted_sum.mlir", names("f32", 64, 64, 40, 40, causal));
    for (std::int64_t Sq : {0, 1, 2, 15, 16, 17, 63, 65, 127, 129})
      for (std::int64_t Sk : {0, 1, 15, 17, 64, 65, 127, 129}) {
        TileTensor q("f32", {2, Sq, 40}), k("f32", {2, Sk, 40}), v("f32", {2, Sk, 40});
        for (TileTensor *t : {&q, &k, &v})
          t->fill(random);
        INFO("causal " << causal << " Sq " << Sq << " Sk " << Sk);
        CHECK(weightedSum(kernel, q, k, v, {2, Sq, Sk, 40, 40}, 64, causal) < 4e-6);
      }
  }
}

TEST_CASE("a weighted sum is right for every width and type", "[tile]") {
  std::mt19937 random(2);
  for (std::string type : {"f32", "bf16", "f16", "f64"})
    for (int D : {5, 8, 40, 64, 80, 128, 192, 256}) {
      int E = D == 192 ? 128 : D;
      TileKernel kernel("weighted_sum.mlir", names(type, 32, 48, D, E, true));
      std::int64_t Sq = 77, Sk = 131;
      TileTensor q(type, {1, Sq, D}), k(type, {1, Sk, D}), v(type, {1, Sk, E});
      for (TileTensor *t : {&q, &k, &v})
        t->fill(random);
      INFO(type << " D " << D << " scratch " << kernel.scratchBytes);
      CHECK(weightedSum(kernel, q, k, v, {1, Sq, Sk, D, E}, 32, true) < tolerance(type));
    }
}

TEST_CASE("register blocks and vectors of any size give the same", "[tile]") {
  std::mt19937 random(3);
  for (TileShape shape : {TileShape{16, 1, 1}, TileShape{16, 4, 2}, TileShape{32, 4, 3}, TileShape{32, 7, 1}, TileShape{64, 8, 2}}) {
    TileKernel kernel("weighted_sum.mlir", names("f32", 30, 50, 20, 36), shape);
    TileTensor q("f32", {1, 61, 20}), k("f32", {1, 103, 20}), v("f32", {1, 103, 36});
    for (TileTensor *t : {&q, &k, &v})
      t->fill(random);
    INFO("vector bytes " << shape.vectorBytes << " rows " << shape.registerRows << " vectors " << shape.registerVectors);
    CHECK(weightedSum(kernel, q, k, v, {1, 61, 103, 20, 36}, 30, false) < 4e-6);
  }
}

TEST_CASE("memory may have any strides", "[tile]") {
  std::mt19937 random(4);
  for (std::string type : {"f32", "bf16"}) {
    TileKernel kernel("weighted_sum.mlir", names(type, 64, 64, 24, 24));
    std::int64_t Sq = 70, Sk = 90;
    struct Layout { std::vector<std::int64_t> q, k, v; };
    const Layout layouts[] = {
        {{24, 48, 1}, {24, 48, 1}, {24, 48, 1}},                        // heads innermost of rows
        {{24 * Sq, 1, Sq}, {24 * Sk, 1, Sk}, {24 * Sk, 1, Sk}},         // transposed
        {{48 * Sq, 48, 2}, {48 * Sk, 48, 2}, {48 * Sk, 48, 2}},         // every second element
        {{24 * Sq, -24, 1}, {24 * Sk, 24, -1}, {-24 * Sk, -24, -1}},    // backwards
        {{0, 24, 1}, {0, 0, 1}, {24 * Sk, 24, 0}},                      // repeated
    };
    for (const Layout &layout : layouts) {
      TileTensor q(type, {2, Sq, 24}, layout.q), k(type, {2, Sk, 24}, layout.k), v(type, {2, Sk, 24}, layout.v);
      for (TileTensor *t : {&q, &k, &v})
        t->fill(random);
      INFO(type << " layout " << &layout - layouts);
      CHECK(weightedSum(kernel, q, k, v, {2, Sq, Sk, 24, 24}, 64, false) < tolerance(type));
    }
  }
}

TEST_CASE("what a mask hides does not count, whatever it is", "[tile]") {
  std::mt19937 random(5);
  TileKernel kernel("weighted_sum.mlir", names("f32", 64, 64, 16, 16, true));
  std::int64_t S = 100;
  TileTensor q("f32", {1, S, 16}), k("f32", {1, S, 16}), v("f32", {1, S, 16});
  for (TileTensor *t : {&q, &k, &v})
    t->fill(random);
  k.set({0, 90, 3}, NAN);
  v.set({0, 95, 1}, infinity);
  v.set({0, 70, 2}, NAN);
  // rows before 70 see none of these, the reference does not either
  CHECK(weightedSum(kernel, q, k, v, {1, S, S, 16, 16}, 64, true) < 4e-6);
}

TEST_CASE("a product with a bias", "[tile]") {
  std::mt19937 random(6);
  for (std::string type : {"f32", "bf16", "f64"})
    for (bool turned : {false, true}) {
      std::int64_t M = 83, K = 150, N = 37;
      TileKernel kernel("product.mlir", names(type, 32, 64, 1, int(N)));
      TileTensor a(type, {M, K}, turned ? std::vector<std::int64_t>{1, M} : std::vector<std::int64_t>{}),
          b(type, {K, N}, turned ? std::vector<std::int64_t>{1, K} : std::vector<std::int64_t>{});
      std::string compute = type == "f64" ? "f64" : "f32";
      TileTensor bias(compute, {N}), c(compute, {M, N}, turned ? std::vector<std::int64_t>{1, M} : std::vector<std::int64_t>{});
      for (TileTensor *t : {&a, &b, &bias})
        t->fill(random);
      std::int32_t length = K;
      kernel.run({a.argument(), b.argument(), bias.argument(), c.argument(), &length, nullptr}, {{5, M, 32}});
      Worst worst;
      for (std::int64_t i = 0; i < M; ++i)
        for (std::int64_t j = 0; j < N; ++j) {
          double sum = bias.get({j});
          for (std::int64_t k = 0; k < K; ++k)
            sum += a.get({i, k}) * b.get({k, j});
          worst.compare(c.get({i, j}), sum);
        }
      INFO(type << " turned " << turned);
      CHECK(worst.error < (type == "f64" ? 1e-12 : 2e-5));
    }
}

TEST_CASE("sums over rows and columns, counts, a gather", "[tile]") {
  std::mt19937 random(7);
  for (std::string type : {"f32", "f16", "f64"}) {
    std::int64_t M = 50, N = 70, D = 19, K = 36, places = 40;
    TileKernel kernel("row_sums.mlir", names(type, 20, int(K), int(D), 1));
    std::string compute = type == "f64" ? "f64" : "f32";
    TileTensor a(type, {M, D}), b(type, {N, D}), rows(compute, {M}), columns(compute, {K}), counts("i32", {M}), table(compute, {places});
    for (TileTensor *t : {&a, &b, &table})
      t->fill(random);
    std::int32_t length = N;
    double wideLimit = 0.7;
    float limit = 0.7f;
    kernel.run({a.argument(), b.argument(), rows.argument(), columns.argument(), counts.argument(), table.argument(), &length,
                type == "f64" ? static_cast<void *>(&wideLimit) : &limit, nullptr}, {{8, M, 20}});
    Worst worst;
    std::vector<double> sums(K);
    for (std::int64_t i = 0; i < M; ++i) {
      double sum = i + 2 < places ? table.get({i + 2}) : 0, count = 0;
      for (std::int64_t j = 0; j < N; ++j) {
        double s = 0;
        for (std::int64_t d = 0; d < D; ++d)
          s += a.get({i, d}) * b.get({j, d});
        sum += std::abs(s);
        count += s > (type == "f64" ? wideLimit : limit);
        if (j >= K && i >= 40)   // the last item's rows, the last tile's columns
          sums[j - K] += s;
      }
      worst.compare(rows.get({i}), sum);
      worst.compare(counts.get({i}), count);
    }
    for (std::int64_t j = 0; j < K; ++j)
      worst.compare(columns.get({j}), sums[j]);
    INFO(type);
    CHECK(worst.error < (type == "f64" ? 1e-12 : 2e-5));
  }
}

TEST_CASE("tables, turned values, carried values that change places", "[tile]") {
  std::mt19937 random(8);
  for (std::string type : {"f32", "bf16", "f64"}) {
    std::int64_t M = 45, N = 61, D = 21, Q = 20, K = 28;
    auto given = names(type, int(Q), int(K), int(D), 1);
    std::string compute = given["A"];
    given["WIDEN"] = type == compute ? "%nw = arith.addf %n, %zeroScores : !score" : "%nw = arith.extf %n : tensor<$Qx$Kx$T, #qk> to !score";
    if (type == compute)
      given["WIDEN"] = "%zeroScores = arith.constant dense<0.0> : !score\n    " + given["WIDEN"];
    TileKernel kernel("mixed.mlir", given);
    TileTensor x(type, {M, D}), y(type, {N, D}), bias(type, {M, N}), flags("i8", {N}), o(compute, {M, D}), w(compute, {D, M});
    for (TileTensor *t : {&x, &y, &bias})
      t->fill(random, 0.3);
    for (std::int64_t j = 0; j < N; ++j)
      flags.set({j}, j % 3 == 0);
    std::int32_t length = N;
    kernel.run({x.argument(), y.argument(), bias.argument(), flags.argument(), o.argument(), w.argument(), &length, nullptr}, {{7, M, Q}});
    Worst worst;
    for (std::int64_t q0 = 0; q0 < M; q0 += Q) {
      std::vector<double> total(Q * D), u(Q, 0), v(Q, 10);
      double c = 1;
      for (std::int64_t k0 = 0; k0 < N; k0 += K, c /= 2) {
        std::vector<double> t(Q * K), most(K, -infinity);
        for (std::int64_t i = 0; i < Q; ++i)
          for (std::int64_t j = 0; j < K; ++j) {
            bool in = q0 + i < M && k0 + j < N;
            double s = in ? bias.get({q0 + i, k0 + j}) : 0;
            for (std::int64_t d = 0; in && d < D; ++d)
              s += x.get({q0 + i, d}) * y.get({k0 + j, d});
            bool counts = k0 + j >= N || flags.get({k0 + j}) == 0 || (q0 + i) / 7 == (k0 + j) / 7;
            t[i * K + j] = counts ? std::tanh(s) : 0;
            most[j] = std::max(most[j], t[i * K + j] * t[i * K + j]);
          }
        std::swap(u, v);
        for (std::int64_t i = 0; i < Q; ++i)
          for (std::int64_t j = 0; j < K && k0 + j < N; ++j) {
            double value = t[i * K + j] + t[i * K + j] * t[i * K + j] + most[j];
            v[i] += value;
            for (std::int64_t d = 0; d < D; ++d)
              total[i * D + d] += c * value * y.get({k0 + j, d});
          }
      }
      for (std::int64_t i = 0; i < Q && q0 + i < M; ++i)
        for (std::int64_t d = 0; d < D; ++d) {
          worst.compare(o.get({q0 + i, d}), (total[i * D + d] + u[i] - v[i]) * c);
          worst.compare(w.get({d, q0 + i}), o.get({q0 + i, d}));
        }
    }
    INFO(type);
    CHECK(worst.error < (type == "f64" ? 1e-12 : 2e-6));
  }
}
