// Matrix products are exact for every operand form and swizzle, against layouts built in another way.
#include "Kernels.h"
#include <catch2/catch.hpp>
#include <cmath>

using namespace tw;
using namespace tw::test;

namespace {

const std::vector<std::string> entries{"product", "warp_product", "matrices"};

struct ProductParams {
  const u32 *a, *b, *fragments;
  float *d;
  u64 descriptorA, descriptorB;
  u32 bytesA, bytesB, stepsA[4], stepsB[4];
  int form;
};

/// A matrix of rows x 64 elements of 2 bytes as CUTLASS lays it out: column blocks of as many bytes as the swizzle has, then
/// Swizzle<bits, 4, 3> on the byte offset.
struct Layout {
  int mode;   // 0 none, 1 128 bytes, 2 64, 3 32
  int rows;
  bool transposed;   // contiguous along rows
  static constexpr int depth = 64;

  [[nodiscard]] int width() const { return mode == 0 ? 16 : 256 >> mode; }
  [[nodiscard]] int lines() const { return transposed ? depth : rows; }
  [[nodiscard]] u32 offset(int row, int k) const {
    const int along = transposed ? row : k, line = transposed ? k : row, perBlock = width() / 2;
    const u32 linear = u32(along / perBlock * lines() * width() + line * width() + along % perBlock * 2);
    const u32 bits = mode == 0 ? 0 : u32(4 - mode);
    return linear ^ ((linear >> 7 & ((1u << bits) - 1)) << 4);
  }
  [[nodiscard]] u32 bytes() const { return u32(((transposed ? rows : depth) + width() / 2 - 1) / (width() / 2) * lines() * width()); }
  [[nodiscard]] u64 descriptor() const {
    const u32 block = u32(lines() * width()), eight = u32(8 * width());
    u32 leading = transposed ? block : mode ? 16 : block, stride = eight;
    if (transposed && mode == 0) {   // the two change their parts
      leading = eight;
      stride = block;
    }
    return u64(leading >> 4) << 16 | u64(stride >> 4) << 32 | u64(mode) << 62;
  }
  [[nodiscard]] u32 step(int s) const {   // from 16 k to the next
    return u32(transposed ? s * 16 * width() : mode == 0 ? s * 2 * rows * 16 : s * 32 / width() * rows * width() + s * 32 % width());
  }
};

struct Form {
  int number, n;
  bool half, transposeA, transposeB, registers;
};
const Form forms[] = {{0, 64, false, false, false, false}, {1, 8, false, false, false, false},  {2, 24, true, false, false, false},
                      {3, 256, true, false, false, false}, {4, 128, false, false, true, false}, {5, 192, true, true, true, false},
                      {6, 64, false, true, false, false},  {7, 64, false, false, false, true},  {8, 176, true, false, false, true},
                      {9, 256, false, false, true, true}};

unsigned short encoded(float value, bool half) {
  if (!half)
    return toBf16(value);
  const _Float16 rounded = _Float16(value);
  unsigned short bits;
  std::memcpy(&bits, &rounded, 2);
  return bits;
}
float decoded(unsigned short bits, bool half) {
  _Float16 value;
  std::memcpy(&value, &bits, 2);
  return half ? float(value) : bf16(bits);
}

/// The largest error of a product, relative to the sum of magnitudes; its reports.
double worstError(const Form &form, int modeA, int modeB, const SimulatorOptions &options, std::string &codes) {
  constexpr int depth = Layout::depth;
  const Layout a{modeA, 64, form.transposeA}, b{modeB, form.n, form.transposeB};
  SimulatedMemory memory;
  auto *imageA = static_cast<unsigned char *>(memory.allocate("a", a.bytes())),
       *imageB = static_cast<unsigned char *>(memory.allocate("b", b.bytes()));
  auto *fragments = static_cast<unsigned short *>(memory.allocate("fragments", 4 * 128 * 16));
  auto *d = static_cast<float *>(memory.allocate("d", std::size_t(64 * form.n * 4)));
  std::vector<float> valuesA(64 * depth), valuesB(std::size_t(form.n * depth));
  Numbers numbers;
  for (int row = 0; row < 64; ++row)
    for (int k = 0; k < depth; ++k) {
      const unsigned short bits = encoded(numbers.next(), form.half);
      valuesA[std::size_t(row * depth + k)] = decoded(bits, form.half);
      std::memcpy(imageA + a.offset(row, k), &bits, 2);
      // Register 0: rows 0..7, k 0..7; 1: rows 8..15; 2: k 8..15; 3: both.
      const int thread = row / 16 * 32 + row % 8 * 4 + k % 8 / 2, word = k % 16 / 8 * 2 + row % 16 / 8;
      fragments[((k / 16 * 128 + thread) * 4 + word) * 2 + k % 2] = bits;
    }
  for (int column = 0; column < form.n; ++column)
    for (int k = 0; k < depth; ++k) {
      const unsigned short bits = encoded(numbers.next(), form.half);
      valuesB[std::size_t(column * depth + k)] = decoded(bits, form.half);
      std::memcpy(imageB + b.offset(column, k), &bits, 2);
    }
  ProductParams p{reinterpret_cast<u32 *>(imageA),
                  reinterpret_cast<u32 *>(imageB),
                  reinterpret_cast<u32 *>(fragments),
                  d,
                  a.descriptor(),
                  b.descriptor(),
                  a.bytes(),
                  b.bytes(),
                  {},
                  {},
                  form.number};
  for (int s = 0; s < 4; ++s) {
    p.stepsA[s] = a.step(s);
    p.stepsB[s] = b.step(s);
  }
  const auto result = simulate(kernel("products.cu", entries, "product"),
                               {{1}, {128}, 1024 + (a.bytes() + 1023) / 1024 * 1024 + b.bytes(), bytesOf(p)}, memory, options);
  codes = result.text();
  double worst = 0;
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < form.n; ++column) {
      double sum = 0, size = 1e-6;
      for (int k = 0; k < depth; ++k) {
        const double term = double(valuesA[std::size_t(row * depth + k)]) * valuesB[std::size_t(column * depth + k)];
        sum += term;
        size += std::fabs(term);
      }
      const double error = std::fabs(sum - d[row * form.n + column]) / size;
      if (!(error <= worst))   // NaN too
        worst = error;
    }
  return worst;
}

}   // namespace

