// What is ordered before what: vector clocks of threads and of all that runs asynchronously, and a shadow of shared memory.
//
// Each thread has, for every agent, the last epoch of it that it knows to have happened. A thread's own epoch advances when it
// releases (arrives at a barrier). An asynchronous agent's epochs are its groups or phases. A second clock, of threads only, holds
// what a fence.proxy.async has published: only that may be touched through the asynchronous proxy (copies, wgmma).
#pragma once
#include "Machine.h"

namespace tw::simulated {

/// Gives a new asynchronous agent the component after the last.
[[nodiscard]] int newAgent(const std::string &name);

void acquire(Thread *thread, const Clock &clock);
void release(const Thread *thread, Clock &clock);
/// What the thread does from now on is not covered by what it has released.
void advance(Thread *thread);
/// fence.proxy.async
void publish(Thread *thread);
/// All lanes of the mask release to each other.
void joinLanes(Warp *warp, std::uint32_t mask);

/// An access to shared memory: by a thread, or by an agent in the name of one.
struct Access {
  Thread *thread;
  int agent, epoch;
  bool asynchronous;   // through the asynchronous proxy
  bool byWarp;         // what any lane knows is known
  const char *what;
  int line;
};
[[nodiscard]] Access genericAccess(Thread *thread, const char *what, int line);

/// A run of accesses of one kind: words with the same past share what was found.
struct ReadMemo {
  std::uint32_t write = ~0u, reads = ~0u, then = 0;
};
void noteRead(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access, ReadMemo &memo);
void noteRead(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access);
void noteWrite(Block *block, std::uint32_t offset, std::uint32_t bytes, const Access &access, Write::Kind kind);

/// Offset in the block's shared memory of `bytes` at a shared address; stops where they lie outside, or are not aligned.
[[nodiscard]] std::uint32_t sharedOffset(const Block *block, Address address, std::uint32_t bytes, std::uint32_t alignment, const char *what,
                                         int line);

}   // namespace tw::simulated
