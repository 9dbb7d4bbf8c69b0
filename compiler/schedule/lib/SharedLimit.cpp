#include "tilewright/schedule/SharedLimit.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace tw {

std::int64_t parseBytes(std::string_view what, std::string_view text) {
  constexpr std::int64_t most = std::int64_t(1) << 40;   // 1 TiB: far beyond any memory on a chip
  std::int64_t bytes = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, bytes);
  std::string_view unit(stop, std::size_t(end - stop));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto &[name, factor] : {std::pair<std::string_view, std::int64_t>{"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}})
    if (error == std::errc() && unit == name && bytes >= 1 && bytes <= most / factor)
      return bytes * factor;
  throw std::invalid_argument(fmt::format("{} '{}': expected a number of bytes from 1 to 1 TiB, such as 49152 or 48KiB", what, text));
}

std::string bytesText(std::int64_t bytes) {
  return bytes >= 1024 && bytes % 1024 == 0 ? fmt::format("{} KiB ({} bytes)", bytes / 1024, bytes) : fmt::format("{} bytes", bytes);
}

Target withSharedLimit(Target target, std::int64_t bytes) {
  if (target.isHost())
    throw std::invalid_argument(fmt::format("a limit of shared memory ({}) goes with a GPU; target '{}' is this machine's CPU, whose tiles lie in its caches: leave it out, or take a GPU such as h200",
                                            bytesText(bytes), target.name));
  if (bytes < 1)
    throw std::invalid_argument(fmt::format("a limit of {} bytes of shared memory: expected at least 1, or none", bytes));
  target.sharedBytesPerBlock = int(std::min<std::int64_t>(target.sharedBytesPerBlock, bytes));
  return target;
}

} // namespace tw
