// A whole kernel, as hand-written ones are: right at every setting and at odd sizes; its planted bugs are found.
#include "Kernels.h"
#include <catch2/catch.hpp>
#include <algorithm>
#include <cmath>

using namespace tw;
using namespace tw::test;

namespace {

struct GemmParams {
  TMap a, b, c;
  int K, bug;
};

struct Outcome {
  SimulationResult result;
  int wrong = 0;
};

TMap map(void *data, u64 columns, u64 rows, u32 boxRows) {
  TMap map;
  const std::uint64_t dimensions[] = {columns, rows}, strides[] = {columns * 2};
  const u32 box[] = {64, boxRows}, ones[] = {1, 1};
  REQUIRE(encodeTensorMap(&map, MapElement::bf16, 2, data, dimensions, strides, box, ones, 0, 3, 0, 0) == "");
  return map;
}

Outcome gemm(int M, int N, int K, int bug, const SimulatorOptions &options) {
  SimulatedMemory memory;
  auto allocate = [&](const char *name, int elements) { return static_cast<unsigned short *>(memory.allocate(name, std::size_t(elements * 2))); };
  unsigned short *a = allocate("a", M * K), *b = allocate("b", K * N), *c = allocate("c", M * N);
  Numbers numbers;
  std::generate_n(a, M * K, [&] { return toBf16(numbers.next()); });
  std::generate_n(b, K * N, [&] { return toBf16(numbers.next()); });
  const GemmParams p{map(a, u64(K), u64(M), 128), map(b, u64(N), u64(K), 64), map(c, u64(N), u64(M), 128), K, bug};
  const u32 sharedBytes = 3 * (128 * 64 * 2 + 64 * 64 * 2) + 128 * 64 * 2 + 48 + 1024;
  static const std::vector<std::string> entries{"gemm"};
  Outcome outcome{
      simulate(kernel("gemm.cu", entries, "gemm"), {{u32(M + 127) / 128, u32(N + 63) / 64}, {384}, sharedBytes, bytesOf(p)}, memory, options)};
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double sum = 0;
      for (int k = 0; k < K; ++k)
        sum += double(bf16(a[i * K + k])) * bf16(b[k * N + j]);
      outcome.wrong += !(std::fabs(bf16(c[i * N + j]) - sum) <= 0.005 * (1 + std::fabs(sum)));
    }
  return outcome;
}

}   // namespace

TEST_CASE("a warp-specialised GEMM is right and clean") {
  int setting = 0;
  for (auto &options : simulatorSettings(3)) {
    const bool odd = setting++ % 2;
    const Outcome outcome = odd ? gemm(200, 72, 328, 0, options) : gemm(128, 64, 320, 0, options);
    INFO(outcome.result.text());
    CHECK(outcome.result.clean());
    CHECK(outcome.wrong == 0);
    CHECK(outcome.result.statistics.products > 0);
  }
}

TEST_CASE("bugs planted in a warp-specialised GEMM are found") {
  const char *codes[] = {"", "RACE-RAW", "RACE-WA", "", "PROXY", "RACE-RAW", "STORE-UNWAITED"};
  for (int bug = 1; bug <= 6; ++bug) {
    std::string reports;
    int wrong = 0;
    for (auto &options : simulatorSettings(1)) {
      const Outcome outcome = gemm(128, 64, 320, bug, options);
      reports += outcome.result.text();
      wrong += outcome.wrong;
    }
    CAPTURE(bug, reports);
    if (bug == 3)   // a wrong swizzle is an order of elements, not a rule
      CHECK(wrong > 0);
    else
      CHECK_THAT(reports, Catch::Contains(std::string(codes[bug])));
  }
}
