#include "Dump.h"
#include "Say.h"
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>

namespace tw {
namespace {

namespace fs = std::filesystem;

const char *folder() {
  const char *value = std::getenv("TILEWRIGHT_DUMP");
  return value && *value ? value : nullptr;
}

void warnOnce(const std::string &what) {
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true))
    say(fmt::format("TILEWRIGHT_DUMP: {}; builds go on without it", what));
}

std::string fileName(const std::string &text) {
  std::string out;
  for (unsigned char c : text)
    out += std::isalnum(c) || c == '-' || c == '_' ? char(c) : '_';
  return out.substr(0, 80);
}

/// Writes a file as a whole or not at all; whether it did.
bool write(const fs::path &path, const std::string &text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file)
    return true;
  warnOnce(fmt::format("cannot write {}: {}", path.string(), std::error_code(errno, std::generic_category()).message()));
  std::error_code error;
  if (fs::is_regular_file(path, error))
    fs::remove(path, error);
  fs::remove(path.parent_path(), error);   // stays unless it is empty
  return false;
}

} // namespace

bool dumps() { return folder() != nullptr; }

std::function<void(const Stage &)> dumpOf(const std::string &program, const std::string &schedule, const std::string &key) {
  if (!dumps())
    return {};
  const fs::path place = fs::path(folder()) / (fileName(program) + "-" + key.substr(0, 8));
  std::error_code error;
  fs::create_directories(place, error);
  if (error) {
    warnOnce(fmt::format("cannot make the folder {}: {}", place.string(), error.message()));
    return {};
  }
  if (!write(place / "00-schedule.txt", schedule + "\n"))
    return {};
  return [place, number = 0, goesOn = true](const Stage &stage) mutable {
    goesOn = goesOn && write(place / fmt::format("{:02}-{}{}", ++number, fileName(stage.name), stage.extension), stage.text);
  };
}

} // namespace tw
