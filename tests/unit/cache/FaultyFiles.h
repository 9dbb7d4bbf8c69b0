/// SQLite's files, failing on demand: what a full disk or a network file system does to the cache.
#pragma once

#include <functional>

namespace tw::cache::test {

/// What SQLite asks of the file system.
enum class FileCall { Open, Remove, Exists, Read, Write, Truncate, Sync, Size, Lock, Share };

/// The fault of one call: SQLite's result code, 0 for none, with the errno behind it.
struct Fault {
  int code = 0;
  int systemError = 0;
};

/// While it lives every file that SQLite opens goes through `decide`. One at a time; `decide` may be
/// called by several threads.
class FaultyFiles {
public:
  using Decide = std::function<Fault(FileCall, const char* name)>;
  explicit FaultyFiles(Decide decide);
  ~FaultyFiles();
  FaultyFiles(const FaultyFiles&) = delete;
};

}  // namespace tw::cache::test
