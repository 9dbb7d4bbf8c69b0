#include "Warps.h"
#include "Functions.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"

namespace tw::simulated {

const char *nameOf(Collective collective) {
  switch (collective) {
  case Collective::shuffle:
    return "shfl.sync";
  case Collective::vote:
    return "vote.sync";
  case Collective::syncWarp:
    return "bar.warp.sync";
  case Collective::barrier:
    return "bar.sync or bar.arrive";
  case Collective::wgmma:
    return "wgmma.mma_async";
  case Collective::wgmmaFence:
    return "wgmma.fence";
  case Collective::wgmmaCommit:
    return "wgmma.commit_group";
  case Collective::wgmmaWait:
    return "wgmma.wait_group";
  case Collective::loadMatrices:
    return "ldmatrix";
  case Collective::storeMatrices:
    return "stmatrix";
  case Collective::mma:
    return "mma.sync";
  case Collective::setRegisters:
    return "setmaxnreg";
  }
  return "";
}

bool collect(Collective collective, std::uint32_t mask, int line, void *arguments) {
  Thread *self = running;
  Warp *warp = self->warp;
  mask &= warp->present;
  if (!(mask >> self->lane & 1))
    stop("WARP-MASK", line, phrase("{} at line {}: the lane is not in its own mask {} ({})", nameOf(collective), line, hex(mask), nameOf(self)));
  if (mask & warp->exited)
    stop("WARP-EXITED", line,
         phrase("{} at line {}: its mask {} names lanes {} that have ended ({})", nameOf(collective), line, hex(mask), hex(warp->exited & mask),
                nameOf(self)));
  for (const Thread *other : warp->lanes)
    if ((warp->arrived & mask) >> other->lane & 1 && (other->collective != collective || other->mask != mask))
      stop("WARP-DIVERGED", line,
           phrase("lane {} is at {} of line {} (mask {}), but lane {} at {} of line {} (mask {}), block {} warp {}", other->lane,
                  nameOf(other->collective), other->line, hex(other->mask), self->lane, nameOf(collective), line, hex(mask), warp->block->index,
                  warp->id));
  warp->arrived |= 1u << self->lane;
  self->collective = collective;
  self->mask = mask;
  self->arguments = arguments;
  self->line = line;
  if ((warp->arrived & mask) == mask)
    return true;
  waitIn(ThreadState::inWarp, line);
  return false;
}

void releaseLanes(Warp *warp, std::uint32_t mask) {
  mask &= warp->present;
  warp->arrived &= ~mask;
  for (Thread *lane : warp->lanes)
    if ((mask >> lane->lane & 1) && lane != running)
      wake(lane);
}

void leaveWarp(Thread *thread) {
  Warp *warp = thread->warp;
  warp->exited |= 1u << thread->lane;
  for (const Thread *lane : warp->lanes)
    if ((warp->arrived >> lane->lane & 1) && (lane->mask >> thread->lane & 1))
      stop("WARP-EXITED", lane->line,
           phrase("lane {} ends while lane {} waits for it in {} at line {} (block {} warp {})", thread->lane, lane->lane, nameOf(lane->collective),
                  lane->line, warp->block->index, warp->id));
}

unsigned shuffle(unsigned mask, unsigned value, SimulatedShuffle mode, int argument, int width, int line) {
  struct Arguments {
    unsigned value, result;
    int argument;
  } mine{value, 0, argument};
  if (collect(Collective::shuffle, mask, line, &mine)) {
    Warp *warp = running->warp;
    for (const Thread *lane : warp->lanes) {
      if (!(mask >> lane->lane & 1))
        continue;
      const int by = argumentsOf<Arguments>(lane).argument, first = lane->lane & ~(width - 1);
      int from = mode == shuffleIndex  ? first + (by & (width - 1))
                 : mode == shuffleUp   ? lane->lane - by
                 : mode == shuffleDown ? lane->lane + by
                                       : lane->lane ^ by;
      if ((mode == shuffleUp && from < first) || (mode == shuffleDown && from >= first + width))
        from = lane->lane;
      if (!((mask & warp->present) >> from & 1))
        stop("SHUFFLE", line, phrase("shfl.sync at line {}: lane {} reads lane {}, which takes no part", line, lane->lane, from));
      argumentsOf<Arguments>(lane).result = argumentsOf<Arguments>(warp->lanes[from]).value;
    }
    if (machine->options.shufflesOrder)
      joinLanes(warp, mask);
    releaseLanes(warp, mask);
  }
  return mine.result;
}

unsigned vote(unsigned mask, int predicate, SimulatedVote mode, int line) {
  struct Arguments {
    int predicate;
    unsigned result;
  } mine{predicate, 0};
  if (collect(Collective::vote, mask, line, &mine)) {
    Warp *warp = running->warp;
    const std::uint32_t active = mask & warp->present;
    std::uint32_t ballot = 0;
    std::vector<int> lanes;
    for (const Thread *lane : warp->lanes)
      if (active >> lane->lane & 1) {
        lanes.push_back(lane->lane);
        ballot |= std::uint32_t(argumentsOf<Arguments>(lane).predicate != 0) << lane->lane;
      }
    // PTX does not say which lane is elected.
    const int elected = machine->options.order == ThreadOrder::random ? lanes[randomNumber() % lanes.size()] : lanes[0];
    for (const int lane : lanes)
      argumentsOf<Arguments>(warp->lanes[lane]).result = mode == voteBallot ? ballot
                                                         : mode == voteAny  ? ballot != 0
                                                         : mode == voteAll  ? ballot == active
                                                                            : lane == elected;
    releaseLanes(warp, mask);
  }
  return mine.result;
}

void syncWarp(unsigned mask, int line) {
  if (collect(Collective::syncWarp, mask, line)) {
    joinLanes(running->warp, mask);
    releaseLanes(running->warp, mask);
  }
}

void setRegisters(int count, int line) {
  if (!collect(Collective::setRegisters, allLanes, line))
    return;
  running->warp->registers = count;
  const Block *block = running->block;
  const int threads = int(block->threads.size()), available = 65536 / threads / 8 * 8 * threads;   // as __launch_bounds__(threads, 1) gets
  int total = 0;
  bool all = true;
  for (auto &warp : block->warps) {
    all &= warp.registers >= 0;
    total += 32 * warp.registers;
  }
  if (all && total > available)
    report("REGISTERS", line, 0, phrase("after setmaxnreg at line {} the block wants {} registers, of {}", line, total, available));
  releaseLanes(running->warp, allLanes);
}

}   // namespace tw::simulated
