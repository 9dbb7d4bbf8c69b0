// The table that a kernel is given.
#include "Functions.h"
#include "Machine.h"

namespace tw::simulated {
namespace {

SimulatedExtent gridExtent, blockExtent;

}   // namespace

void setExtents(SimulatedExtent grid, SimulatedExtent block) {
  gridExtent = grid;
  blockExtent = block;
}

const SimulatorFunctions &functions() {
  static const SimulatorFunctions table{
      .running = &runningPosition,
      .grid = &gridExtent,
      .block = &blockExtent,
      .yield = yield,
      .stop = stopKernel,
      .setRegisters = setRegisters,
      .shuffle = shuffle,
      .vote = vote,
      .syncWarp = syncWarp,
      .barrier = barrier,
      .dynamicShared = dynamicShared,
      .sharedAddress = sharedAddress,
      .nameShared = nameShared,
      .loadShared = loadShared,
      .storeShared = storeShared,
      .loadMatrices = loadMatrices,
      .storeMatrices = storeMatrices,
      .fenceAsyncProxy = fenceAsyncProxy,
      .copyAsync = copyAsync,
      .copyAsyncCommit = copyAsyncCommit,
      .copyAsyncWait = copyAsyncWait,
      .copyAsyncArrive = copyAsyncArrive,
      .mbarrierInit = mbarrierInit,
      .mbarrierInvalidate = mbarrierInvalidate,
      .mbarrierInitFence = mbarrierInitFence,
      .mbarrierArrive = mbarrierArrive,
      .mbarrierTry = mbarrierTry,
      .tensorLoad = tensorLoad,
      .bulkLoad = bulkLoad,
      .tensorStore = tensorStore,
      .bulkStore = bulkStore,
      .bulkCommit = bulkCommit,
      .bulkWait = bulkWait,
      .wgmma = wgmma,
      .wgmmaFence = wgmmaFence,
      .wgmmaCommit = wgmmaCommit,
      .wgmmaWait = wgmmaWait,
      .mma = mma,
      .checkGlobal = checkGlobal,
  };
  return table;
}

}   // namespace tw::simulated
