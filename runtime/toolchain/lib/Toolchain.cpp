#include "tilewright/toolchain/Toolchain.h"
#include "tilewright/artifact/RuntimeError.h"
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tw {

namespace fs = std::filesystem;

std::vector<std::string> hostCompiler() {
  const char *chosen = std::getenv("CXX");
  std::istringstream words(chosen && *chosen ? chosen : "c++");
  std::vector<std::string> command;
  for (std::string word; words >> word;)
    command.push_back(word);
  return command.empty() ? std::vector<std::string>{"c++"} : command;
}

CommandResult runCommand(const std::vector<std::string> &command) {
  const TemporaryFolder folder("a command");
  const fs::path log = folder / "log";
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int refused = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (refused)
    return {};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::ostringstream printed;
  printed << std::ifstream(log, std::ios::binary).rdbuf();
  // 127 is what a shell in between says of a program that is not there.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code != 127, code, printed.str()};
}

TemporaryFolder::TemporaryFolder(const std::string &purpose) {
  std::string name = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
  if (!mkdtemp(name.data()))
    throw RuntimeError(purpose + " cannot make a folder in " + fs::temp_directory_path().string() +
                       " to compile in; set TMPDIR to a folder that can be written");
  path = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

SharedObject::SharedObject(const fs::path &file) : handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle)
    throw RuntimeError(std::string("what was compiled cannot be loaded: ") + dlerror());
}

SharedObject::~SharedObject() { dlclose(handle); }

void *SharedObject::symbol(const std::string &name) const { return dlsym(handle, name.c_str()); }

}   // namespace tw
