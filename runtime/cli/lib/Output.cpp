#include "Output.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tw::cli {
namespace {

[[noreturn]] void refuse(const std::string &path, int error) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::generic_category().message(error)));
}

/// Writes everything and closes; the reason, or 0.
int writeAll(int file, std::string_view bytes) {
  int error = 0;
  while (!error && !bytes.empty()) {
    ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n >= 0)
      bytes.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      error = errno;
  }
  if (::close(file) != 0 && !error)
    error = errno;
  return error;
}

/// Whether something is there that is no regular file: it is written straight, as nothing could be moved there.
bool isSpecial(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

/// A new file beside `path`, which goes unless it is moved there.
class Beside {
public:
  explicit Beside(const std::string &path) : path(path), name(path + ".XXXXXX"), file(::mkstemp(name.data())) {
    if (file < 0)
      refuse(path, errno);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(file, 0666 & ~mask);
  }
  Beside(const Beside &) = delete;
  Beside &operator=(const Beside &) = delete;
  ~Beside() {
    if (file >= 0)
      ::close(file);
    if (!isMoved)
      ::unlink(name.c_str());
  }
  void write(std::string_view bytes) {
    if (int error = writeAll(std::exchange(file, -1), bytes))
      refuse(path, error);
  }
  void move() {
    if (::rename(name.c_str(), path.c_str()) != 0)
      refuse(path, errno);
    isMoved = true;
  }

private:
  std::string path, name;
  int file;
  bool isMoved = false;
};

int outputError = 0;   // of stdout, the first

} // namespace

void printText(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && !outputError)
    outputError = errno;
}

void printJson(const Json &json) { printText(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

void finishOutput() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    refuse("the output", outputError ? outputError : errno ? errno : EIO);
}

void writeFile(const std::string &path, std::string_view bytes) { writeFiles({{path, std::string(bytes)}}); }

void writeFiles(const std::vector<FileContent> &files) {
  std::vector<std::unique_ptr<Beside>> beside;
  for (const FileContent &file : files)
    if (!isSpecial(file.path)) {
      beside.push_back(std::make_unique<Beside>(file.path));
      beside.back()->write(file.bytes);
    }
  for (const FileContent &file : files)
    if (isSpecial(file.path)) {
      const int open = ::open(file.path.c_str(), O_WRONLY | O_CLOEXEC);
      if (int error = open < 0 ? errno : writeAll(open, file.bytes))
        refuse(file.path, error);
    }
  for (const auto &each : beside)
    each->move();
}

void checkWritable(const std::string &path) {
  struct stat status;
  if (!isSpecial(path))
    Beside{path};
  else if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    refuse(path, EISDIR);
  else if (::access(path.c_str(), W_OK) != 0)
    refuse(path, errno);
}

std::string timeOf(double seconds) { return seconds >= 1e-3 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.1f} µs", seconds * 1e6); }

std::string kernels(std::uint64_t count) { return fmt::format("{} kernel{}", count, count == 1 ? "" : "s"); }

bool isSameFile(const std::string &a, const std::string &b) {
  std::error_code none;
  auto canonical = [&](const std::string &path) { return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none); };
  return std::filesystem::equivalent(a, b, none) || canonical(a) == canonical(b);
}

Progress::Progress(std::string what) : what(std::move(what)), isTerminal(::isatty(STDERR_FILENO)) {}

Progress::~Progress() {
  if (shown >= 0)
    std::fputs("\r\033[K", stderr);
}

void Progress::show(double part) {
  int percent = static_cast<int>(part * 100);
  if (!isTerminal || percent == shown)
    return;
  shown = percent;
  std::fputs(fmt::format("\r{}: {}%", what, percent).c_str(), stderr);
}

} // namespace tw::cli
