// What is wrong with a program, and where the user wrote it.
#pragma once
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

namespace tw {

/// A place in the user's source. Never takes part in equality, hashing or cache keys.
struct Location {
  const char *file = "";   // interned: lives as long as the process
  unsigned line = 0;       // from 1; 0 means unknown
  constexpr Location() = default;
  constexpr Location(std::source_location where) : file(where.file_name()), line(where.line()) {}
  /// A location read from text; keeps a copy of `file` for the life of the process.
  static Location of(const std::string &file, unsigned line);
  static constexpr Location current(std::source_location where = std::source_location::current()) { return where; }
};

struct Note {
  Location where;
  std::string text;
};

/// One thing that is wrong, the place, and notes that lead to the cure.
struct Diagnostic {
  Location where;
  std::string message;
  std::vector<Note> notes = {};
};

/// `file.cpp:12`, without the folders.
[[nodiscard]] std::string shortName(const Location &where);

/// Renders a diagnostic as a compiler would: place, message, the source line where it can be read, notes.
[[nodiscard]] std::string render(const Diagnostic &diagnostic);

/// The user's program is wrong; thrown at the user's line, before anything is compiled.
class ProgramError : public std::runtime_error {
public:
  explicit ProgramError(Diagnostic diagnostic);
  Diagnostic diagnostic;
};

} // namespace tw
