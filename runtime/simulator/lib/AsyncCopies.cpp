// cp.async: copies of a thread, complete when it has waited for their group, or when an arrival on an mbarrier that follows them lands.
#include "AsyncCopies.h"
#include "Functions.h"
#include "GlobalMemory.h"
#include "Mbarriers.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include <algorithm>
#include <cstring>

namespace tw::simulated {
namespace {

unsigned char *at(const Block *block, Address address) { return block->shared.get() + (address - machine->options.sharedBase); }

void execute(const Block *block, AsyncCopy &copy) {
  if (std::exchange(copy.executed, true))
    return;
  unsigned char *to = at(block, copy.to);
  std::memset(to, 0, std::size_t(copy.bytes));
  if (copy.sourceBytes)
    std::memcpy(to, copy.from, std::size_t(copy.sourceBytes));
}

/// Completes the first `count` copies that the thread ever issued. Whoever knows of that epoch of the agent knows that they are.
void complete(Thread &thread, std::uint64_t count, int agent, int epoch) {
  while (thread.copiesIssued - thread.copies.size() < count) {
    AsyncCopy &copy = thread.copies.front();
    execute(thread.block, copy);
    if (machine->options.checkOrder) {
      Write &write = machine->writes[copy.write];
      write.agent = agent;
      write.epoch = epoch;
      if (agent == thread.number)
        write.kind = Write::Kind::generic;
      thread.copiesComplete[agent] = epoch;
    }
    thread.copies.pop_front();
  }
}

/// The first arrival of the thread that is in flight.
void land(Thread &thread) {
  const CopyArrival arrival = thread.copyArrivals.front();
  thread.copyArrivals.pop_front();
  machine->copyArrivals.erase(std::find(machine->copyArrivals.begin(), machine->copyArrivals.end(), &thread));
  Mbarrier *mbarrier = landingOn(thread.block, arrival.mbarrier, "cp.async.mbarrier.arrive", arrival.line);
  if (!mbarrier)
    return;
  complete(thread, arrival.copies, mbarrier->agent, mbarrier->phase + 1);   // the phase that waits for this arrival
  arriveAfterCopies(*mbarrier, thread, arrival.line);
}

}   // namespace

void landArrival(std::size_t index) { land(*machine->copyArrivals[index]); }

void leaveCopies(const Thread &thread) {
  // Those before an arrival in flight are named with its mbarrier.
  const std::uint64_t counted = thread.copyArrivals.empty() ? 0 : thread.copyArrivals.back().copies;
  if (!thread.copies.empty() && thread.copiesIssued > counted)
    report("COPY-UNWAITED", thread.copies.back().line, 0,
           phrase("{} ends without waiting for its cp.async of line {}, and no mbarrier counts it", nameOf(&thread), thread.copies.back().line));
}

void copyAsync(unsigned to, const void *from, int bytes, int sourceBytes, int line) {
  Block *block = running->block;
  if (sourceBytes < 0 || sourceBytes > bytes)
    stop("ALIGN", line, phrase("cp.async at line {}: {} source bytes of {}", line, sourceBytes, bytes));
  const std::uint32_t offset = sharedOffset(block, to, unsigned(bytes), unsigned(bytes), "cp.async", line);
  if (reinterpret_cast<std::uintptr_t>(from) % unsigned(bytes))
    stop("ALIGN", line, phrase("cp.async at line {} copies from {}, which is not aligned to {} bytes ({})", line, from, bytes, nameOf(running)));
  if (sourceBytes)
    checkGlobalRange(from, std::size_t(sourceBytes), "cp.async", line);
  noteWrite(block, offset, unsigned(bytes), genericAccess(running, "cp.async", line), Write::Kind::copy);
  AsyncCopy copy{to, from, bytes, sourceBytes, 0, false, line};
  if (machine->options.checkOrder) {
    copy.write = std::uint32_t(machine->writes.size() - 1);
    machine->writes.back().agent = machine->copiesInFlight;
  }
  if (machine->options.loads == Asynchrony::eager || (machine->options.loads == Asynchrony::random && onceIn(2)))
    execute(block, copy);
  else
    std::memset(at(block, to), 0x7f, std::size_t(bytes));
  running->copies.push_back(copy);
  ++running->copiesIssued;
}

void copyAsyncCommit(int) { running->copyGroups.push_back(running->copiesIssued); }

void copyAsyncWait(int groups, int) {
  std::uint64_t waited = 0;
  while (std::ptrdiff_t(running->copyGroups.size()) > groups) {
    waited = running->copyGroups.front();
    running->copyGroups.pop_front();
  }
  if (!waited)
    return;
  while (!running->copyArrivals.empty() && running->copyArrivals.front().copies <= waited)
    land(*running);
  complete(*running, waited, running->number, running->epoch());
  if (machine->options.checkOrder)
    for (auto &[agent, epoch] : running->copiesComplete)
      running->happened[agent] = std::max(running->happened[agent], epoch);
}

void copyAsyncArrive(unsigned mbarrier, int line) {
  ++machine->statistics.loads;
  ++mbarrierAt(mbarrier, "cp.async.mbarrier.arrive", line)->loadsInFlight;
  running->copyArrivals.push_back({mbarrier, running->copiesIssued, line});
  machine->copyArrivals.push_back(running);
  if (machine->options.loads == Asynchrony::eager)
    while (!running->copyArrivals.empty())
      land(*running);
  maybePreempt(line);
}

}   // namespace tw::simulated
