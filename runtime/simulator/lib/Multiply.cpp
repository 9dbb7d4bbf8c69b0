// The arithmetic of a product: operands to floats, and 16 rows of d += a . b.
#include "Elements.h"
#include "Phrase.h"
#include "Products.h"
#include "Report.h"
#include <algorithm>
#include <array>

namespace tw::simulated {
namespace {

constexpr int depth = 16, maximumN = 256;
using RowsOfA = std::array<float, 16 * depth>;         // [16][depth]
using RowsOfB = std::array<float, depth * maximumN>;   // [depth][maximumN]

/// A table, since the conversion of half precision is a call on most processors.
const std::array<float, 65536> &valuesOf(int kind) {
  static const auto tables = [] {
    std::array<std::array<float, 65536>, 2> tables;
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      tables[0][bits] = bf16Value(bits);
      tables[1][bits] = f16Value(bits);
    }
    return tables;
  }();
  return tables[std::size_t(kind)];
}

void readRegisters(const Warp &warp, const Product &product, RowsOfA &a) {
  auto &values = valuesOf(product.kind);
  for (int lane = 0; lane < 32; ++lane)
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t word = *product.registers[lane][j];
      if (word != product.issued[lane][j])
        report("WGMMA-REG", product.line, j,
               phrase("register {} of operand a of the wgmma at line {} was written while it was in flight (block {} warp {} lane {})", j,
                      product.line, warp.block->index, warp.id, lane));
      float *to = &a[std::size_t(((lane >> 2) + (j & 1) * 8) * depth + (lane & 3) * 2 + (j >> 1) * 8)];
      to[0] = values[word & 0xffff];
      to[1] = values[word >> 16];
    }
}

/// store(row, k, value) for the elements of rows begin..end.
template <class Store>
void readOperand(const Warp &warp, const Operand &operand, int kind, int begin, int end, const char *what, int line, Store store) {
  static std::vector<OperandPiece> pieces;
  auto &values = valuesOf(kind);
  findPieces(operand, begin, end, what, line, pieces);
  for (auto &piece : pieces) {
    std::uint16_t elements[8];
    std::copy_n(warp.block->shared.get() + piece.offset, 16, reinterpret_cast<unsigned char *>(elements));
    for (int e = 0; e < 8; ++e)
      store(piece.row + (operand.transposed ? e : 0), piece.k + (operand.transposed ? 0 : e), values[elements[e]]);
  }
}

inline __attribute__((always_inline)) void multiplyAny(float *__restrict d, const float *__restrict a, const float *__restrict b, int n) {
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < depth; ++k) {
      const float factor = a[row * depth + k];
      for (int column = 0; column < n; ++column)
        d[row * n + column] += factor * b[k * maximumN + column];
    }
}

void multiplyPlain(float *d, const float *a, const float *b, int n) { multiplyAny(d, a, b, n); }
#if defined(__x86_64__)
__attribute__((target("avx2"), optimize("O3"))) void multiplyWide(float *d, const float *a, const float *b, int n) { multiplyAny(d, a, b, n); }
#endif

void multiply(float *d, const float *a, const float *b, int n) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2");
  if (wide)
    return multiplyWide(d, a, b, n);
#endif
  multiplyPlain(d, a, b, n);
}

}   // namespace

void executeProduct(Warp &warp) {
  static RowsOfA a;
  static RowsOfB b;
  const std::unique_ptr<Product> product = std::move(warp.products.front());
  warp.products.pop_front();
  const int first = (warp.id & 3) * 16;
  if (product->registersA)
    readRegisters(warp, *product, a);
  else
    readOperand(warp, product->a, product->kind, first, first + 16, "wgmma a", product->line,
                [&](int row, int k, float value) { a[std::size_t((row - first) * depth + k)] = value; });
  readOperand(warp, product->b, product->kind, 0, product->n, "wgmma b", product->line,
              [&](int column, int k, float value) { b[std::size_t(k * maximumN + column)] = value; });
  auto &values = product->accumulator->values;
  if (!product->accumulates)
    std::fill(values.begin(), values.end(), 0.f);
  multiply(values.data(), a.data(), b.data(), product->n);
  --product->accumulator->inFlight;
}

}   // namespace tw::simulated
