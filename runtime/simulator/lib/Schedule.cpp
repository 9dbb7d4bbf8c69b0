#include "Schedule.h"
#include "AsyncCopies.h"
#include "Copies.h"
#include "Phrase.h"
#include "Products.h"
#include "Report.h"

namespace tw::simulated {
namespace {

constexpr std::uint64_t switchesAReport = 1 << 17;   // of progress

Thread *takeReady() {
  auto &ready = machine->ready;
  auto takeLast = [&] {
    Thread *thread = ready.back();
    ready.pop_back();
    return thread;
  };
  switch (machine->options.order) {
  case ThreadOrder::lastReady:
    return takeLast();
  case ThreadOrder::random:
    std::swap(ready[randomNumber() % ready.size()], ready.back());
    return takeLast();
  case ThreadOrder::byRandomWarpPriority: {
    if (onceIn(5000)) {
      auto &block = machine->blocks[randomNumber() % machine->blocks.size()];
      block->warps[randomNumber() % block->warps.size()].priority = randomNumber();
    }
    std::size_t best = 0;
    for (std::size_t i = 1; i < ready.size(); ++i)
      if (ready[i]->warp->priority > ready[best]->warp->priority)
        best = i;
    std::swap(ready[best], ready.back());
    return takeLast();
  }
  case ThreadOrder::firstReady:
    break;
  }
  Thread *thread = ready.front();
  ready.pop_front();
  return thread;
}

}   // namespace

void runThreads() {
  const SimulatorOptions &options = machine->options;
  const bool anyRandom = options.loads == Asynchrony::random || options.stores == Asynchrony::random || options.products == Asynchrony::random;
  while (machine->alive) {
    if (anyRandom && onceIn(24))
      stepAsynchronous(false);
    if (machine->ready.empty()) {
      if (!stepAsynchronous(true))
        stopWaiting("DEADLOCK", "no thread can run, and nothing asynchronous is in flight");
      continue;
    }
    Thread *thread = takeReady();
    if (++machine->statistics.switches > options.maximumSwitches)
      stop("LIVELOCK", thread->line,
           phrase("more than {} switches of threads; {} was last at line {}", options.maximumSwitches, nameOf(thread), thread->line));
    if (options.onProgress && machine->statistics.switches % switchesAReport == 0)
      options.onProgress(machine->statistics);
    thread->state = ThreadState::running;
    running = thread;
    runningPosition = &thread->position;
    resumeFiber(thread->fiber);
    running = nullptr;
    if (machine->stopped)
      throw Stopped();
    if (thread->state == ThreadState::done)
      --machine->alive;
  }
}

void waitIn(ThreadState state, int line) {
  running->state = state;
  running->line = line;
  suspendFiber();
}

void wake(Thread *thread) {
  thread->state = ThreadState::ready;
  machine->ready.push_back(thread);
}

void giveWay(int line) {
  running->line = line;
  wake(running);
  suspendFiber();
}

void maybePreempt(int line) {
  if (onceIn(machine->options.preemption))
    giveWay(line);
}

bool stepAsynchronous(bool needed) {
  enum { aLoad, aProduct, aStore };
  const int kind = needed ? aLoad : int(randomNumber() % 3);
  const SimulatorOptions &options = machine->options;
  const std::size_t loads = machine->loads.size(), arrivals = machine->copyArrivals.size();
  if (kind == aLoad && loads + arrivals && (needed || options.loads == Asynchrony::random)) {
    const std::size_t index = randomNumber() % (loads + arrivals);
    if (index < loads)
      landLoad(index);
    else
      landArrival(index - loads);
    return true;
  }
  if (kind == aProduct && options.products == Asynchrony::random) {
    auto &block = machine->blocks[randomNumber() % machine->blocks.size()];
    Warp &warp = block->warps[randomNumber() % block->warps.size()];
    if (!warp.products.empty()) {
      executeProduct(warp);
      return true;
    }
  }
  if (kind == aStore && options.stores == Asynchrony::random && !machine->stores.empty()) {
    stepStore(randomNumber() % machine->stores.size());
    return true;
  }
  return false;
}

}   // namespace tw::simulated
