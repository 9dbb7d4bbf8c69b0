#include "tilewright/cache/Location.h"

#include <cstdlib>

namespace tw::cache {

Location locate(const Environment& environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text ? text : "");
  };
  constexpr const char* fileName = "kernels.sqlite";
  if (const std::string folder = value("TILEWRIGHT_CACHE"); !folder.empty()) {
    if (folder == "off") return {.file = std::nullopt, .whyNone = "TILEWRIGHT_CACHE is off", .switchedOff = true};
    return {.file = std::filesystem::path(folder) / fileName};
  }
  if (const std::filesystem::path folder = value("XDG_CACHE_HOME"); folder.is_absolute())
    return {.file = folder / "tilewright" / fileName};
  if (const std::filesystem::path folder = value("HOME"); !folder.empty())
    return {.file = folder / ".cache" / "tilewright" / fileName};
  return {.file = std::nullopt, .whyNone = "none of TILEWRIGHT_CACHE, XDG_CACHE_HOME and HOME is set"};
}

Location locate() {
  return locate([](const char* name) { return std::getenv(name); });
}

}  // namespace tw::cache
