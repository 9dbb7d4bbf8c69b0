// Compiles a kernel's text with the host's C++ compiler, and loads it.
#include "Functions.h"
#include "Library.h"
#include "Phrase.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/templates/Templates.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tw {
namespace {

namespace fs = std::filesystem;
using simulated::phrase;

/// A folder that goes with the object.
struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "tilewright-simulator-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw RuntimeError("the simulator cannot make a folder in " + fs::temp_directory_path().string() +
                         " to compile in; set TMPDIR to a folder that can be written");
    path = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string contents(const fs::path &file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// The text without #line directives, so that reports count its own lines.
std::string withoutLineDirectives(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const auto first = line.find_first_not_of(" \t");
    const bool directive = first != std::string_view::npos && line.substr(first).starts_with("#line");
    kept += directive ? "" : std::string(line);
    kept += '\n';
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return kept;
}

/// The words of CXX, or c++.
std::vector<std::string> compiler() {
  const char *chosen = std::getenv("CXX");
  std::istringstream words(chosen && *chosen ? chosen : "c++");
  std::vector<std::string> command;
  for (std::string word; words >> word;)
    command.push_back(word);
  return command;
}

/// Runs a command with what it prints in `log`; its exit status, or -1 where it cannot be started.
int run(const std::vector<std::string> &command, const fs::path &log) {
  std::vector<char *> arguments;
  for (auto &word : command)
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
    return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// How a kernel is compiled: quickly, with every local variable a NaN until it is written, and with traps where C++ leaves behaviour open
/// and the GPU would read another register or thread's memory. No contraction: a GPU's fma is written as one.
const std::vector<std::string> compilerFlags{"-std=c++17",
                                             "-O1",
                                             "-g1",
                                             "-fPIC",
                                             "-shared",
                                             "-w",
                                             "-ftrivial-auto-var-init=pattern",
                                             "-fno-strict-aliasing",
                                             "-fsanitize=bounds,shift-exponent,integer-divide-by-zero",
                                             "-fsanitize-undefined-trap-on-error",
                                             "-ffp-contract=off",
                                             "-Wl,--as-needed"};

void compile(const fs::path &source, const fs::path &library, const fs::path &log) {
  std::vector<std::string> command = compiler();
  const std::string name = command[0];
  command.insert(command.end(), compilerFlags.begin(), compilerFlags.end());
  command.insert(command.end(), {source.string(), "-o", library.string(), "-lm"});
  const int status = run(command, log);
  if (status == -1 || status == 127)
    throw RuntimeError("the simulator compiles kernels with a C++ compiler of this machine, and '" + name +
                       "' cannot be started; install one (Debian: apt-get install g++), or name one in the environment variable CXX");
  if (status)
    throw RuntimeError(phrase("'{}' ended with {} on the text of a kernel; it said:\n{}", name, status, contents(log)));
}

}   // namespace

SimulatedKernel::Library::~Library() {
  if (handle)
    dlclose(handle);
}

std::vector<SimulatedKernel> compileForSimulator(std::string_view text, const std::vector<std::string> &entries) {
  TemporaryFolder folder;
  const fs::path source = folder.path / "kernel.cpp", file = folder.path / "kernel.so";
  auto library = std::make_shared<SimulatedKernel::Library>();
  library->text = withoutLineDirectives(text);
  {
    std::ofstream stream(source, std::ios::binary);
    stream << hostTemplates() << "#line 1 \"kernel.cu\"\n" << library->text << "\n";
    for (auto &entry : entries)
      stream << "TILEWRIGHT_ENTRY(" << entry << ")\n";
    if (!stream.flush())
      throw RuntimeError("the simulator cannot write " + source.string() + "; is the disk full?");
  }
  compile(source, file, folder.path / "log");
  library->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle)
    throw RuntimeError(std::string("the kernel compiled for the simulator cannot be loaded: ") + dlerror());
  auto symbol = [&](const std::string &name) {
    void *address = dlsym(library->handle, name.c_str());
    if (!address)
      throw RuntimeError("the kernel compiled for the simulator has no '" + name + "'");
    return address;
  };
  reinterpret_cast<void (*)(const SimulatorFunctions *)>(symbol("tilewright_bind"))(&simulated::functions());
  std::vector<SimulatedKernel> kernels;
  for (auto &entry : entries) {
    SimulatedKernel kernel;
    kernel.entryName = entry;
    kernel.bytes = *static_cast<const unsigned long long *>(symbol("tilewright_parameter_bytes_" + entry));
    kernel.entry = reinterpret_cast<SimulatedKernel::Entry>(symbol("tilewright_enter_" + entry));
    kernel.library = library;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

SimulatedKernel compileForSimulator(std::string_view text, const std::string &entry) {
  return std::move(compileForSimulator(text, std::vector<std::string>{entry})[0]);
}

}   // namespace tw
