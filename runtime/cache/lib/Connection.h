/// SQLite behind values: a connection, a statement, an error that says what may be done about it.
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace tw::cache {

/// What can be done about an error.
enum class Trouble {
  Damaged,  ///< the file is not what we wrote: set it aside
  Passing,  ///< busy, or an I/O error such as network file systems show while files come and go: retry
  Refused,  ///< a full disk, no permission: no retry helps
};

class SqliteError : public std::exception {
public:
  SqliteError(int code, int systemError, std::string_view message);
  const char* what() const noexcept override { return text.c_str(); }
  [[nodiscard]] Trouble trouble() const;

private:
  int code;  // SQLite's extended result code
  std::string text;
};

/// How a connection comes to the file.
enum class Mode {
  Create,     ///< read and write; made when absent
  ReadOnly,   ///< with locks, as others may write
  Immutable,  ///< read without locks, where even a lock cannot be written
};

class Connection {
public:
  Connection(const std::filesystem::path& file, Mode mode, std::chrono::milliseconds patience);

  void execute(const char* statements);
  [[nodiscard]] std::int64_t integer(const char* statement);
  [[nodiscard]] std::string text(const char* statement);
  /// Rows changed by the last insert, update or delete.
  [[nodiscard]] std::uint64_t changes() const;
  /// The file can be read only, be it for its permissions or because its header says so.
  [[nodiscard]] bool readOnly() const;
  /// Another file, or none, is at the path by now.
  [[nodiscard]] bool moved() const;
  /// How long to wait for others' locks.
  void wait(std::chrono::milliseconds patience);

  [[nodiscard]] sqlite3* handle() const { return database.get(); }

private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database;
};

/// A prepared statement. Parameters count from 1, columns from 0. Bound text and bytes must outlive the use.
class Statement {
public:
  Statement(const Connection& connection, std::string_view text);

  Statement& bind(int parameter, std::int64_t value);
  Statement& bindText(int parameter, std::string_view value);
  Statement& bindBytes(int parameter, std::string_view value);
  /// Moves to the next row; false at the end.
  bool step();
  /// Runs to the end and resets.
  void run();
  void reset() noexcept;

  [[nodiscard]] std::int64_t integer(int column) const;
  /// Text or bytes as stored; valid until the next step. Empty when the column holds a number or nothing.
  [[nodiscard]] std::string_view bytes(int column) const;

private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  [[noreturn]] void fail(int code) const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement;
};

/// Resets a statement when the scope ends, so that no read stays open.
class Use {
public:
  explicit Use(Statement& statement) : statement(statement) {}
  ~Use() { statement.reset(); }
  Use(const Use&) = delete;

private:
  Statement& statement;
};

/// A write transaction, undone unless committed.
class Transaction {
public:
  explicit Transaction(Connection& connection);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  void commit();

private:
  Connection& connection;
  bool open = true;
};

}  // namespace tw::cache
