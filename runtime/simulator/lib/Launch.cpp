// A launch: blocks in waves of those that are resident together.
#include "AsyncCopies.h"
#include "Copies.h"
#include "Functions.h"
#include "GlobalMemory.h"
#include "Library.h"
#include "Order.h"
#include "Phrase.h"
#include "Products.h"
#include "Report.h"
#include "Schedule.h"
#include "Warps.h"
#include "tilewright/artifact/RuntimeError.h"
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace tw {
namespace simulated {
namespace {

constexpr std::uint32_t largestShared = 232448;   // bytes a block can have on sm_90
constexpr int mbarriersPerBlock = 96;             // for which there are clock components

[[noreturn]] void endThread(bool stopped) {
  machine->stopped |= stopped;
  running->state = ThreadState::done;
  suspendFiber();
  std::abort();   // nobody resumes it
}

/// What every fiber runs.
void runThread() {
  Thread *self = running;
  sigjmp_buf afterFault;
  self->afterFault = &afterFault;
  if (sigsetjmp(afterFault, 1))
    endThread(true);
  bool stopped = false;
  try {
    machine->entry(machine->parameters);
    leaveStores(*self);
    leaveCopies(*self);
    leaveWarp(self);
  } catch (const Stopped &) {
    stopped = true;
  }
  endThread(stopped);
}

std::uint32_t count(SimulatedExtent extent) { return extent.x * extent.y * extent.z; }

SimulatedExtent coordinates(std::uint32_t index, SimulatedExtent extent) {
  return {index % extent.x, index / extent.x % extent.y, index / extent.x / extent.y};
}

void addBlock(int index) {
  const auto threads = count(machine->block);
  auto block = std::make_unique<Block>();
  block->index = index;
  block->position = coordinates(std::uint32_t(index), machine->grid);
  const std::size_t words = machine->sharedBytes / 4 + 8;
  block->shared = std::make_unique<unsigned char[]>(words * 4);
  for (std::size_t byte = 0; byte + 1 < words * 4; byte += 2)
    std::memcpy(block->shared.get() + byte, "\xff\x7f", 2);   // NaN in every 16-bit and 32-bit format
  if (machine->options.checkOrder) {
    block->writeOf.assign(words, 0);
    block->readsOf.assign(words, 0);
  }
  block->threads = std::vector<Thread>(threads);
  block->warps = std::vector<Warp>((threads + 31) / 32);
  block->products.resize((block->warps.size() + 3) / 4);
  for (std::size_t i = 0; i < block->warps.size(); ++i) {
    Warp &warp = block->warps[i];
    warp.block = block.get();
    warp.id = int(i);
    warp.priority = randomNumber();
    warp.productAgent = newAgent(phrase("wgmma of block {} warp {}", index, i));
  }
  const int firstNumber = int(machine->blocks.size() * threads);
  for (std::uint32_t i = 0; i < threads; ++i) {
    Thread &thread = block->threads[i];
    thread.position = {coordinates(i, machine->block), block->position};
    thread.block = block.get();
    thread.warp = &block->warps[i / 32];
    thread.number = firstNumber + int(i);
    thread.lane = int(i % 32);
    thread.warp->lanes.push_back(&thread);
    thread.warp->present |= 1u << thread.lane;
    if (machine->options.checkOrder) {
      thread.happened = &machine->happened[std::size_t(thread.number) * std::size_t(machine->agentCount)];
      thread.published = &machine->published[std::size_t(thread.number) * std::size_t(machine->threadCount)];
      thread.happened[thread.number] = 1;
    }
    thread.fiber = startFiber(runThread);
    machine->ready.push_back(&thread);
  }
  machine->blocks.push_back(std::move(block));
}

/// What must not be in flight when a block has ended.
void checkEnded(const Block &block) {
  for (auto &warp : block.warps) {
    if (!warp.products.empty() || !warp.accumulators.empty()) {
      const int line = warp.accumulators.empty() ? warp.products.front()->line : warp.accumulators[0]->line;
      report("WGMMA-UNWAITED", line, 0, phrase("block {} warp {} ends with the wgmma of line {} in flight", block.index, warp.id, line));
    }
    if (warp.issued != block.warps[std::size_t(warp.id / 4 * 4)].issued)
      report("WGMMA-OPERANDS", 0, 1, phrase("warps of warpgroup {} of block {} executed different numbers of wgmma", warp.id / 4, block.index));
  }
  for (auto &[address, mbarrier] : block.mbarriers)
    if (mbarrier->loadsInFlight > 0 || mbarrier->bytes)
      report("COPY-UNWAITED", mbarrier->line, 0,
             phrase("block {} ends with copies in flight, or {} bytes missing, on the mbarrier at {}", block.index, mbarrier->bytes,
                    nameOf(&block, address)));
}

/// Runs blocks first..end together.
void runWave(const Machine &launch, int first, int end) {
  Machine wave{launch.options, launch.memory, launch.grid, launch.block, launch.sharedBytes, launch.entry, launch.parameters, launch.statistics};
  machine = &wave;
  const int blocks = end - first, threads = int(count(wave.block));
  wave.threadCount = wave.alive = blocks * threads;
  wave.agentCount = (wave.threadCount + blocks * ((threads + 31) / 32 + mbarriersPerBlock + 32) + 15) / 16 * 16;
  wave.nextAgent = wave.threadCount;
  if (wave.options.checkOrder) {
    wave.happened.assign(std::size_t(wave.threadCount) * std::size_t(wave.agentCount), 0);
    wave.published.assign(std::size_t(wave.threadCount) * std::size_t(wave.threadCount), 0);
  }
  wave.copiesInFlight = newAgent("its end is not known");
  wave.writes.emplace_back();
  wave.reads.emplace_back();

  struct Leave {   // however the wave ends
    Machine &wave;
    ~Leave() {
      for (auto &block : wave.blocks)
        for (auto &thread : block->threads)
          freeFiber(thread.fiber);
      machine = nullptr;
      running = nullptr;
      runningPosition = nullptr;
    }
  } leave{wave};

  for (int index = first; index < end; ++index)
    addBlock(index);
  const FaultHandler handler;
  runThreads();
  for (auto &block : wave.blocks)
    checkEnded(*block);
  for (auto &load : wave.loads)
    report("COPY-UNWAITED", load->line, 0, phrase("block {} ends with the copy of line {} in flight", load->block->index, load->line));
  for (const Thread *thread : wave.copyArrivals)
    report("COPY-UNWAITED", thread->copyArrivals.front().line, 0,
           phrase("block {} ends with the cp.async.mbarrier.arrive of line {} in flight", thread->block->index, thread->copyArrivals.front().line));
  for (auto &store : wave.stores)
    writeStore(*store);
}

void checkLaunch(const SimulatedKernel &kernel, const SimulatedLaunch &launch, const SimulatorOptions &options) {
  const std::uint64_t threads = std::uint64_t(launch.block.x) * launch.block.y * launch.block.z;
  if (!threads || threads > 1024)
    throw RuntimeError(phrase("kernel {}: a block of {} threads; it must have from 1 to 1024", kernel.name(), threads));
  if (launch.sharedBytes > largestShared)
    throw RuntimeError(phrase("kernel {}: {} bytes of shared memory; a block has at most {}", kernel.name(), launch.sharedBytes, largestShared));
  // A packer may pad the end to the alignment of a tensor map, and the struct's own padding at its end need not be there.
  if (launch.parameters.size() + 128 <= kernel.parameterBytes() || launch.parameters.size() >= kernel.parameterBytes() + 128)
    throw RuntimeError(
        phrase("kernel {}: {} bytes of parameters for a struct of {}", kernel.name(), launch.parameters.size(), kernel.parameterBytes()));
  if (options.sharedBase % 16 || options.residentBlocks < 1)
    throw RuntimeError(phrase("simulator options: shared base {} must be a multiple of 16, resident blocks {} at least 1", options.sharedBase,
                              options.residentBlocks));
}

}   // namespace
}   // namespace simulated

SimulationResult simulate(const SimulatedKernel &kernel, const SimulatedLaunch &launch, const SimulatedMemory &memory,
                          const SimulatorOptions &options) {
  using namespace simulated;
  checkLaunch(kernel, launch, options);
  static std::mutex oneAtATime;
  const std::lock_guard lock(oneAtATime);
  const auto begin = std::chrono::steady_clock::now();

  struct alignas(128) Line {
    std::byte bytes[128];
  };
  std::vector<Line> parameters(kernel.parameterBytes() / 128 + 2);
  std::memcpy(parameters.data(), launch.parameters.data(), launch.parameters.size());

  SimulationResult result;
  beginReports(result, options.maximumReports, kernel.library->text);
  seedRandom(options.seed);
  Machine common{options,
                 memory,
                 {launch.grid.x, launch.grid.y, launch.grid.z},
                 {launch.block.x, launch.block.y, launch.block.z},
                 launch.sharedBytes,
                 kernel.entry,
                 parameters.data(),
                 result.statistics};
  setExtents(common.grid, common.block);
  const int total = int(count(common.grid));
  try {
    for (int first = 0; first < total; first += options.residentBlocks)
      runWave(common, first, std::min(first + options.residentBlocks, total));
  } catch (const Stopped &) {
  }
  result.statistics.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}   // namespace tw
