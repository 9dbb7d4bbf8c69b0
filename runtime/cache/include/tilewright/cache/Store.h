/// The cache: bytes by digest, in one file that many threads and processes share.
#pragma once

#include "tilewright/cache/Digest.h"
#include "tilewright/cache/Location.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cache {

/// What an entry says of itself, for people: {"program", "causal"}, {"dtype", "bf16"}. Names and
/// values are any text. Facts never take part in a lookup.
using Facts = std::map<std::string, std::string, std::less<>>;

/// One line of `list()`.
struct Entry {
  Digest digest;
  std::uint64_t bytes = 0;
  Facts facts;
};

/// How the store stands. Counts of events are of this Store object, since it was opened.
struct Statistics {
  std::filesystem::path path;   ///< the file; empty for a store that never had one
  std::string memoryOnly;       ///< why what is put stays in memory; empty: it goes to the file
  std::uint64_t entries = 0;    ///< in the file and in memory
  std::uint64_t bytes = 0;      ///< of these entries' content
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t rejected = 0;   ///< rows that were not what was once put there, and so were dropped
  std::uint64_t rebuilds = 0;   ///< times the whole file was damaged, set aside, and begun anew
};

/// What `verify()` found.
struct Verification {
  std::uint64_t checked = 0;
  std::uint64_t rejected = 0;   ///< rows whose checksum was wrong; they are gone now
  bool rebuilt = false;         ///< the file's structure was damaged; it was set aside and begun anew
  [[nodiscard]] bool good() const { return rejected == 0 && !rebuilt; }
};

enum class Access {
  ReadWrite,
  ReadOnly,  ///< the file is never changed, not even to note a use; what is put stays in memory
};

struct Options {
  /// The sum of the content kept, in bytes; the least recently used entries leave when it is passed.
  std::uint64_t limitBytes = std::uint64_t(1) << 30;
  Access access = Access::ReadWrite;
  /// How long to wait for another process that is writing, or for an error that may pass.
  std::chrono::milliseconds patience{5000};
  /// Whether several hosts may share the file. Unset: the file system is asked whether it is a network's.
  /// Such a file is kept with a rollback journal, because a write-ahead log needs memory shared by all users.
  std::optional<bool> manyHosts;
  /// Receives what a person should know, one sentence a call, no line end; from any thread that
  /// uses the store, several at once too. Unset: stderr, after "tilewright: ".
  std::function<void(std::string_view)> log;
};

/// Bytes by digest.
///
/// `get` returns exactly what `put` was given, or nothing: every row carries a checksum of its key
/// and content which is verified before use. Trouble with the cache is never an error of the caller:
/// a damaged file is set aside and begun anew, and where no file can be used entries are kept in
/// memory, said once through the log. No function throws for the file's sake.
///
/// Every function may be called from any thread. Any number of processes may share the file, and any
/// may be killed at any moment. A process forked from one with an open store uses no file (SQLite's
/// locks do not survive a fork): its inherited stores hold nothing, those it opens are in memory.
class Store {
public:
  /// Opens or creates the file at `path`, with its folder. A relative path is taken from the current
  /// folder of now. Always gives a working store; see Statistics::memoryOnly.
  [[nodiscard]] static Store open(const std::filesystem::path& path, Options options = {});
  /// Opens the file that `location` names, or a store in memory; warns of the latter unless switched off.
  [[nodiscard]] static Store open(const Location& location, Options options = {});
  /// A store without a file. `why` is what Statistics::memoryOnly says.
  [[nodiscard]] static Store inMemory(std::string why, Options options = {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// The content put under `key`; nothing when there is none, or none that is intact.
  [[nodiscard]] std::optional<std::string> get(const Digest& key);
  /// Keeps `bytes` under `key`, replacing what was there. Content longer than the limit is not kept.
  void put(const Digest& key, std::string_view bytes, const Facts& facts = {});
  /// Replaces the content under `key` by what `change` makes of it: of nothing where there is none, or none that is intact. Nobody
  /// else changes it meanwhile, so that of any number of processes that add to one entry none loses what another added. `change` may be
  /// called more than once, where the file has to be opened again, and not at all where it cannot be used by this process.
  void update(const Digest& key, const std::function<std::string(std::optional<std::string_view> present)>& change,
              const Facts& facts = {});
  /// All entries, the most recently used first. Content is not checked; `verify()` does that.
  [[nodiscard]] std::vector<Entry> list();
  [[nodiscard]] Statistics stats();
  /// Forgets every entry and gives the disk space back.
  void clear();
  /// Forgets the least recently used entries until the content takes at most `limitBytes`. Returns how many.
  std::uint64_t evict(std::uint64_t limitBytes);
  /// Reads and checks everything; rows that are not intact are dropped.
  Verification verify();

private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

}  // namespace tw::cache
