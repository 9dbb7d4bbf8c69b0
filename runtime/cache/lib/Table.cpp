#include "Table.h"

#include <sqlite3.h>

#include <algorithm>

namespace tw::cache {
namespace {

// The header of the file names us and the layout. The layout's number is stored beside its
// complement, so that a flipped bit reads as damage and not as another version of ours.
constexpr std::int32_t applicationId = 0x54575247;  // "TWRG"
constexpr std::uint16_t layout = 1;
constexpr std::int32_t marked(std::uint16_t version) { return std::int32_t(std::uint16_t(~version)) << 16 | version; }

// `used` orders entries by their last use: it counts uses and is no time of day, so a clock that is
// wrong, or files restored with old times, change nothing. `size` repeats length(bytes) beside it,
// which lets eviction read the index alone. `bytes` is last: what precedes it stays on the row's first page.
constexpr const char* schema = R"(
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    used INTEGER NOT NULL,
    size INTEGER NOT NULL,
    facts TEXT NOT NULL,
    checksum BLOB NOT NULL,
    bytes BLOB NOT NULL);
  CREATE INDEX entry_used ON entry (used, size);
)";

std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

std::optional<Digest> asDigest(std::string_view bytes) {
  Digest digest;
  if (bytes.size() != digest.bytes.size()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), digest.bytes.begin());
  return digest;
}

}  // namespace

Identity identify(Connection& connection) {
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const std::int64_t version = connection.integer("PRAGMA user_version");
  if (application == 0 && version == 0 && connection.integer("SELECT count(*) FROM sqlite_schema") == 0)
    return Identity::Empty;
  if (application != applicationId) return Identity::Foreign;
  const auto number = std::uint16_t(version & 0xffff);
  if (std::int32_t(version) != marked(number)) return Identity::Foreign;
  return number == layout ? Identity::Ours : number < layout ? Identity::Older : Identity::Newer;
}

void layOut(Connection& connection, bool manyHosts) {
  connection.execute("PRAGMA auto_vacuum = INCREMENTAL");
  connection.execute(manyHosts ? "PRAGMA journal_mode = TRUNCATE" : "PRAGMA journal_mode = WAL");
  Transaction transaction(connection);
  connection.execute(schema);
  connection.execute(("PRAGMA application_id = " + std::to_string(applicationId)).c_str());
  connection.execute(("PRAGMA user_version = " + std::to_string(marked(layout))).c_str());
  transaction.commit();
}

std::string encode(const Facts& facts) {
  std::string text;
  const auto append = [&](std::string_view part) {
    for (const char c : part) {
      if (c == '\\' || c == '=') text += '\\';
      if (c == '\n')
        text += "\\n";
      else if (c == '\0')
        text += "\\0";
      else
        text += c;
    }
  };
  for (const auto& [name, value] : facts) {
    append(name);
    text += '=';
    append(value);
    text += '\n';
  }
  return text;
}

Facts decode(std::string_view text) {
  Facts facts;
  std::string name, value;
  std::string* part = &name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      const char next = text[++i];
      *part += next == 'n' ? '\n' : next == '0' ? '\0' : next;
    } else if (text[i] == '=') {
      part = &value;
    } else if (text[i] == '\n') {
      facts[name] = value;
      name.clear(), value.clear();
      part = &name;
    } else {
      *part += text[i];
    }
  }
  return facts;
}

Digest checksumOf(const Digest& key, std::string_view facts, std::string_view bytes) {
  return Hasher().field("tilewright cache row").field(view(key)).field(facts).field(bytes).finish();
}

bool Row::intact(const Digest& key) const {
  return size == std::int64_t(bytes.size()) && checksum == view(checksumOf(key, facts, bytes));
}

Table::Table(Connection opened)
    : connection(std::move(opened)),
      findRow(connection, "SELECT id, facts, checksum, size, bytes FROM entry WHERE digest = ?1"),
      putRow(connection,
             "INSERT OR REPLACE INTO entry (digest, used, size, facts, checksum, bytes) "
             "VALUES (?1, (SELECT ifnull(max(used), 0) + 1 FROM entry), ?2, ?3, ?4, ?5)"),
      touchRow(connection,
               "UPDATE entry SET used = (SELECT max(used) + 1 FROM entry) WHERE digest = ?1 AND used < "
               "(SELECT max(used) FROM entry)"),
      dropRow(connection, "DELETE FROM entry WHERE id = ?1 AND CAST(checksum AS BLOB) IS ?2"),
      sumSizes(connection, "SELECT total(size) FROM entry"),
      evictRows(connection,
                "DELETE FROM entry WHERE id IN (SELECT id FROM "
                "(SELECT id, total(size) OVER (ORDER BY used DESC, id DESC) AS upToHere FROM entry) "
                "WHERE upToHere > ?1)") {}

