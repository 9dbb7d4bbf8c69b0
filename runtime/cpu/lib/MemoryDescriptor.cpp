#include "tilewright/cpu/MemoryDescriptor.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <string>

namespace tw {

MemoryDescriptor::MemoryDescriptor(void *data, std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
  if (sizes.size() != strides.size() || sizes.size() > maxRank)
    throw RuntimeError("a tensor of " + std::to_string(sizes.size()) + " lengths and " + std::to_string(strides.size()) +
                       " strides cannot be described; both must be as many, and at most " + std::to_string(maxRank));
  words_[0] = words_[1] = reinterpret_cast<std::int64_t>(data);
  std::copy(sizes.begin(), sizes.end(), words_.begin() + 3);
  std::copy(strides.begin(), strides.end(), words_.begin() + 3 + static_cast<std::ptrdiff_t>(sizes.size()));
}

} // namespace tw
