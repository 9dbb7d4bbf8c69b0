// Where text and files go.
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

using Json = nlohmann::ordered_json;

/// Writes to stdout.
void printText(std::string_view text);
/// Two spaces of indent, one newline at the end; numbers that JSON does not have (NaN, infinity) become null.
void printJson(const Json &json);
/// Throws std::runtime_error if stdout did not take everything (a full disk).
void finishOutput();

/// `439.9 µs`, `1.648 ms`: of a prediction.
[[nodiscard]] std::string timeOf(double seconds);

/// "1 kernel", "2 kernels".
[[nodiscard]] std::string kernels(std::uint64_t count);

/// Writes a file as a whole or not at all: beside its place, then moved there. What is no regular file (/dev/stdout) is
/// written straight. Throws std::runtime_error naming the file and the reason.
void writeFile(const std::string &path, std::string_view bytes);

/// The same for several files: all are written beside their places before the first is moved there.
struct FileContent {
  std::string path, bytes;
};
void writeFiles(const std::vector<FileContent> &files);

/// Throws what writeFile() would, as far as one knows before there is anything to write; leaves nothing behind.
void checkWritable(const std::string &path);

/// Whether both paths lead to one file, be it there or not.
[[nodiscard]] bool isSameFile(const std::string &a, const std::string &b);

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
