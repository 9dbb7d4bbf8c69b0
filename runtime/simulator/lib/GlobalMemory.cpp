#include "GlobalMemory.h"
#include "Functions.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include "tilewright/artifact/RuntimeError.h"
#include <sys/mman.h>
#include <cstring>

namespace tw {
namespace {

constexpr std::size_t pageBytes = 4096, guardBytes = 1 << 20;

}   // namespace

SimulatedMemory::SimulatedMemory() = default;

SimulatedMemory::~SimulatedMemory() {
  for (auto &buffer : owned)
    munmap(buffer.mapping, buffer.mappedBytes);
}

void *SimulatedMemory::allocate(std::string name, std::size_t bytes, Flush flush) {
  const std::size_t mapped = (bytes + pageBytes - 1) / pageBytes * pageBytes + 2 * guardBytes;
  void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  auto *first = static_cast<std::byte *>(mapping);
  if (mapping == MAP_FAILED || mprotect(first, guardBytes, PROT_NONE) || mprotect(first + mapped - guardBytes, guardBytes, PROT_NONE))
    throw RuntimeError(simulated::phrase("the simulator cannot map {} bytes for '{}': {}", mapped, name, std::strerror(errno)));
  std::byte *begin = flush == Flush::start ? first + guardBytes : first + mapped - guardBytes - (bytes + 15) / 16 * 16;
  std::memset(begin, 0xff, bytes);
  owned.push_back({std::move(name), begin, bytes, first, mapped});
  return begin;
}

namespace simulated {

void checkGlobalRange(const void *address, std::size_t bytes, const char *what, int line) {
  const auto *begin = static_cast<const std::byte *>(address), *end = begin + bytes;
  for (auto &buffer : machine->memory.buffers())
    if (begin >= buffer.begin && end <= buffer.begin + buffer.bytes)
      return;
  for (auto &buffer : machine->memory.buffers())
    if (begin < buffer.mapping + buffer.mappedBytes && end > buffer.mapping)
      stop("GLOBAL-BOUNDS", line,
           phrase("{} at line {} touches bytes {} to {} of global buffer '{}', which has {} ({})", what, line, begin - buffer.begin,
                  end - buffer.begin, buffer.name, buffer.bytes, nameOf(running)));
  stop("GLOBAL-BOUNDS", line, phrase("{} at line {} touches unknown global address {} ({})", what, line, address, nameOf(running)));
}

void checkGlobal(const void *address, int bytes, int alignment, int line) {
  if (reinterpret_cast<std::uintptr_t>(address) % unsigned(alignment))
    stop("ALIGN", line,
         phrase("line {} touches global address {}, which is not aligned to {} bytes ({})", line, address, alignment, nameOf(running)));
  checkGlobalRange(address, std::size_t(bytes), "access", line);
}

void yield(int polls, int line) {
  // A thread that polls memory is always ready, so that a deadlock shows only in that nothing else has run for long.
  static std::uint64_t lastSwitch = 0, idlePolls = 0;
  if (polls) {
    idlePolls = machine->statistics.switches > lastSwitch && machine->statistics.switches <= lastSwitch + 1 ? idlePolls + 1 : 0;
    lastSwitch = machine->statistics.switches;
    if (idlePolls % 2000 == 1999 && stepAsynchronous(true))
      idlePolls = 0;
    if (idlePolls > 400'000) {
      idlePolls = 0;
      stopWaiting("LIVELOCK", "every thread that can run polls global memory, and nothing else happens; is the block it waits for resident "
                              "(SimulatorOptions::residentBlocks)?");
    }
  }
  giveWay(line);
}

void stopKernel(const char *reason, int line) { stop("TRAP", line, phrase("{} at line {} ({})", reason, line, nameOf(running))); }

}   // namespace simulated
}   // namespace tw
