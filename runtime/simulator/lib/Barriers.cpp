// Named barriers: bar.sync, bar.arrive, bar.red.or. Warps arrive whole.
#include "Functions.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include "Warps.h"

namespace tw::simulated {
namespace {

struct Arguments {
  bool predicate;
  int result;
};

void arrive(NamedBarrier &barrier, unsigned id, int threads, bool waits, int line) {
  const Warp *warp = running->warp;
  const char *what = waits ? "bar.sync" : "bar.arrive";
  if (threads % 32)
    stop("BAR-COUNT", line, phrase("{} {} at line {}: {} threads; they must be a multiple of 32", what, id, line, threads));
  if (barrier.arrived == 0) {
    barrier.threads = threads;
    barrier.line = line;
  } else if (barrier.threads != threads)
    stop("BAR-COUNT", line,
         phrase("{} {} at line {} (warp {}) is for {} threads, but line {} began it with {}", what, id, line, warp->id, threads, barrier.line,
                barrier.threads));
  barrier.arrived += int(warp->lanes.size());
  barrier.arrivals.push_back({warp->id, line});
  if (barrier.arrived > threads)
    stop("BAR-COUNT", line, phrase("{} {} at line {}: {} threads arrive, of {}", what, id, line, barrier.arrived, threads));
  for (Thread *lane : warp->lanes) {
    barrier.any |= argumentsOf<Arguments>(lane).predicate;
    release(lane, barrier.clock);
    advance(lane);
  }
}

/// Lets all who wait go on, but for the running thread, which goes on by itself.
void complete(NamedBarrier &barrier) {
  for (Thread *thread : barrier.waiting) {
    acquire(thread, barrier.clock);
    argumentsOf<Arguments>(thread).result = barrier.any;
    if (thread != running)
      wake(thread);
  }
  barrier = {};
}

}   // namespace

int barrier(unsigned id, unsigned threads, int waits, int predicate, int line) {
  if (id > 15)
    stop("BAR-ID", line, phrase("barrier {} at line {}; there are 0 to 15", id, line));
  Block *block = running->block;
  Warp *warp = running->warp;
  Arguments mine{predicate != 0, 0};
  // The other lanes go on when the barrier completes; of an arrival, when the last lane is here.
  if (collect(Collective::barrier, allLanes, line, &mine)) {
    NamedBarrier &barrier = block->barriers[id];
    warp->arrived = 0;
    arrive(barrier, id, threads ? int(threads) : (int(block->threads.size()) + 31) / 32 * 32, waits, line);
    const bool done = barrier.arrived == barrier.threads;
    if (waits)
      for (Thread *lane : warp->lanes) {
        barrier.waiting.push_back(lane);
        lane->state = ThreadState::inBarrier;
        lane->barrier = int(id);
        lane->line = line;
      }
    else
      for (Thread *lane : warp->lanes)
        if (lane != running)
          wake(lane);
    if (done)
      complete(barrier);
    if (waits && !done)
      suspendFiber();
    else
      running->state = ThreadState::running;
  }
  maybePreempt(line);
  return mine.result;
}

}   // namespace tw::simulated
