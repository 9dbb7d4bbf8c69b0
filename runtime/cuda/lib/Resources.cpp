// The assembler's log, read; and what of it is refused.
#include "tilewright/cuda/Resources.h"
#include "tilewright/artifact/CompileError.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <optional>

namespace tw::cuda {
namespace {

/// The number that stands before `after` in the line.
std::optional<int> numberBefore(std::string_view line, std::string_view after) {
  const std::size_t end = line.find(after);
  if (end == std::string_view::npos || end == 0)
    return {};
  const std::size_t space = line.find_last_not_of("0123456789", end - 1);
  const std::size_t begin = space == std::string_view::npos ? 0 : space + 1;
  int number = 0;
  if (std::from_chars(line.data() + begin, line.data() + end, number).ec != std::errc())
    return {};
  return number;
}

/// `'name'` after `before`.
bool names(std::string_view line, std::string_view before, const std::string &entry) { return line.find(fmt::format("{}'{}'", before, entry)) != std::string_view::npos; }

/// C7510 to C7519: what the assembler did about wgmma instructions that it could not leave in flight.
bool isRemark(std::string_view line) {
  const std::size_t at = line.find("(C751");
  return at != std::string_view::npos && at + 6 < line.size() && line[at + 5] >= '0' && line[at + 5] <= '9' && line[at + 6] == ')';
}

} // namespace

ResourceFacts readLog(const std::string &log, const std::string &entry) {
  ResourceFacts facts;
  bool isOurs = false, isCalled = false, found = false;
  for (std::size_t at = 0, end = 0; at < log.size(); at = end + 1) {
    end = std::min(log.size(), log.find('\n', at));
    const std::string_view line = std::string_view(log).substr(at, end - at);
    if (isRemark(line) && names(line, "function ", entry))
      facts.remarks.emplace_back(line.substr(line.find("(C751")));
    if (line.find("Compiling entry function") != std::string_view::npos)
      isOurs = names(line, "function ", entry);
    if (!isOurs)
      continue;
    // Functions that are called have lines of their own; the entry's stack holds theirs.
    if (std::size_t of = line.find("Function properties for "); of != std::string_view::npos)
      isCalled = line.substr(of + std::strlen("Function properties for ")) != entry;
    if (auto stack = numberBefore(line, " bytes stack frame")) {
      if (!isCalled)
        facts.stackBytes = *stack;
      facts.spillBytes += numberBefore(line, " bytes spill stores").value_or(0) + numberBefore(line, " bytes spill loads").value_or(0);
    }
    if (auto registers = numberBefore(line, " registers")) {
      facts.registers = *registers;
      facts.staticSharedBytes = numberBefore(line, " bytes smem").value_or(0);
      found = true;
    }
  }
  if (!found)
    throw RuntimeError(fmt::format("kernel '{}': the assembler's log says nothing of its registers; it says:\n{}", entry, log));
  return facts;
}

ResourceFacts resourcesOf(const std::string &log, std::string_view cubin, const std::string &entry) {
  ResourceFacts facts = readLog(log, entry);
  const CubinFacts made = readCubin(cubin, entry);
  auto agree = [&](const char *what, int said, int is) {
    if (said != is)
      throw RuntimeError(fmt::format("kernel '{}': the assembler's log says {} {}, its cubin {}; this version of NVRTC is not understood: take another one by TILEWRIGHT_NVRTC", entry, said, what, is));
  };
  agree("registers", facts.registers, made.registers);
  agree("bytes of stack", facts.stackBytes, made.stackBytes);
  agree("bytes of static shared memory", facts.staticSharedBytes, made.staticSharedBytes);
  return facts;
}

void checkResources(const ResourceFacts &resources, const ResourceBounds &bounds, const std::string &program, const std::string &schedule) {
  if (!resources.remarks.empty()) {
    // What was serialised says more than the many lines on what was put in for it.
    auto worst = std::find_if(resources.remarks.begin(), resources.remarks.end(), [](const std::string &remark) { return remark.find("serialized") != std::string::npos; });
    if (worst == resources.remarks.end())
      worst = resources.remarks.begin();
    const std::size_t others = resources.remarks.size() - 1;
    throw SlowCodeError(fmt::format("kernel '{}': the assembler could not keep its wgmma instructions in flight, which would make it slow: {}{}; take a schedule with narrower tiles "
                                   "or without overlap. It has {} registers a thread; the schedule: {}",
                                   program, *worst, others ? fmt::format(" (and {} more such remarks)", others) : "", resources.registers, schedule));
  }
  if (resources.spillBytes > bounds.spillBytes)
    throw SlowCodeError(fmt::format("kernel '{}' spills {} bytes of registers, more than the {} that are allowed; take a schedule with narrower tiles. The schedule: {}", program,
                                   resources.spillBytes, bounds.spillBytes, schedule));
}

} // namespace tw::cuda
