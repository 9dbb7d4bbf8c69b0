// The least traffic follows Θ(N²d²/M) of FlashAttention's analysis (Dao et al., 2022, theorem 2).
#include "tilewright/schedule/IoAnalysis.h"
#include "tilewright/dsl/Dsl.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tw;

namespace {

constexpr std::int64_t KiB = 1024;

double beyondCompulsory(const char *variant, std::int64_t n, std::int64_t d, std::int64_t sram) {
  const LaunchShape shape{{{"Q", {1, 1, n, d}}, {"K", {1, 1, n, d}}, {"V", {1, 1, n, d}}, {"O", {1, 1, n, d}}, {"lse", {1, 1, n}}}};
  const IoPoint point = leastTraffic(makeVariant(variant), shape, sram);
  CHECK(point.blockWidth > 0);
  return point.bytes - point.compulsory;
}

/// The exponent with which `f` grows from x to factor · x.
double exponent(double before, double after, double factor) { return std::log(after / before) / std::log(factor); }

} // namespace

TEST_CASE("traffic falls as 1 / M, and grows as N² and d²") {
  struct Case {
    const char *variant;
    std::int64_t n;
    std::vector<std::int64_t> srams;
  };
  for (const Case &each : {Case{"plain", 65536, {48 * KiB, 99 * KiB, 227 * KiB}}, Case{"causal", 8192, {48 * KiB}}}) {
    const auto &[variant, n, srams] = each;
    INFO(variant);
    for (std::int64_t sram : srams)
      for (std::int64_t d : {64, 128}) {
        const double here = beyondCompulsory(variant, n, d, sram);
        CHECK(exponent(here, beyondCompulsory(variant, n, d, 2 * sram), 2) == Approx(-1).margin(0.05));
        CHECK(exponent(here, beyondCompulsory(variant, 2 * n, d, sram), 2) == Approx(2).margin(0.05));
        CHECK(exponent(here, beyondCompulsory(variant, n, 2 * d, sram), 2) == Approx(2).margin(0.1));
      }
  }
}

TEST_CASE("the constant is that of the tiles: six bytes of Q and O a row and element, K and V read by each block") {
  const double n = 65536, d = 128, sram = 227 * KiB;
  const double rows = sram / (6 * d);                                  // bf16 Q and f32 accumulator; K and V one row at a time
  CHECK(beyondCompulsory("plain", std::int64_t(n), std::int64_t(d), std::int64_t(sram)) == Approx(n / rows * n * 2 * d * 2).epsilon(0.1));
}

TEST_CASE("what fits as a whole is moved once, and what cannot fit says so") {
  CHECK(beyondCompulsory("plain", 64, 64, 227 * KiB) == 0);
  const LaunchShape shape{{{"Q", {1, 1, 64, 256}}, {"K", {1, 1, 64, 256}}, {"V", {1, 1, 64, 256}}}};
  const IoPoint none = leastTraffic(makeVariant("plain", {.lse = false}), shape, 512);
  CHECK(none.blockWidth == 0);
  CHECK(std::isinf(none.bytes));
}