TEST_CASE("wgmma: every form of operands under every pair of swizzles") {
  SimulatorOptions random;
  random.products = Asynchrony::random;
  random.order = ThreadOrder::random;
  int tried = 0;
  for (const Form &form : forms)
    for (int modeA = 0; modeA < (form.registers ? 1 : 4); ++modeA)
      for (int modeB = 0; modeB < 4; ++modeB) {
        const Layout b{modeB, form.n, form.transposeB};
        if (form.transposeB && form.n % (b.width() / 2))
          continue;
        std::string reports;
        CAPTURE(form.number, form.n, modeA, modeB, reports);
        const double worst = worstError(form, modeA, modeB, ++tried % 2 ? SimulatorOptions() : random, reports);
        CAPTURE(worst);
        CHECK(reports.empty());
        CHECK(worst < 1e-5);
      }
  CHECK(tried == 7 * 16 + 3 * 4);
}

TEST_CASE("mma.sync, ldmatrix, cp.async and bulk reductions agree with plain loops, and each wait and fence is needed") {
  struct Params {
    const unsigned short *a, *b;
    float *out;
    int half, bug;
  };
  for (int half = 0; half < 2; ++half)
    for (int bug = 0; bug < 3; ++bug) {
      SimulatedMemory memory;
      auto *a = static_cast<unsigned short *>(memory.allocate("a", 512)), *b = static_cast<unsigned short *>(memory.allocate("b", 256));
      auto *out = static_cast<float *>(memory.allocate("out", 512));
      for (int i = 0; i < 256; ++i)
        a[i] = encoded(float(i * 7 % 16 - 8), half);
      for (int i = 0; i < 128; ++i)
        b[i] = encoded(float(i * 5 % 16 - 8), half);
      std::fill_n(out, 128, 1.f);
      const Params p{a, b, out, half, bug};
      const auto result = simulate(kernel("products.cu", entries, "warp_product"), {{1}, {32}, 2048, bytesOf(p)}, memory);
      int wrong = 0;
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j) {
          float sum = 0;
          for (int k = 0; k < 16; ++k)
            sum += decoded(a[i * 16 + k], half) * decoded(b[j * 16 + k], half);
          wrong += out[i * 8 + j] != 2 * sum + 1;
        }
      INFO(result.text());
      CAPTURE(half, bug, wrong);
      if (bug == 0) {
        CHECK(result.clean());
        CHECK(wrong == 0);
      } else if (bug == 1)
        CHECK(wrong > 0);
      else
        CHECK(result.codes() == "PROXY");
    }
}

TEST_CASE("stmatrix, ldmatrix, quad_transpose and packing move every element where PTX says, and pairs multiply") {
  SimulatedMemory memory;
  struct Params {
    u32 *out;
  } p{static_cast<u32 *>(memory.allocate("out", 32 * 28 * 4))};
  const auto result = simulate(kernel("products.cu", entries, "matrices"), {{1}, {32}, 512, bytesOf(p)}, memory);
  INFO(result.text());
  REQUIRE(result.clean());
  // Lane l's word of matrix m holds elements (l / 4, 2 (l % 4)) and the next. Every element was numbered by its lane and word.
  auto element = [&](int matrix, int row, int column) { return u32((row * 4 + column / 2) * 8 + matrix * 2 + column % 2); };
  auto word = [&](u32 low, u32 high) { return low | high << 16; };
  int wrong = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const u32 *out = p.out + lane * 28;
    const int row = lane / 4, column = 2 * (lane % 4);
    for (int m = 0; m < 4; ++m) {
      const u32 plain = word(element(m, row, column), element(m, row, column + 1));
      const u32 transposed = word(element(m, column, row), element(m, column + 1, row));
      wrong += out[m] != plain;
      wrong += out[4 + m] != transposed;
      wrong += out[12 + m] != transposed;
      wrong += m < 2 && out[8 + m] != plain;
      wrong += m < 2 && out[10 + m] != transposed;
      // Word j of lane l is word l of lane j of the quad.
      const u32 from = u32((lane / 4 * 4 + m) * 8 + lane % 4 * 2);
      wrong += out[16 + m] != word(from, from + 1);
    }
  }
  CHECK(wrong == 0);
  CHECK(p.out[20] == (0x3f80u | 0xc040u << 16));   // 1 + 2^-8 is half way: to even
  CHECK(p.out[21] == (0x3c01u | 0x7bffu << 16));
  float sums[2];
  std::memcpy(sums, p.out + 22, 8);
  CHECK(sums[0] == -2.f);
  CHECK(sums[1] == 65504.f + 1.0009765625f);
  CHECK(p.out[24] == 0x00004060);
  CHECK(p.out[25] == 0x00004300);
  CHECK(p.out[26] == 0x7fff0000);
  CHECK(p.out[27] == 0x7fff0000);
}
