#include "Output.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

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

} // namespace

void printText(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void printJson(const Json &json) { printText(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

void finishOutput() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    refuse("the output", errno ? errno : EIO);
}

void writeFile(const std::string &path, std::string_view bytes) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (int error = file < 0 ? errno : writeAll(file, bytes))
      refuse(path, error);
    return;
  }
  std::string beside = path + ".XXXXXX";
  int file = ::mkstemp(beside.data());
  if (file < 0)
    refuse(path, errno);
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
  int error = writeAll(file, bytes);
  if (!error && ::rename(beside.c_str(), path.c_str()) != 0)
    error = errno;
  if (error) {
    ::unlink(beside.c_str());
    refuse(path, error);
  }
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
