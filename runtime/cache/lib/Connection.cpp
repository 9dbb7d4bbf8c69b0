#include "Connection.h"

#include <sqlite3.h>

#include <system_error>

namespace tw::cache {
namespace {

SqliteError errorOf(sqlite3* database, int code) {
  if (!database) return SqliteError(code, 0, sqlite3_errstr(code));
  return SqliteError(sqlite3_extended_errcode(database), sqlite3_system_errno(database), sqlite3_errmsg(database));
}

/// The file as a URI; only this form can say "immutable".
std::string immutableUri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '%' || c == '?' || c == '#') {
      constexpr const char* digits = "0123456789abcdef";
      uri += {'%', digits[c >> 4 & 15], digits[c & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

SqliteError::SqliteError(int code, int systemError, std::string_view message) : code(code), text(message) {
  const int primary = code & 0xff;
  if (systemError != 0 && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN))
    text += ": " + std::generic_category().message(systemError);
}

Trouble SqliteError::trouble() const {
  if (code == SQLITE_READONLY_DBMOVED) return Trouble::Passing;
  switch (code & 0xff) {
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
  case SQLITE_PROTOCOL:
  case SQLITE_IOERR:
  case SQLITE_CANTOPEN:
  case SQLITE_INTERRUPT:
  case SQLITE_ABORT:
    return Trouble::Passing;
  case SQLITE_FULL:
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_AUTH:
  case SQLITE_NOMEM:
  case SQLITE_TOOBIG:
  case SQLITE_NOLFS:
    return Trouble::Refused;
  default:
    // CORRUPT and NOTADB; but also ERROR, CONSTRAINT, MISMATCH: every statement of ours is constant
    // and right against the schema, so these too mean that the schema is no longer ours.
    return Trouble::Damaged;
  }
}

void Connection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Connection::Connection(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == Mode::Create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (mode == Mode::Immutable) flags |= SQLITE_OPEN_URI;
  const std::string name = mode == Mode::Immutable ? immutableUri(file) : file.string();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  database.reset(opened);
  if (code != SQLITE_OK) throw errorOf(opened, code);
  wait(patience);
  // The schema of a file from elsewhere runs nothing and is not believed.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  execute("PRAGMA cell_size_check = ON");
  // No file is mapped: a mapping of a file that someone truncates kills the process.
  execute("PRAGMA mmap_size = 0");
}

void Connection::execute(const char* statements) {
  if (const int code = sqlite3_exec(handle(), statements, nullptr, nullptr, nullptr); code != SQLITE_OK)
    throw errorOf(handle(), code);
}

std::int64_t Connection::integer(const char* statement) {
  Statement one(*this, statement);
  return one.step() ? one.integer(0) : 0;
}

std::string Connection::text(const char* statement) {
  Statement one(*this, statement);
  return one.step() ? std::string(one.bytes(0)) : std::string();
}

std::uint64_t Connection::changes() const { return std::uint64_t(sqlite3_changes64(handle())); }

bool Connection::readOnly() const { return sqlite3_db_readonly(handle(), "main") == 1; }

bool Connection::moved() const {
  int answer = 0;
  return sqlite3_file_control(handle(), "main", SQLITE_FCNTL_HAS_MOVED, &answer) == SQLITE_OK && answer != 0;
}

void Connection::wait(std::chrono::milliseconds patience) { sqlite3_busy_timeout(handle(), int(patience.count())); }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(const Connection& connection, std::string_view text) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(connection.handle(), text.data(), int(text.size()), SQLITE_PREPARE_PERSISTENT,
                                      &prepared, nullptr);
  statement.reset(prepared);
  if (code != SQLITE_OK) throw errorOf(connection.handle(), code);
}

void Statement::fail(int code) const {
  const SqliteError error = errorOf(sqlite3_db_handle(statement.get()), code);
  sqlite3_reset(statement.get());
  throw error;
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  if (const int code = sqlite3_bind_int64(statement.get(), parameter, value); code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bindText(int parameter, std::string_view value) {
  const char* start = value.empty() ? "" : value.data();
  const int code = sqlite3_bind_text64(statement.get(), parameter, start, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

Statement& Statement::bindBytes(int parameter, std::string_view value) {
  const char* start = value.empty() ? "" : value.data();
  const int code = sqlite3_bind_blob64(statement.get(), parameter, start, value.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(code);
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  reset();
}

void Statement::reset() noexcept { sqlite3_reset(statement.get()); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement.get(), column); }

std::string_view Statement::bytes(int column) const {
  const int type = sqlite3_column_type(statement.get(), column);
  if (type != SQLITE_TEXT && type != SQLITE_BLOB) return {};
  const auto* start = static_cast<const char*>(sqlite3_column_blob(statement.get(), column));
  const int size = sqlite3_column_bytes(statement.get(), column);
  if (!start && sqlite3_errcode(sqlite3_db_handle(statement.get())) == SQLITE_NOMEM) fail(SQLITE_NOMEM);
  return start ? std::string_view(start, std::size_t(size)) : std::string_view();
}

Transaction::Transaction(Connection& connection) : connection(connection) { connection.execute("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  // Some errors have rolled back already; a second time is an error that says nothing new.
  if (open) sqlite3_exec(connection.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  connection.execute("COMMIT");
  open = false;
}

}  // namespace tw::cache
