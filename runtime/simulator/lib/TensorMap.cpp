#include "TensorMap.h"
#include "GlobalMemory.h"
#include "Phrase.h"
#include "Report.h"
#include <bit>
#include <cstring>

namespace tw {
namespace simulated {
namespace {

constexpr std::uint64_t encodedMagic = 0x51D0A0517E45E4ull;
constexpr std::uint32_t swizzleBytes[] = {0, 32, 64, 128};

std::uint8_t bytesOf(MapElement element) {
  static constexpr std::uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[int(element)];
}

}   // namespace

std::uint32_t TensorMap::boxBytes() const {
  std::uint32_t bytes = elementBytes;
  for (int i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

Address swizzled(Address address, int swizzle) { return address ^ (((address >> 7) & ((1u << swizzle) - 1)) << 4); }

const TensorMap &tensorMapAt(const void *address, int rank, const char *what, int line) {
  const auto &map = *static_cast<const TensorMap *>(address);
  if (reinterpret_cast<std::uintptr_t>(address) & 63)
    stop("MAP", line, phrase("{} at line {}: the tensor map is not aligned to 64 bytes", what, line));
  if (map.magic != encodedMagic)
    stop("MAP", line, phrase("{} at line {}: there is no encoded tensor map at this address", what, line));
  if (map.rank != rank)
    stop("MAP", line, phrase("{} at line {}: an instruction of rank {} with a tensor map of rank {}", what, line, rank, map.rank));
  if (map.swizzle && map.box[0] * map.elementBytes != swizzleBytes[map.swizzle])
    stop("MAP", line,
         phrase("{} at line {}: a box row of {} bytes under a swizzle of {} is not simulated", what, line, map.box[0] * map.elementBytes,
                swizzleBytes[map.swizzle]));
  return map;
}

void checkBox(const TensorMap &map, const int *at, const char *what, int line) {
  if (const std::int64_t bytes = std::int64_t(at[0]) * map.elementBytes; bytes % 16)
    stop("ALIGN", line, phrase("{} at line {}: the first coordinate is {}, {} bytes into the tensor's rows; it must be a multiple of 16 bytes", what, line, at[0], bytes));
  visitBox(map, 0, at, [&](const Piece &piece) {
    if (piece.inside) {
      const int first = std::countr_zero(piece.inside), last = 31 - std::countl_zero(piece.inside);
      checkGlobalRange(piece.global + first, last + 1 - first, what, line);
    }
  });
}

}   // namespace simulated

std::string encodeTensorMap(void *to, MapElement element, std::uint32_t rank, void *address, const std::uint64_t *dimensions,
                            const std::uint64_t *strides, const std::uint32_t *box, const std::uint32_t *elementStrides, int interleave, int swizzle,
                            int, int outOfBoundsFill) {
  using namespace simulated;
  if (rank < 1 || rank > 5)
    return phrase("rank {}; it must be from 1 to 5", rank);
  if (reinterpret_cast<std::uintptr_t>(to) & 63)
    return "the map is not aligned to 64 bytes";
  if (reinterpret_cast<std::uintptr_t>(address) & 15)
    return "the tensor is not aligned to 16 bytes";
  if (interleave || outOfBoundsFill)
    return "interleaved layouts and NaN outside the tensor are not simulated";
  if (swizzle < 0 || swizzle > 3)
    return phrase("swizzle {}; it must be from 0 to 3", swizzle);
  TensorMap map{};
  map.magic = encodedMagic;
  map.base = static_cast<std::byte *>(address);
  map.rank = std::uint8_t(rank);
  map.swizzle = std::uint8_t(swizzle);
  map.element = element;
  map.elementBytes = bytesOf(element);
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (dimensions[i] < 1 || dimensions[i] > 0x100000000ull)
      return phrase("dimension {} has {} elements; it must have from 1 to 2^32", i, dimensions[i]);
    if (box[i] < 1 || box[i] > 256)
      return phrase("dimension {} of the box has {} elements; it must have from 1 to 256", i, box[i]);
    if (elementStrides[i] != 1)
      return phrase("element stride {} of dimension {} is not simulated; it must be 1", elementStrides[i], i);
    map.dimensions[i] = std::uint32_t(std::min<std::uint64_t>(dimensions[i], 0xffffffffu));
    map.box[i] = std::uint16_t(box[i]);
  }
  for (std::uint32_t i = 0; i + 1 < rank; ++i) {
    if (strides[i] % 16 || strides[i] >= 1ull << 40)
      return phrase("stride {} of dimension {}; it must be a multiple of 16 bytes below 2^40", strides[i], i + 1);
    map.strides[i] = strides[i];
  }
  const std::uint32_t rowBytes = box[0] * map.elementBytes;
  if (rowBytes % 16)
    return phrase("a box row has {} bytes; they must be a multiple of 16", rowBytes);
  if (swizzle && rowBytes > swizzleBytes[swizzle])
    return phrase("a box row has {} bytes, more than the swizzle of {}", rowBytes, swizzleBytes[swizzle]);
  std::memset(to, 0, 128);
  std::memcpy(to, &map, sizeof map);
  return "";
}

}   // namespace tw
