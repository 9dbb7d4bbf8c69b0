// Says what every thread waits for, when none can go on.
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include "Warps.h"

namespace tw::simulated {
namespace {

std::string waitingFor(const Thread &thread) {
  switch (thread.state) {
  case ThreadState::done:
    return "has ended";
  case ThreadState::inWarp:
    return phrase("in {} of lanes {} at line {}, waiting for the other lanes", nameOf(thread.collective), hex(thread.mask), thread.line);
  case ThreadState::inBarrier: {
    auto &barrier = thread.block->barriers[thread.barrier];
    return phrase("in bar.sync {} at line {}: {} of {} threads have arrived", thread.barrier, thread.line, barrier.arrived, barrier.threads);
  }
  case ThreadState::inMbarrier: {
    const Mbarrier &awaited = *thread.awaited;
    return phrase("in mbarrier.try_wait for parity {} at line {} on {}: phase {}, {} of {} arrivals and {} bytes are missing", thread.awaitedParity,
                  thread.line, nameOf(thread.block, awaited.address), awaited.phase, awaited.pending, awaited.expected, awaited.bytes);
  }
  case ThreadState::ready:
  case ThreadState::running:
    break;
  }
  return phrase("can run, at line {}", thread.line);
}

std::string waitingFor(const Warp &warp) {
  std::map<std::string, std::vector<int>> lanesByWait;
  for (const Thread *thread : warp.lanes)
    lanesByWait[waitingFor(*thread)].push_back(thread->lane);
  std::string text;
  for (auto &[wait, lanes] : lanesByWait)
    text += phrase("\n    block {} warp {}, {}: {}", warp.block->index, warp.id,
                   lanes.size() == 1 ? phrase("lane {}", lanes[0]) : phrase("{} lanes", lanes.size()), wait);
  return text;
}

}   // namespace

void stopWaiting(const char *code, const std::string &head) {
  std::string text = head;
  int line = 0;
  for (auto &block : machine->blocks) {
    for (auto &warp : block->warps)
      text += waitingFor(warp);
    for (int id = 0; id < 16; ++id) {
      const NamedBarrier &barrier = block->barriers[id];
      if (!barrier.arrived)
        continue;
      text += phrase("\n    barrier {}: {} of {} threads have arrived:", id, barrier.arrived, barrier.threads);
      for (auto &arrival : barrier.arrivals)
        text += phrase(" warp {} (line {})", arrival.warp, arrival.line);
    }
    for (auto &thread : block->threads)
      if (thread.state != ThreadState::done && !line)
        line = thread.line;
  }
  stop(code, line, text);
}

}   // namespace tw::simulated
