// Shared memory through the generic proxy: loads, stores, fences, addresses and names.
#include "Functions.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include <cstring>

namespace tw::simulated {
namespace {

unsigned char *at(std::uint32_t offset) { return running->block->shared.get() + offset; }

}   // namespace

unsigned char *dynamicShared() { return running->block->shared.get(); }

unsigned sharedAddress(const void *pointer, int line) {
  const std::ptrdiff_t offset = static_cast<const unsigned char *>(pointer) - running->block->shared.get();
  if (offset < 0 || offset > std::ptrdiff_t(machine->sharedBytes))
    stop("ADDRESS", line, phrase("line {} takes the shared address of a pointer that is not into dynamic shared memory", line));
  return unsigned(offset) + machine->options.sharedBase;
}

void nameShared(unsigned address, unsigned bytes, const char *name, int index) {
  if (running == &running->block->threads[0])
    running->block->names.push_back({address, bytes, index < 0 ? std::string(name) : phrase("{}[{}]", name, index)});
}

void loadShared(unsigned address, void *to, int bytes, int line) {
  maybePreempt(line);
  const std::uint32_t offset = sharedOffset(running->block, address, unsigned(bytes), unsigned(bytes), "ld.shared", line);
  noteRead(running->block, offset, unsigned(bytes), genericAccess(running, "ld.shared", line));
  std::memcpy(to, at(offset), std::size_t(bytes));
}

void storeShared(unsigned address, const void *from, int bytes, int line) {
  maybePreempt(line);
  const std::uint32_t offset = sharedOffset(running->block, address, unsigned(bytes), unsigned(bytes), "st.shared", line);
  noteWrite(running->block, offset, unsigned(bytes), genericAccess(running, "st.shared", line), Write::Kind::generic);
  std::memcpy(at(offset), from, std::size_t(bytes));
}

void fenceAsyncProxy(int line) {
  publish(running);
  mbarrierInitFence(line);
}

}   // namespace tw::simulated
