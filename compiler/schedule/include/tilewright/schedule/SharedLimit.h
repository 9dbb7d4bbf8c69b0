// A bound on the shared memory of a block, below what the GPU has.
#pragma once
#include "tilewright/schedule/Target.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace tw {

/// `49152`, `48KiB`; throws std::invalid_argument that begins with `what` where it is no size.
[[nodiscard]] std::int64_t parseBytes(std::string_view what, std::string_view text);

/// `48 KiB (49152 bytes)`.
[[nodiscard]] std::string bytesText(std::int64_t bytes);

/// The target with no more than `bytes` for a block; one that has less stays as it is. Throws std::invalid_argument for fewer than 1 and for
/// the host, whose tiles lie in caches.
[[nodiscard]] Target withSharedLimit(Target target, std::int64_t bytes);

} // namespace tw
