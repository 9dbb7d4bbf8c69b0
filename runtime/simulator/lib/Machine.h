// The state of a simulated launch: blocks, warps and threads, and what is in flight between them.
#pragma once
#include "Fiber.h"
#include "tilewright/simulator/Simulator.h"
#include "tilewright/templates/HostInterface.h"
#include <csetjmp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tw::simulated {

using Address = std::uint32_t;   // of shared memory
struct Accumulator;
struct Block;
struct BulkLoad;
struct BulkStore;
struct Mbarrier;
struct Product;
struct Thread;
struct Warp;

/// What a synchronisation object passes on from those who arrive to those who leave: for each agent the last of its epochs that has
/// happened, and for each thread the last one whose stores a proxy fence has published. Empty: nothing.
struct Clock {
  std::vector<int> happened, published;
};

enum class ThreadState { ready, running, inWarp, inBarrier, inMbarrier, done };

/// What the lanes of a warp do together.
enum class Collective { shuffle, vote, syncWarp, barrier, wgmma, wgmmaFence, wgmmaCommit, wgmmaWait, loadMatrices, storeMatrices, mma, setRegisters };

struct AsyncCopy {   // cp.async
  Address to;
  const void *from;
  int bytes, sourceBytes;
  std::uint32_t write;   // in Machine::writes
  bool executed;
  int line;
};

/// An arrival on an mbarrier, once a thread's first `copies` cp.async are complete.
struct CopyArrival {
  Address mbarrier;
  std::uint64_t copies;
  int line;
};

struct Thread {
  SimulatedPosition position{};
  Block *block = nullptr;
  Warp *warp = nullptr;
  int number = 0;   // in the machine; its component of the clocks
  int lane = 0;
  ThreadState state = ThreadState::ready;
  Fiber fiber;
  sigjmp_buf *afterFault = nullptr;   // where it goes on, to end
  int line = 0;                       // of the last primitive

  Mbarrier *awaited = nullptr;   // inMbarrier
  std::uint32_t awaitedParity = 0;
  int barrier = 0;   // inBarrier

  Collective collective{};   // inWarp: where it is, for whom it waits, and what it brings, on its own stack
  std::uint32_t mask = 0;
  void *arguments = nullptr;

  int *happened = nullptr, *published = nullptr;   // its clock; epochs count from 1
  int storeAgent = -1, storeEpoch = 0;             // as one that reads shared memory through bulk stores

  std::vector<std::shared_ptr<BulkStore>> openStores;
  std::deque<std::vector<std::shared_ptr<BulkStore>>> storeGroups;
  // cp.async: those not known to be complete, in order; for each group and each arrival in flight, how many were issued before.
  std::deque<AsyncCopy> copies;
  std::uint64_t copiesIssued = 0;
  std::deque<std::uint64_t> copyGroups;
  std::deque<CopyArrival> copyArrivals;
  std::map<int, int> copiesComplete;   // the last epoch of each agent that the others count as

  [[nodiscard]] int epoch() const { return happened ? happened[number] : 0; }
};

struct Warp {
  Block *block = nullptr;
  int id = 0;
  std::vector<Thread *> lanes;
  std::uint32_t present = 0, arrived = 0, exited = 0;   // lanes, as masks
  int registers = -1;                                   // since setmaxnreg
  std::uint64_t priority = 0;

  // wgmma: products in flight in order, accumulators they own, groups
  std::deque<std::unique_ptr<Product>> products;
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  int committed = 0;   // groups
  int issued = 0;      // products, ever
  int fences = 0;
  int productAgent = -1;
  struct Returned {   // an accumulator that a wait gave back
    float *registers[32];
    int n;
    std::uint64_t hash;   // of its values then, or at the last fence since
  };
  std::map<const float *, Returned> returned;
  struct Operand {   // a register of operand a that a product has read
    const std::uint32_t *registers[32];
    std::uint32_t values[32];   // at the last fence, or when it was read
  };
  std::map<const std::uint32_t *, Operand> operands;
};

struct Mbarrier {
  Block *block = nullptr;
  Address address = 0;
  int expected = 0, pending = 0;   // arrivals
  std::int64_t bytes = 0;          // yet to be copied
  int phase = 0;
  int loadsInFlight = 0;
  bool fenced = false;   // known to the copy engine
  int line = 0, initThread = 0, initEpoch = 0;
  int agent = -1;   // the copies that it counts; phase n + 1 orders after those of phase n
  Clock arriving, complete;
  std::vector<Thread *> waiting;
};

struct NamedBarrier {
  int threads = 0, arrived = 0, line = 0;
  bool any = false;
  Clock clock;
  std::vector<Thread *> waiting;
  struct Arrival {
    int warp, line;
  };
  std::vector<Arrival> arrivals;
};

/// The wgmma instructions of a warpgroup in order, to compare those of its warps.
struct ProductRecord {
  std::uint64_t descriptorA, descriptorB;
  int n, line;
  bool registersA;
};

struct SharedName {
  Address begin;
  std::uint32_t bytes;
  std::string name;
};

struct Block {
  int index = 0;
  SimulatedExtent position{};
  std::unique_ptr<unsigned char[]> shared;
  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::map<Address, Mbarrier *> mbarriers;
  NamedBarrier barriers[16];
  std::vector<std::vector<ProductRecord>> products;   // by warpgroup
  std::vector<SharedName> names;
  std::vector<std::uint32_t> writeOf, readsOf;   // for each word of shared memory, into Machine::writes and Machine::reads
};

/// Who last wrote a word of shared memory.
struct Write {
  enum class Kind { none, generic, copy, mbarrier } kind = Kind::none;
  int agent = 0, epoch = 0, line = 0;
};

/// One who has read a word since it was written.
struct Read {
  int agent, epoch, line;
};

/// The blocks that run at the same time.
struct Machine {
  const SimulatorOptions &options;
  const SimulatedMemory &memory;
  SimulatedExtent grid{}, block{};
  std::uint32_t sharedBytes = 0;
  SimulatedKernel::Entry entry = nullptr;
  const void *parameters = nullptr;
  SimulatorStatistics &statistics;

  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Mbarrier>> mbarriers;
  std::deque<Thread *> ready;
  int alive = 0;
  std::vector<std::unique_ptr<BulkLoad>> loads;     // in flight
  std::vector<std::shared_ptr<BulkStore>> stores;   // not yet written
  std::vector<Thread *> copyArrivals;               // in flight: one entry for each arrival of each thread
  bool stopped = false;                             // a thread found what cannot go on

  // Happens-before. Agents are the threads, then what is asynchronous.
  int threadCount = 0, agentCount = 0, nextAgent = 0;
  int copiesInFlight = 0;                 // the agent of every cp.async that is not known to be complete: nothing is ordered after it
  std::vector<int> happened, published;   // of all threads, one row each
  std::vector<std::string> agentNames;    // of the asynchronous ones
  std::vector<Write> writes;
  std::vector<std::vector<Read>> reads;
};

extern Machine *machine;   // of the launch in progress
extern Thread *running;    // null: the scheduler itself
extern const SimulatedPosition *runningPosition;

/// A number of the launch's random sequence; true once in `n` calls, never for 0.
std::uint64_t randomNumber();
bool onceIn(int n);
void seedRandom(std::uint64_t seed);

}   // namespace tw::simulated
