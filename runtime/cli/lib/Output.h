// Where text and files go.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tw::cli {

using Json = nlohmann::ordered_json;

/// Writes to stdout.
void printText(std::string_view text);
/// Two spaces of indent, one newline at the end; numbers that JSON does not have (NaN, infinity) become null.
void printJson(const Json &json);
/// Throws std::runtime_error if stdout did not take everything (a full disk).
void finishOutput();

/// Writes a file as a whole or not at all: beside its place, then moved there. What is no regular file (/dev/stdout) is
/// written straight. Throws std::runtime_error naming the file and the reason.
void writeFile(const std::string &path, std::string_view bytes);

/// A percentage on stderr while something long goes on, if stderr is a terminal.
class Progress {
public:
  explicit Progress(std::string what);
  ~Progress();
  void show(double part);   // 0 … 1
private:
  std::string what;
  bool isTerminal;
  int shown = -1;
};

} // namespace tw::cli