std::optional<Row> Table::find(const Digest& key) {
  const Use use(findRow);
  if (!findRow.bindBytes(1, view(key)).step()) return std::nullopt;
  return Row{.id = findRow.integer(0),
             .facts = std::string(findRow.bytes(1)),
             .checksum = std::string(findRow.bytes(2)),
             .bytes = std::string(findRow.bytes(4)),
             .size = findRow.integer(3)};
}

void Table::put(const Digest& key, const std::string& facts, std::string_view bytes, const std::vector<Digest>& uses,
                std::uint64_t limitBytes) {
  Transaction transaction(connection);
  touchInside(uses);
  putInside(key, facts, bytes);
  evictInside(limitBytes);
  transaction.commit();
}

void Table::putInside(const Digest& key, const std::string& facts, std::string_view bytes) {
  const Digest checksum = checksumOf(key, facts, bytes);
  const Use use(putRow);
  putRow.bindBytes(1, view(key)).bind(2, std::int64_t(bytes.size())).bindText(3, facts);
  putRow.bindBytes(4, view(checksum)).bindBytes(5, bytes).run();
}

void Table::update(const Digest& key, const std::string& facts,
                   const std::function<std::string(std::optional<std::string_view>)>& change, std::uint64_t limitBytes) {
  Transaction transaction(connection);
  const std::optional<Row> present = find(key);
  const bool isIntact = present && present->intact(key);
  putInside(key, facts, change(isIntact ? std::optional<std::string_view>(present->bytes) : std::nullopt));
  evictInside(limitBytes);
  transaction.commit();
}

void Table::touchInside(const std::vector<Digest>& uses) {
  for (const Digest& key : uses) {
    const Use use(touchRow);
    touchRow.bindBytes(1, view(key)).run();
  }
}

void Table::touch(const std::vector<Digest>& uses) {
  Transaction transaction(connection);
  touchInside(uses);
  transaction.commit();
}

void Table::drop(const Row& row) {
  const Use use(dropRow);
  dropRow.bind(1, row.id).bindBytes(2, row.checksum).run();
}

std::vector<Entry> Table::list() {
  Statement rows(connection, "SELECT digest, size, facts FROM entry ORDER BY used DESC, id DESC");
  std::vector<Entry> entries;
  while (rows.step())
    if (const auto key = asDigest(rows.bytes(0)))
      entries.push_back({*key, std::uint64_t(rows.integer(1)), decode(rows.bytes(2))});
  return entries;
}

std::uint64_t Table::count() { return std::uint64_t(connection.integer("SELECT count(*) FROM entry")); }

std::uint64_t Table::totalBytes() {
  const Use use(sumSizes);
  return sumSizes.step() ? std::uint64_t(std::max<std::int64_t>(0, sumSizes.integer(0))) : 0;
}

std::uint64_t Table::evictInside(std::uint64_t limitBytes) {
  if (totalBytes() <= limitBytes) return 0;
  const Use use(evictRows);
  evictRows.bind(1, std::int64_t(std::min<std::uint64_t>(limitBytes, INT64_MAX))).run();
  return connection.changes();
}

std::uint64_t Table::evict(std::uint64_t limitBytes) {
  Transaction transaction(connection);
  const std::uint64_t evicted = evictInside(limitBytes);
  transaction.commit();
  if (evicted > 0) shrink();
  return evicted;
}

void Table::clear() {
  connection.execute("DELETE FROM entry");
  shrink();
}

void Table::shrink() {
  connection.execute("PRAGMA incremental_vacuum");
  // Others who read keep the log as long as they read: then it shrinks with a later checkpoint.
  connection.execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

Verification Table::verify(bool mayDrop) {
  const std::string structure = connection.text("PRAGMA integrity_check(1)");
  if (structure != "ok") throw SqliteError(SQLITE_CORRUPT, 0, structure);
  Verification result;
  std::vector<Row> broken;
  Statement rows(connection, "SELECT id, facts, checksum, size, bytes, digest FROM entry");
  while (rows.step()) {
    Row row{.id = rows.integer(0),
            .facts = std::string(rows.bytes(1)),
            .checksum = std::string(rows.bytes(2)),
            .bytes = std::string(rows.bytes(4)),
            .size = rows.integer(3)};
    ++result.checked;
    const auto key = asDigest(rows.bytes(5));
    if (key && row.intact(*key)) continue;
    ++result.rejected;
    row.bytes.clear();
    broken.push_back(std::move(row));
  }
  if (mayDrop)
    for (const Row& row : broken)
      drop(row);
  return result;
}

}  // namespace tw::cache
