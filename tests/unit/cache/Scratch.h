/// What the tests of the cache share: a folder of their own, a log that listens, content that is known.
#pragma once

#include "tilewright/cache/Store.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <unistd.h>
#include <vector>

namespace tw::cache::test {

namespace fs = std::filesystem;

/// A new folder, removed at the end; in memory where the system has such a place, as some tests make
/// a thousand files.
struct Scratch {
  fs::path folder;
  Scratch() {
    static std::atomic<int> number = 0;
    const fs::path root = ::access("/dev/shm", W_OK) == 0 ? fs::path("/dev/shm") : fs::temp_directory_path();
    folder = root / ("tilewright-cache-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  [[nodiscard]] fs::path file() const { return folder / "kernels.sqlite"; }
};

/// Collects what a store says.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;

  [[nodiscard]] Options options(Options base = {}) {
    base.log = [this](std::string_view line) {
      const std::scoped_lock lock(mutex);
      lines.emplace_back(line);
    };
    return base;
  }
  [[nodiscard]] std::ptrdiff_t count(std::string_view part) const {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
};

[[nodiscard]] inline Digest keyOf(int i) { return digest("key " + std::to_string(i)); }

/// The one right content of key i: 10 to about 30 000 bytes, so that some rows need further pages.
[[nodiscard]] inline std::string contentOf(int i) {
  std::string content = "content " + std::to_string(i) + ":";
  std::uint32_t random = std::uint32_t(i) * 2654435761u + 1;
  const std::size_t length = i % 3 == 0 ? std::size_t(i) : std::size_t(i) * 977 % 30000;
  while (content.size() < length) {
    random = random * 1664525u + 1013904223u;
    content += char(random >> 24);
  }
  return content;
}

[[nodiscard]] inline std::string readFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

inline void writeFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), std::streamsize(bytes.size()));
}

}  // namespace tw::cache::test
