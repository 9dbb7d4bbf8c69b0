// The functions of the table that a kernel is given (tilewright/templates/HostInterface.h), each where its idea is.
#pragma once
#include "tilewright/templates/HostInterface.h"

namespace tw::simulated {

void yield(int polls, int line);
void stopKernel(const char *reason, int line);
void setRegisters(int count, int line);
unsigned shuffle(unsigned mask, unsigned value, SimulatedShuffle mode, int argument, int width, int line);
unsigned vote(unsigned mask, int predicate, SimulatedVote mode, int line);
void syncWarp(unsigned mask, int line);
int barrier(unsigned id, unsigned threads, int waits, int predicate, int line);
unsigned char *dynamicShared();
unsigned sharedAddress(const void *pointer, int line);
void nameShared(unsigned address, unsigned bytes, const char *name, int index);
void loadShared(unsigned address, void *to, int bytes, int line);
void storeShared(unsigned address, const void *from, int bytes, int line);
void loadMatrices(unsigned address, int count, int transposed, unsigned *to, int line);
void storeMatrices(unsigned address, int count, int transposed, const unsigned *from, int line);
void fenceAsyncProxy(int line);
void copyAsync(unsigned to, const void *from, int bytes, int sourceBytes, int line);
void copyAsyncCommit(int line);
void copyAsyncWait(int groups, int line);
void copyAsyncArrive(unsigned mbarrier, int line);
void mbarrierInit(unsigned address, unsigned count, int line);
void mbarrierInvalidate(unsigned address, int line);
void mbarrierInitFence(int line);
void mbarrierArrive(unsigned address, int arrives, int expects, unsigned bytes, int line);
unsigned mbarrierTry(unsigned address, unsigned parity, int line);
void tensorLoad(int rank, unsigned to, const void *map, unsigned mbarrier, const int *at, int line);
void bulkLoad(unsigned to, const void *from, unsigned bytes, unsigned mbarrier, int line);
void tensorStore(int rank, const void *map, unsigned from, const int *at, int adds, int line);
void bulkStore(void *to, unsigned from, unsigned bytes, int adds, int line);
void bulkCommit(int line);
void bulkWait(int groups, int readOnly, int line);
void wgmma(int n, int kind, int transposeA, int transposeB, float *d, const unsigned *const *a, unsigned long long descriptorA,
           unsigned long long descriptorB, int accumulates, int line);
void wgmmaFence(int line);
void wgmmaCommit(int line);
void wgmmaWait(int groups, int line);
void mma(float *d, const unsigned *a, const unsigned *b, int kind, int line);
void checkGlobal(const void *address, int bytes, int alignment, int line);

/// The table. What it points to changes with every launch.
[[nodiscard]] const SimulatorFunctions &functions();
void setExtents(SimulatedExtent grid, SimulatedExtent block);

}   // namespace tw::simulated
