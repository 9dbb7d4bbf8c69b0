// A model launches with the same few tensors again and again, so each thread remembers the maps that it encoded.
#include "EncodeMap.h"
#include "DriverLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Gpu.h"
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace tw::cuda {
namespace {

/// CUtensorMapDataType.
int typeCode(device::Element element) {
  switch (element) {
  case device::Element::boolean: return 0;
  case device::Element::i32: return 3;
  case device::Element::i64: return 5;
  case device::Element::f16: return 6;
  case device::Element::f32: return 7;
  case device::Element::f64: return 8;
  case device::Element::bf16: return 9;
  }
  return 0;
}

/// CUtensorMapSwizzle.
int swizzleCode(int bytes) {
  switch (bytes) {
  case 0: return 0;
  case 32: return 1;
  case 64: return 2;
  case 128: return 3;
  default: throw RuntimeError(fmt::format("a kernel's facts ask for a swizzle over {} bytes, which no tensor map has; clear the cache", bytes));
  }
}

void encode(const device::TensorMap &map, void *out) {
  constexpr std::uint32_t steps[5] = {1, 1, 1, 1, 1};
  constexpr int noInterleave = 0, promoteTo256Bytes = 3, fillWithZeros = 0;
  // Encoding needs a context that is current, though nothing of it: the thread's own, or that of the GPU where the tensor is.
  Context own = nullptr;
  std::optional<Current> current;
  if (requireDriver().currentContext(&own) != 0 || !own)
    current.emplace(residence(map.address).value_or(Residence()).ordinal);
  const Result result =
      requireDriver().encodeTiled(out, typeCode(map.element), map.rank, reinterpret_cast<void *>(map.address), map.sizes.data(), map.strides.data() + 1, map.box.data(), steps,
                                  noInterleave, swizzleCode(map.swizzle), promoteTo256Bytes, fillWithZeros);
  if (result)
    check(result, "cuTensorMapEncodeTiled",
          fmt::format("describing a tensor at {:#x} to the GPU, sizes [{}], strides in bytes [{}], box [{}], fastest first", map.address,
                      fmt::join(map.sizes.begin(), map.sizes.begin() + map.rank, ", "), fmt::join(map.strides.begin(), map.strides.begin() + map.rank, ", "),
                      fmt::join(map.box.begin(), map.box.begin() + map.rank, ", ")));
}

struct Entry {
  device::TensorMap map;
  alignas(device::tensorMapBytes) std::byte encoded[device::tensorMapBytes];
};
constexpr std::size_t entries = 256;   // 68 KB a thread that launches

/// Mixes what differs from map to map: addresses by their upper bits too, lengths and strides.
std::size_t slotOf(const device::TensorMap &map) {
  std::uint64_t hash = map.address ^ (std::uint64_t(map.box[1]) << 48);
  for (std::uint32_t d = 1; d < map.rank; ++d)
    hash = (hash ^ map.sizes[d] ^ (map.strides[d] << 24)) * 0x9e3779b97f4a7c15ull;
  hash *= 0x9e3779b97f4a7c15ull;
  return static_cast<std::size_t>(hash >> 56) % entries;
}

} // namespace

void encodeMap(const device::TensorMap &map, void *out) {
  thread_local std::unique_ptr<Entry[]> memory = std::make_unique<Entry[]>(entries);
  Entry &entry = memory[slotOf(map)];
  if (!(entry.map == map)) {
    entry.map = {};
    encode(map, entry.encoded);
    entry.map = map;
  }
  std::memcpy(out, entry.encoded, device::tensorMapBytes);
}

} // namespace tw::cuda
