// Copies into shared memory. Their bytes land all at once, some time after they were issued, and are counted on an mbarrier.
#include "Copies.h"
#include "Functions.h"
#include "GlobalMemory.h"
#include "Mbarriers.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include <algorithm>
#include <cstring>

namespace tw::simulated {
namespace {

void land(const BulkLoad &load) {
  unsigned char *shared = load.block->shared.get() - machine->options.sharedBase;   // indexed by shared address
  if (load.from)
    std::memcpy(shared + load.to, load.from, load.bytes);
  else
    visitBox(*load.map, load.to, load.at.data(), [&](const Piece &piece) {
      if (piece.inside == 0xffff)
        std::memcpy(shared + piece.shared, piece.global, 16);
      else
        for (int k = 0; k < 16; ++k)
          shared[piece.shared + k] = piece.inside >> k & 1 ? static_cast<unsigned char>(piece.global[k]) : 0;
    });
  completeBytes(load.block, load.mbarrier, load.bytes, load.line);
}

void issue(BulkLoad load) {
  ++machine->statistics.loads;
  Mbarrier &mbarrier = *mbarrierAt(load.mbarrier, "copy", load.line);
  ++mbarrier.loadsInFlight;
  if (!mbarrier.fenced)
    report("MBAR-INIT-FENCE", load.line, mbarrier.line,
           phrase("the copy of line {} counts on the mbarrier of line {}, which no fence.mbarrier_init or fence.proxy.async follows", load.line,
                  mbarrier.line));
  // The write belongs to the phase that waits for it.
  const Access access{running, mbarrier.agent, mbarrier.phase + 1, true, false, "copy", load.line};
  noteWrite(load.block, load.to - machine->options.sharedBase, load.bytes, access, Write::Kind::copy);
  const int line = load.line;
  if (machine->options.loads == Asynchrony::eager)
    land(load);
  else
    machine->loads.push_back(std::make_unique<BulkLoad>(std::move(load)));
  maybePreempt(line);
}

}   // namespace

void landLoad(std::size_t index) {
  auto load = std::move(machine->loads[index]);
  machine->loads.erase(machine->loads.begin() + std::ptrdiff_t(index));
  land(*load);
}

void tensorLoad(int rank, unsigned to, const void *address, unsigned mbarrier, const int *at, int line) {
  const TensorMap &map = tensorMapAt(address, rank, "TMA load", line);
  (void)sharedOffset(running->block, to, map.boxBytes(), 128, "TMA load", line);
  checkBox(map, at, "TMA load", line);
  BulkLoad load{running->block, to, mbarrier, map.boxBytes(), line, map};
  std::copy_n(at, 5, load.at.begin());
  issue(std::move(load));
}

void bulkLoad(unsigned to, const void *from, unsigned bytes, unsigned mbarrier, int line) {
  (void)sharedOffset(running->block, to, bytes, 16, "bulk load", line);
  if (bytes % 16 || reinterpret_cast<std::uintptr_t>(from) & 15)
    stop("ALIGN", line, phrase("bulk load at line {}: {} bytes from {}; both must be multiples of 16", line, bytes, from));
  checkGlobalRange(from, bytes, "bulk load", line);
  BulkLoad load{running->block, to, mbarrier, bytes, line, std::nullopt};
  load.from = from;
  issue(std::move(load));
}

}   // namespace tw::simulated
