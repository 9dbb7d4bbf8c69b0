// The C++ compiler of this machine: what it is called, running it, and loading what it made.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tw {

/// The words of the environment variable CXX, or c++.
[[nodiscard]] std::vector<std::string> hostCompiler();

/// What came of a command.
struct CommandResult {
  bool isStarted = false;   // false: there is no such program
  int status = -1;          // its exit status; 128 and the signal that ended it
  std::string printed;      // on stdout and stderr together
};
/// Runs a command, its words as they stand, with nothing on stdin, and waits for it.
[[nodiscard]] CommandResult runCommand(const std::vector<std::string> &command);

/// A folder in the machine's place for such, which goes with the object. Throws RuntimeError where there can be none; `purpose` says for what:
/// "the simulator".
class TemporaryFolder {
public:
  explicit TemporaryFolder(const std::string &purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string &name) const { return path / name; }

private:
  std::filesystem::path path;
};

/// A shared object in this process. It is unloaded with the last of them.
class SharedObject {
public:
  /// Throws RuntimeError with the loader's reason.
  explicit SharedObject(const std::filesystem::path &file);
  ~SharedObject();
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;
  /// Null where it has no such symbol.
  [[nodiscard]] void *symbol(const std::string &name) const;

private:
  void *handle;
};

}   // namespace tw
