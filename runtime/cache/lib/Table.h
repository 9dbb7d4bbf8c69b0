/// The rows of a cache file: how they are laid out, checked, read and replaced.
#pragma once

#include "Connection.h"
#include "tilewright/cache/Store.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::cache {

/// What a file says that it is.
enum class Identity {
  Ours,     ///< of this layout
  Empty,    ///< a database without content
  Older,    ///< ours, of an earlier layout
  Newer,    ///< ours, of a later layout
  Foreign,  ///< somebody else's, or damaged where it matters
};

[[nodiscard]] Identity identify(Connection& connection);
/// Lays out an empty file, in one transaction.
void layOut(Connection& connection, bool manyHosts);

/// Facts as text, one line a fact, `name=value`; a backslash precedes what would be misread.
[[nodiscard]] std::string encode(const Facts& facts);
[[nodiscard]] Facts decode(std::string_view text);

/// What a row's checksum must be: it covers the key and all that is kept under it.
[[nodiscard]] Digest checksumOf(const Digest& key, std::string_view facts, std::string_view bytes);

/// A row as found, believed only once `intact`.
struct Row {
  std::int64_t id = 0;
  std::string facts, checksum, bytes;
  std::int64_t size = 0;

  [[nodiscard]] bool intact(const Digest& key) const;
};

/// The entries of an open file of this layout. Every function may throw SqliteError.
class Table {
public:
  explicit Table(Connection connection);

  [[nodiscard]] std::optional<Row> find(const Digest& key);
  /// Inserts or replaces, notes the uses so far, and evicts down to `limitBytes`: one transaction.
  void put(const Digest& key, const std::string& facts, std::string_view bytes, const std::vector<Digest>& uses,
           std::uint64_t limitBytes);
  /// Replaces what is under the key by `change` of it; of nothing, where there is no intact row. One transaction.
  void update(const Digest& key, const std::string& facts,
              const std::function<std::string(std::optional<std::string_view>)>& change, std::uint64_t limitBytes);
  /// Makes these the most recently used, the last of them the most.
  void touch(const std::vector<Digest>& uses);
  /// Removes a row that is not intact, unless another process has replaced it since.
  void drop(const Row& row);
  [[nodiscard]] std::vector<Entry> list();
  [[nodiscard]] std::uint64_t count();
  [[nodiscard]] std::uint64_t totalBytes();
  std::uint64_t evict(std::uint64_t limitBytes);
  void clear();
  /// Drops every row that is not intact. Throws as damaged when the structure of the file is.
  Verification verify(bool mayDrop);

  Connection connection;

private:
  void putInside(const Digest& key, const std::string& facts, std::string_view bytes);
  std::uint64_t evictInside(std::uint64_t limitBytes);
  void touchInside(const std::vector<Digest>& uses);
  void shrink();

  Statement findRow, putRow, touchRow, dropRow, sumSizes, evictRows;
};

}  // namespace tw::cache
