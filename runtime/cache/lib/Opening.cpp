#include "Opening.h"

#include "FileLock.h"

#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tw::cache {
namespace {

namespace fs = std::filesystem;

fs::path beside(const fs::path& file, const char* suffix) { return fs::path(file) += suffix; }

constexpr std::array sidecars{"-wal", "-shm", "-journal"};

bool present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool otherThanFile(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

bool emptyFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && fs::file_size(path, ignored) == 0;
}

SqliteError cannotOpen(const std::error_code& error, const std::string& what) {
  return SqliteError(SQLITE_CANTOPEN, error.value(), what);
}

/// Gives `from` the name `to`, or a free name like it where `to` is a folder.
void moveAside(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::path target = to;
  for (int number = 1; otherThanFile(target) && number < 100; ++number)
    target = beside(to, std::string(".").append(std::to_string(number)).c_str());
  fs::rename(from, target, error);
  if (error && error != std::errc::no_such_file_or_directory)
    throw cannotOpen(error, "cannot rename '" + from.string() + "'");
}

/// The journals belong to a file that is no more: SQLite would replay them into the next one.
void removeJournals(const fs::path& file) {
  for (const char* suffix : sidecars) {
    const fs::path sidecar = beside(file, suffix);
    std::error_code error;
    if (otherThanFile(sidecar))
      moveAside(sidecar, beside(damagedPath(file), suffix));
    else if (fs::remove(sidecar, error); error)
      throw cannotOpen(error, "cannot remove '" + sidecar.string() + "'");
  }
}

/// The caller holds the lock.
void setAside(const fs::path& file) {
  if (present(file)) moveAside(file, damagedPath(file));
  removeJournals(file);
}

/// The journal mode is asked for at every opening: a file may have moved between file systems. Where
/// others use the file just now it stays as it is.
void chooseJournal(Connection& connection, bool manyHosts) {
  try {
    connection.execute(manyHosts ? "PRAGMA journal_mode = TRUNCATE" : "PRAGMA journal_mode = WAL");
  } catch (const SqliteError& error) {
    if (error.trouble() == Trouble::Damaged) throw;
  }
  // A row that a power cut tears is caught by its checksum; what is synchronised is the structure.
  connection.execute("PRAGMA synchronous = NORMAL");
  connection.execute("PRAGMA journal_size_limit = 8388608");
}

struct Unusable {
  std::string reason;
};

/// One try, under the lock. Throws Unusable for a file that has to make room.
Opened tryOpen(const fs::path& file, const Options& options, bool manyHosts) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    if (const fs::path path = beside(file, suffix); otherThanFile(path))
      throw Unusable{"'" + path.filename().string() + "' is not a file"};
  if (!present(file) || emptyFile(file)) removeJournals(file);

  Connection connection(file, Mode::Create, options.patience);
  switch (identify(connection)) {
  case Identity::Foreign: throw Unusable{"it is not a cache file"};
  case Identity::Older: throw Unusable{"its layout is of an earlier version"};
  case Identity::Newer: return {std::nullopt, "its layout is of a later version of Tilewright"};
  case Identity::Empty:
    if (!connection.readOnly()) layOut(connection, manyHosts);
    break;
  case Identity::Ours: break;
  }
  if (connection.readOnly()) {
    if (::access(file.c_str(), W_OK) == 0) throw Unusable{"its header forbids writing"};
    const int error = errno;
    return openForReading(file, options, std::generic_category().message(error));
  }
  chooseJournal(connection, manyHosts);
  return {Table(std::move(connection)), ""};
}

}  // namespace

fs::path damagedPath(const fs::path& file) { return beside(file, ".damaged"); }

bool onNetwork(const fs::path& file) {
  struct statfs facts {};
  if (::statfs(file.parent_path().c_str(), &facts) != 0) return false;
  // linux/magic.h and the file systems' own sources: NFS, SMB 1, CIFS, SMB 2, AFS, Coda, Ceph, 9P,
  // Lustre, GPFS, BeeGFS, Panasas, FUSE (sshfs, GlusterFS and others hide behind it).
  constexpr std::array<std::uint32_t, 13> networks{0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x5346414f,
                                                   0x73757245, 0x00c36400, 0x01021997, 0x0bd00bd0, 0x47504653,
                                                   0x19830326, 0xaad7aaea, 0x65735546};
  for (const std::uint32_t network : networks)
    if (std::uint32_t(facts.f_type) == network) return true;
  return false;
}

Opened openForReading(const fs::path& file, const Options& options, std::string why) {
  if (!present(file)) return {std::nullopt, why};
  // Locks need a place for the shared index of the log; where none can be made nobody can write either.
  for (const Mode mode : {Mode::ReadOnly, Mode::Immutable}) {
    try {
      Connection connection(file, mode, options.patience);
      switch (identify(connection)) {
      case Identity::Ours: return {Table(std::move(connection)), why};
      case Identity::Empty: return {std::nullopt, why};
      case Identity::Older:
      case Identity::Newer: return {std::nullopt, why + "; its layout is of another version of Tilewright"};
      case Identity::Foreign: return {std::nullopt, why + "; it is not a cache file"};
      }
    } catch (const SqliteError& error) {
      if (error.trouble() == Trouble::Damaged || mode == Mode::Immutable)
        return {std::nullopt, why + "; it cannot be read either: " + error.what()};
    }
  }
  return {std::nullopt, why};
}

Opened openFile(const fs::path& file, const Options& options, const SetAside& onSetAside) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const FileLock lock(beside(file, "-lock"), options.patience);
  if (lock.error() != 0) {
    if (lock.error() == ESTALE || lock.error() == EBUSY || lock.error() == EIO || lock.error() == EINTR)
      throw cannotOpen(std::error_code(lock.error(), std::generic_category()), "cannot make the lock file");
    if (lock.error() != EISDIR && lock.error() != ELOOP && lock.error() != ENXIO)
      return openForReading(file, options, std::generic_category().message(lock.error()));
  }
  if (lock.timedOut()) return openForReading(file, options, "another process does not let go of its lock");

  const bool manyHosts = options.manyHosts.value_or(onNetwork(file));
  for (int rest = 2; rest > 0; --rest) {
    std::string reason;
    try {
      return tryOpen(file, options, manyHosts);
    } catch (const Unusable& unusable) {
      reason = unusable.reason;
    } catch (const SqliteError& trouble) {
      if (trouble.trouble() != Trouble::Damaged) throw;
      reason = trouble.what();
    }
    setAside(file);
    onSetAside(reason);
  }
  return tryOpen(file, options, manyHosts);
}

void replaceDamaged(std::optional<Table>& table, const fs::path& file, const Options& options,
                    const std::string& reason, const SetAside& onSetAside) {
  const FileLock lock(beside(file, "-lock"), options.patience);
  const bool replacedAlready = table && table->connection.moved();
  table.reset();
  if (replacedAlready || lock.timedOut()) return;
  setAside(file);
  onSetAside(reason);
}

}  // namespace tw::cache
