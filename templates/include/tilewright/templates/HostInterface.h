// What a kernel compiled for the CPU asks of the simulator that runs it: a table of functions, handed over when it is loaded. Both
// sides compile this file. Every `line` is the source line of the call; addresses are shared addresses, of 32 bits.
#pragma once

struct SimulatedExtent {
  unsigned x, y, z;
};

/// Where the running thread is. The kernel's threadIdx and blockIdx.
struct SimulatedPosition {
  SimulatedExtent thread, block;
};

enum SimulatedShuffle { shuffleIndex, shuffleUp, shuffleDown, shuffleXor };
enum SimulatedVote { voteBallot, voteAny, voteAll, voteElect };

struct SimulatorFunctions {
  const SimulatedPosition *const *running;
  const SimulatedExtent *grid, *block;

  // ---- threads
  void (*yield)(int polls, int line);   // lets the others run; polls: the caller does so until memory changes
  void (*stop)(const char *reason, int line);
  void (*setRegisters)(int count, int line);
  unsigned (*shuffle)(unsigned mask, unsigned value, SimulatedShuffle mode, int argument, int width, int line);
  unsigned (*vote)(unsigned mask, int predicate, SimulatedVote mode, int line);
  void (*syncWarp)(unsigned mask, int line);
  int (*barrier)(unsigned id, unsigned threads, int waits, int predicate, int line);   // threads 0: the block; returns the OR

  // ---- shared memory
  unsigned char *(*dynamicShared)();
  unsigned (*sharedAddress)(const void *pointer, int line);
  void (*nameShared)(unsigned address, unsigned bytes, const char *name, int index);
  void (*loadShared)(unsigned address, void *to, int bytes, int line);
  void (*storeShared)(unsigned address, const void *from, int bytes, int line);
  void (*loadMatrices)(unsigned address, int count, int transposed, unsigned *to, int line);
  void (*storeMatrices)(unsigned address, int count, int transposed, const unsigned *from, int line);
  void (*fenceAsyncProxy)(int line);
  void (*copyAsync)(unsigned to, const void *from, int bytes, int sourceBytes, int line);
  void (*copyAsyncCommit)(int line);
  void (*copyAsyncWait)(int groups, int line);
  void (*copyAsyncArrive)(unsigned mbarrier, int line);

  // ---- mbarriers
  void (*mbarrierInit)(unsigned address, unsigned count, int line);
  void (*mbarrierInvalidate)(unsigned address, int line);
  void (*mbarrierInitFence)(int line);
  void (*mbarrierArrive)(unsigned address, int arrives, int expects, unsigned bytes, int line);
  unsigned (*mbarrierTry)(unsigned address, unsigned parity, int line);

  // ---- copies; `map` is an encoded tensor map, `at` five coordinates, innermost first
  void (*tensorLoad)(int rank, unsigned to, const void *map, unsigned mbarrier, const int *at, int line);
  void (*bulkLoad)(unsigned to, const void *from, unsigned bytes, unsigned mbarrier, int line);
  void (*tensorStore)(int rank, const void *map, unsigned from, const int *at, int adds, int line);
  void (*bulkStore)(void *to, unsigned from, unsigned bytes, int adds, int line);
  void (*bulkCommit)(int line);
  void (*bulkWait)(int groups, int readOnly, int line);

  // ---- matrix products; kind: BF16::kind, F16::kind; a: four registers, or null and the descriptor counts
  void (*wgmma)(int n, int kind, int transposeA, int transposeB, float *d, const unsigned *const *a, unsigned long long descriptorA,
                unsigned long long descriptorB, int accumulates, int line);
  void (*wgmmaFence)(int line);
  void (*wgmmaCommit)(int line);
  void (*wgmmaWait)(int groups, int line);
  void (*mma)(float *d, const unsigned *a, const unsigned *b, int kind, int line);   // 16x8x16

  // ---- global memory
  void (*checkGlobal)(const void *address, int bytes, int alignment, int line);
};
