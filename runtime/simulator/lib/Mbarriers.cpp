#include "Mbarriers.h"
#include "Functions.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include <algorithm>
#include <cstring>

namespace tw::simulated {
namespace {

constexpr std::int64_t countLimit = (1 << 20) - 1;   // of arrivals and of bytes

void completePhase(Mbarrier &mbarrier) {
  if (mbarrier.pending || mbarrier.bytes)
    return;
  ++mbarrier.phase;
  mbarrier.pending = mbarrier.expected;
  mbarrier.complete = std::move(mbarrier.arriving);
  mbarrier.arriving = {};
  if (machine->options.checkOrder) {
    mbarrier.complete.happened.resize(machine->agentCount);
    mbarrier.complete.published.resize(machine->threadCount);
    mbarrier.complete.happened[mbarrier.agent] = mbarrier.phase;
  }
  for (Thread *thread : std::exchange(mbarrier.waiting, {}))
    wake(thread);
}

void takeArrival(Mbarrier &mbarrier, const char *what, const Thread &thread, int line) {
  if (mbarrier.pending < 1)
    stop("MBAR-OVERARRIVE", line,
         phrase("{} at line {} on {}: one arrival more than the {} of its phase {}; {} bytes are missing ({})", what, line,
                nameOf(mbarrier.block, mbarrier.address), mbarrier.expected, mbarrier.phase, mbarrier.bytes, nameOf(&thread)));
  --mbarrier.pending;
}

bool hasParity(const Mbarrier &mbarrier, unsigned parity) { return unsigned(mbarrier.phase & 1) == parity; }

}   // namespace

Mbarrier *mbarrierAt(Address address, const char *what, int line) {
  auto found = running->block->mbarriers.find(address);
  if (found == running->block->mbarriers.end())
    stop("MBAR-UNINIT", line,
         phrase("{} at line {} on {}, which is no initialised mbarrier ({})", what, line, nameOf(running->block, address), nameOf(running)));
  Mbarrier *mbarrier = found->second;
  if (machine->options.checkOrder && running->number != mbarrier->initThread && running->happened[mbarrier->initThread] < mbarrier->initEpoch)
    report("MBAR-INIT-RACE", line, mbarrier->line,
           phrase("{} at line {} by {} is not ordered after mbarrier.init of line {}", what, line, nameOf(running), mbarrier->line));
  return mbarrier;
}

Mbarrier *landingOn(Block *block, Address address, const char *what, int line) {
  auto found = block->mbarriers.find(address);
  if (found == block->mbarriers.end()) {
    report("MBAR-UNINIT", line, 1, phrase("the {} of line {} lands after its mbarrier was invalidated", what, line));
    return nullptr;
  }
  --found->second->loadsInFlight;
  return found->second;
}

void completeBytes(Block *block, Address address, std::uint32_t bytes, int line) {
  Mbarrier *mbarrier = landingOn(block, address, "copy", line);
  if (!mbarrier)
    return;
  mbarrier->bytes -= bytes;
  if (mbarrier->bytes < -countLimit)
    stop("MBAR-BYTES", line, phrase("the mbarrier at {} lacks more than {} expected bytes", nameOf(block, address), countLimit));
  completePhase(*mbarrier);
}

void arriveAfterCopies(Mbarrier &mbarrier, const Thread &thread, int line) {
  takeArrival(mbarrier, "cp.async.mbarrier.arrive", thread, line);
  if (machine->options.checkOrder) {
    mbarrier.arriving.happened.resize(machine->agentCount);
    mbarrier.arriving.published.resize(machine->threadCount);
    for (auto &[agent, epoch] : thread.copiesComplete)
      mbarrier.arriving.happened[agent] = std::max(mbarrier.arriving.happened[agent], epoch);
  }
  completePhase(mbarrier);
}

void mbarrierInit(unsigned address, unsigned count, int line) {
  Block *block = running->block;
  const std::uint32_t offset = sharedOffset(block, address, 8, 8, "mbarrier.init", line);
  if (auto found = block->mbarriers.find(address); found != block->mbarriers.end())
    stop("MBAR-REINIT", line,
         phrase("mbarrier.init at line {} on {}, which line {} has initialised", line, nameOf(block, address), found->second->line));
  if (count < 1 || count > countLimit)
    stop("MBAR-COUNT", line, phrase("mbarrier.init at line {}: {} arrivals; they must be from 1 to {}", line, count, countLimit));
  auto mbarrier = std::make_unique<Mbarrier>();
  mbarrier->block = block;
  mbarrier->address = address;
  mbarrier->expected = mbarrier->pending = int(count);
  mbarrier->line = line;
  mbarrier->initThread = running->number;
  mbarrier->initEpoch = running->epoch();
  mbarrier->agent = newAgent("copies of the mbarrier at " + hex(address));
  noteWrite(block, offset, 8, genericAccess(running, "mbarrier.init", line), Write::Kind::mbarrier);
  std::memset(block->shared.get() + offset, 0xEE, 8);
  block->mbarriers[address] = mbarrier.get();
  machine->mbarriers.push_back(std::move(mbarrier));
}

void mbarrierInvalidate(unsigned address, int line) {
  (void)mbarrierAt(address, "mbarrier.inval", line);
  Block *block = running->block;
  block->mbarriers.erase(address);
  if (machine->options.checkOrder) {
    const std::uint32_t word = (address - machine->options.sharedBase) / 4;
    block->writeOf[word] = block->writeOf[word + 1] = 0;
  }
}

void mbarrierInitFence(int) {
  for (auto &mbarrier : machine->mbarriers)
    if (mbarrier->initThread == running->number)
      mbarrier->fenced = true;
}

void mbarrierArrive(unsigned address, int arrives, int expects, unsigned bytes, int line) {
  const char *what = expects ? "mbarrier.expect_tx" : "mbarrier.arrive";
  Mbarrier &mbarrier = *mbarrierAt(address, what, line);
  if (expects) {
    mbarrier.bytes += bytes;
    if (mbarrier.bytes > countLimit)
      stop("MBAR-BYTES", line, phrase("{} at line {}: {} bytes are expected, more than {}", what, line, mbarrier.bytes, countLimit));
  }
  if (arrives) {
    takeArrival(mbarrier, what, *running, line);
    release(running, mbarrier.arriving);
    advance(running);
  }
  completePhase(mbarrier);
  maybePreempt(line);
}

unsigned mbarrierTry(unsigned address, unsigned parity, int line) {
  Mbarrier &mbarrier = *mbarrierAt(address, "mbarrier.try_wait", line);
  if (parity > 1)
    stop("MBAR-PARITY", line, phrase("mbarrier.try_wait at line {}: parity {}; it must be 0 or 1", line, parity));
  maybePreempt(line);
  if (hasParity(mbarrier, parity)) {
    if (onceIn(machine->options.earlyNo))
      giveWay(line);
    else {
      mbarrier.waiting.push_back(running);
      running->awaited = &mbarrier;
      running->awaitedParity = parity;
      waitIn(ThreadState::inMbarrier, line);
    }
    if (hasParity(mbarrier, parity))
      return 0;
  }
  acquire(running, mbarrier.complete);
  return 1;
}

}   // namespace tw::simulated
