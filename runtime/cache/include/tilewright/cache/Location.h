/// Where the cache file lies, as the environment says.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tw::cache {

/// A place for the cache file, or the reason why there is none.
struct Location {
  /// The file; empty: keep everything in memory.
  std::optional<std::filesystem::path> file;
  /// Why there is no file; empty when there is one.
  std::string whyNone;
  /// The user asked for memory only (TILEWRIGHT_CACHE=off), so there is nothing to warn of.
  bool switchedOff = false;
};

/// Reads one variable; null when it is not set. std::getenv is one.
using Environment = std::function<const char*(const char* name)>;

/// `kernels.sqlite` in the first of these folders whose variable is set and not empty:
/// $TILEWRIGHT_CACHE, $XDG_CACHE_HOME/tilewright, $HOME/.cache/tilewright.
/// TILEWRIGHT_CACHE=off means memory only. A relative XDG_CACHE_HOME is ignored, as its standard asks.
[[nodiscard]] Location locate(const Environment& environment);
/// The same, of this process's environment.
[[nodiscard]] Location locate();

}  // namespace tw::cache
