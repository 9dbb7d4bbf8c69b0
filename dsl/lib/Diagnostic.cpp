#include "tilewright/dsl/Diagnostic.h"
#include <fstream>
#include <mutex>
#include <set>

namespace tw {

Location Location::of(const std::string &file, unsigned line) {
  static std::mutex guard;
  static std::set<std::string> files;
  std::lock_guard lock(guard);
  Location where;
  where.file = files.insert(file).first->c_str();
  where.line = line;
  return where;
}

std::string shortName(const Location &where) {
  std::string file = where.file;
  auto slash = file.rfind('/');
  if (slash != std::string::npos)
    file.erase(0, slash + 1);
  if (file.empty())
    file = "<unknown>";
  return where.line ? file + ":" + std::to_string(where.line) : file;
}

namespace {

/// `  | the line`, or nothing where the file cannot be read.
std::string sourceLine(const Location &where) {
  if (!where.line)
    return "";
  std::ifstream in(where.file);
  std::string line;
  for (unsigned i = 0; i < where.line; ++i)
    if (!std::getline(in, line))
      return "";
  return "  | " + line + "\n";
}

} // namespace

std::string render(const Diagnostic &diagnostic) {
  std::string out = shortName(diagnostic.where) + ": error: " + diagnostic.message + "\n" + sourceLine(diagnostic.where);
  for (const Note &note : diagnostic.notes)
    out += shortName(note.where) + ": note: " + note.text + "\n" + sourceLine(note.where);
  return out;
}

ProgramError::ProgramError(Diagnostic diagnostic) : std::runtime_error(render(diagnostic)), diagnostic(std::move(diagnostic)) {}

} // namespace tw
