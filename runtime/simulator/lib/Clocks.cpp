// Vector clocks.
#include "Order.h"
#include "Report.h"
#include <algorithm>

namespace tw::simulated {
namespace {

void raise(int *to, const int *from, int count) {
  for (int i = 0; i < count; ++i)
    to[i] = std::max(to[i], from[i]);
}

}   // namespace

int newAgent(const std::string &name) {
  if (machine->nextAgent == machine->agentCount)
    stop("LIMIT", 0, "more mbarriers and storing threads than the simulator has clock components for: " + std::to_string(machine->agentCount));
  machine->agentNames.push_back(name);
  return machine->nextAgent++;
}

void acquire(Thread *thread, const Clock &clock) {
  if (!machine->options.checkOrder || clock.happened.empty())
    return;
  raise(thread->happened, clock.happened.data(), machine->agentCount);
  raise(thread->published, clock.published.data(), machine->threadCount);
}

void release(const Thread *thread, Clock &clock) {
  if (!machine->options.checkOrder)
    return;
  clock.happened.resize(machine->agentCount);
  clock.published.resize(machine->threadCount);
  raise(clock.happened.data(), thread->happened, machine->agentCount);
  raise(clock.published.data(), thread->published, machine->threadCount);
}

void advance(Thread *thread) {
  if (machine->options.checkOrder)
    ++thread->happened[thread->number];
}

void publish(Thread *thread) {
  if (!machine->options.checkOrder)
    return;
  raise(thread->published, thread->happened, machine->threadCount);
  advance(thread);
}

void joinLanes(Warp *warp, std::uint32_t mask) {
  if (!machine->options.checkOrder)
    return;
  Clock clock;
  for (Thread *lane : warp->lanes)
    if (mask >> lane->lane & 1)
      release(lane, clock);
  for (Thread *lane : warp->lanes)
    if (mask >> lane->lane & 1) {
      acquire(lane, clock);
      advance(lane);
    }
}

Access genericAccess(Thread *thread, const char *what, int line) { return {thread, thread->number, thread->epoch(), false, false, what, line}; }

}   // namespace tw::simulated
