// Runs the built program and keeps what it said.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace tw::tests {

/// A folder that goes when the test ends.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tilewright-cli-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string operator/(const std::string &name) const { return (path / name).string(); }
  void write(const std::string &name, const std::string &bytes) const { std::ofstream(path / name, std::ios::binary) << bytes; }
  [[nodiscard]] std::string read(const std::string &name) const {
    std::ostringstream text;
    text << std::ifstream(path / name, std::ios::binary).rdbuf();
    return text.str();
  }
};

struct Ran {
  int status = -1;
  std::string out, err;
};

/// `arguments` as a shell takes them; `environment` before the program: "TILEWRIGHT_CACHE=off".
inline Ran ran(const std::string &arguments, const std::string &environment = "TILEWRIGHT_CACHE=off") {
  Folder folder;
  const std::string command = fmt::format("{} '{}' {} >'{}' 2>'{}'", environment, TILEWRIGHT_PROGRAM, arguments, folder / "out", folder / "err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), folder.read("out"), folder.read("err")};
}

} // namespace tw::tests
