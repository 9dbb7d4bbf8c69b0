// What a tensor map says, as bytes that a kernel's threads read themselves.
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/device/TensorMap.h"
#include <cstring>
#include <limits>
#include <string>

namespace tw::device {
namespace {

struct SoftwareMap {
  std::uint64_t address;
  std::int64_t strides[5];
  std::int32_t sizes[5];
  std::byte rest[60];
};
static_assert(sizeof(SoftwareMap) == tensorMapBytes && offsetof(SoftwareMap, strides) == 8 && offsetof(SoftwareMap, sizes) == 48);

}   // namespace

void softwareMap(const TensorMap &map, void *out) {
  SoftwareMap encoded{.address = map.address, .strides = {}, .sizes = {1, 1, 1, 1, 1}, .rest = {}};
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    if (map.sizes[d] > std::uint64_t(std::numeric_limits<std::int32_t>::max()))
      throw RuntimeError("dimension " + std::to_string(d) + " of a tensor map has " + std::to_string(map.sizes[d]) +
                         " elements; kernels that copy without a copy engine count them in 31 bits");
    encoded.strides[d] = static_cast<std::int64_t>(map.strides[d]);
    encoded.sizes[d] = static_cast<std::int32_t>(map.sizes[d]);
  }
  std::memcpy(out, &encoded, sizeof encoded);
}

}   // namespace tw::device
