// A tensor map as the simulator encodes it, and the walk over one of its boxes.
#pragma once
#include "Machine.h"

namespace tw::simulated {

struct TensorMap {
  std::uint64_t magic;
  std::byte *base;
  std::uint64_t strides[4];   // bytes, of dimensions 1 on
  std::uint32_t dimensions[5];
  std::uint16_t box[5];
  std::uint8_t rank, swizzle, elementBytes;
  MapElement element;

  [[nodiscard]] std::uint32_t boxBytes() const;
};
static_assert(sizeof(TensorMap) <= 128);

/// The map at this address, of this rank; stops where there is none, or where its swizzle and box cannot be simulated.
[[nodiscard]] const TensorMap &tensorMapAt(const void *map, int rank, const char *what, int line);

/// Address bits 4.. are permuted by bits 7..: over 32, 64 or 128 bytes for swizzle 1, 2, 3.
[[nodiscard]] Address swizzled(Address address, int swizzle);

/// 16 bytes of a box: where they are in global memory, at which shared address, and which of them lie inside the tensor, as a mask.
struct Piece {
  std::byte *global;
  Address shared;
  std::uint32_t inside;
};
/// Calls `visit` for every piece of the box at coordinates `at`, in the order of shared memory before swizzling.
template <class Visit> void visitBox(const TensorMap &map, Address shared, const int *at, Visit visit) {
  std::uint32_t rows = 1;
  for (int i = 1; i < map.rank; ++i)
    rows *= map.box[i];
  const std::uint32_t rowBytes = map.box[0] * map.elementBytes;
  for (std::uint32_t row = 0; row < rows; ++row) {
    bool inside = true;
    std::byte *global = map.base;
    std::uint32_t rest = row;
    for (int i = 1; i < map.rank; ++i) {
      const std::int64_t x = std::int64_t(at[i]) + rest % map.box[i];
      rest /= map.box[i];
      inside &= x >= 0 && x < std::int64_t(map.dimensions[i]);
      global += x * std::int64_t(map.strides[i - 1]);
    }
    for (std::uint32_t byte = 0; byte < rowBytes; byte += 16) {
      const std::int64_t first = std::int64_t(at[0]) + byte / map.elementBytes;
      Piece piece{global + first * map.elementBytes, swizzled(shared + row * rowBytes + byte, map.swizzle), 0};
      for (int k = 0; inside && k < 16; ++k) {
        const std::int64_t x = first + k / map.elementBytes;
        piece.inside |= std::uint32_t(x >= 0 && x < std::int64_t(map.dimensions[0])) << k;
      }
      visit(piece);
    }
  }
}

/// Stops where any byte of the box that lies inside the tensor lies outside the launch's memory.
void checkBox(const TensorMap &map, const int *at, const char *what, int line);

}   // namespace tw::simulated
