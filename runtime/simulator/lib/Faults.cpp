// Signals of a kernel that touches what is not its own, or traps.
#include "GlobalMemory.h"
#include "Phrase.h"
#include "Report.h"
#include <csignal>
#include <cstring>

namespace tw::simulated {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction before[4];
stack_t stackBefore;
alignas(16) char signalStack[64 << 10];

std::string describeMemoryFault(const std::byte *address) {
  const int line = running->line;
  std::string text =
      phrase("access to global address {} by {}, after the primitive of line {}", static_cast<const void *>(address), nameOf(running), line);
  for (auto &buffer : machine->memory.buffers())
    if (address >= buffer.mapping && address < buffer.mapping + buffer.mappedBytes)
      text += phrase("; that is byte {} of buffer '{}', which has {}", address - buffer.begin, buffer.name, buffer.bytes);
  const auto *stack = reinterpret_cast<const std::byte *>(running->fiber.stack);
  if (address >= stack - (64 << 10) && address < stack + guardBytes)
    text += phrase("; the thread's local variables take more than {} bytes", stackBytes);
  return text;
}

void onSignal(int signal, siginfo_t *info, void *) {
  if (!running) {   // returns to the same instruction, now without us
    std::signal(signal, SIG_DFL);
    return;
  }
  const int line = running->line;
  if (signal == SIGILL)
    report("UNDEFINED", line, signal,
           phrase("undefined behaviour (an index outside an array, a shift too far, a division by zero) in {}, after the primitive of line {}",
                  nameOf(running), line));
  else if (signal == SIGFPE)
    report("ARITHMETIC", line, signal, phrase("an arithmetic fault in {}, after the primitive of line {}", nameOf(running), line));
  else
    report("GLOBAL-BOUNDS", line, signal, describeMemoryFault(static_cast<const std::byte *>(info->si_addr)));
  siglongjmp(*running->afterFault, 1);
}

}   // namespace

FaultHandler::FaultHandler() {
  stack_t stack{};
  stack.ss_sp = signalStack;
  stack.ss_size = sizeof signalStack;
  sigaltstack(&stack, &stackBefore);
  struct sigaction action {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int i = 0; i < 4; ++i)
    sigaction(signals[i], &action, &before[i]);
}

FaultHandler::~FaultHandler() {
  for (int i = 0; i < 4; ++i)
    sigaction(signals[i], &before[i], nullptr);
  sigaltstack(&stackBefore, nullptr);
}

}   // namespace tw::simulated
