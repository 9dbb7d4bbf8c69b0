/// A lock between processes that the system releases when its holder dies, however it dies.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace tw::cache {

/// Held from construction to destruction, over a file of its own that is never removed.
class FileLock {
public:
  /// Waits up to `patience`.
  FileLock(const std::filesystem::path& file, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;

  /// errno of making the lock file; 0 when it is there.
  [[nodiscard]] int error() const { return openError; }
  /// Another process held it all the time.
  [[nodiscard]] bool timedOut() const { return late; }

private:
  int descriptor = -1;
  int openError = 0;
  bool late = false;
};

}  // namespace tw::cache
