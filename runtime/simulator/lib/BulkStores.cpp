// Copies out of shared memory, in groups of the thread that issued them.
#include "Copies.h"
#include "Elements.h"
#include "Functions.h"
#include "GlobalMemory.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace tw::simulated {
namespace {

template <class T> void addAll(std::byte *to, const unsigned char *from, int bytes, T (*sum)(T, T)) {
  for (int k = 0; k < bytes; k += int(sizeof(T))) {
    T a, b;
    std::memcpy(&a, to + k, sizeof(T));
    std::memcpy(&b, from + k, sizeof(T));
    a = sum(a, b);
    std::memcpy(to + k, &a, sizeof(T));
  }
}

void add(std::byte *to, const unsigned char *from, int bytes, MapElement element, int line) {
  if (element == MapElement::f32)
    addAll<float>(to, from, bytes, [](float a, float b) { return a + b; });
  else if (element == MapElement::bf16)
    addAll<std::uint16_t>(to, from, bytes, [](std::uint16_t a, std::uint16_t b) { return bf16Bits(bf16Value(a) + bf16Value(b)); });
  else if (element == MapElement::f16)
    addAll<std::uint16_t>(to, from, bytes, [](std::uint16_t a, std::uint16_t b) { return f16Bits(f16Value(a) + f16Value(b)); });
  else
    stop("MAP", line, phrase("the reduction of line {} adds elements other than f32, f16 and bf16, which is not simulated", line));
}

void issue(BulkStore store) {
  Thread *self = running;
  const int line = store.line;
  ++machine->statistics.stores;
  if (self->storeAgent < 0)
    self->storeAgent = newAgent("bulk stores of " + nameOf(self));
  // Its read is over when the group it will be committed to has been waited for.
  const Access access{self, self->storeAgent, self->storeEpoch + 1, true, false, "bulk store", line};
  if (!store.map)
    noteRead(self->block, store.from - machine->options.sharedBase, store.bytes, access);
  else      // what would lie outside of the tensor goes nowhere, whatever it is
    visitBox(*store.map, store.from, store.at.data(), [&](const Piece &piece) {
      if (!piece.inside)
        return;
      const int first = std::countr_zero(piece.inside), last = 31 - std::countl_zero(piece.inside);
      noteRead(self->block, piece.shared - machine->options.sharedBase + unsigned(first), unsigned(last + 1 - first), access);
    });
  auto shared = std::make_shared<BulkStore>(std::move(store));
  self->openStores.push_back(shared);
  if (machine->options.stores == Asynchrony::eager)
    writeStore(*shared);
  else
    machine->stores.push_back(std::move(shared));
  maybePreempt(line);
}

}   // namespace

void readForStore(BulkStore &store) {
  if (store.hasRead)
    return;
  store.hasRead = true;
  const unsigned char *shared = store.block->shared.get() - machine->options.sharedBase;   // indexed by shared address
  if (!store.map)
    store.content.assign(shared + store.from, shared + store.from + store.bytes);
  else
    visitBox(*store.map, store.from, store.at.data(),
             [&](const Piece &piece) { store.content.insert(store.content.end(), shared + piece.shared, shared + piece.shared + 16); });
}

void writeStore(BulkStore &store) {
  if (store.hasWritten)
    return;
  readForStore(store);
  store.hasWritten = true;
  if (!store.map) {
    if (store.adds)
      add(static_cast<std::byte *>(store.to), store.content.data(), int(store.bytes), MapElement::f32, store.line);
    else
      std::memcpy(store.to, store.content.data(), store.bytes);
    return;
  }
  const unsigned char *content = store.content.data();
  visitBox(*store.map, store.from, store.at.data(), [&](const Piece &piece) {
    if (store.adds && piece.inside) {
      const int first = std::countr_zero(piece.inside), last = 31 - std::countl_zero(piece.inside);
      add(piece.global + first, content + first, last + 1 - first, store.map->element, store.line);
    } else
      for (int k = 0; k < 16; ++k)
        if (piece.inside >> k & 1)
          piece.global[k] = std::byte(content[k]);
    content += 16;
  });
}

void stepStore(std::size_t index) {
  BulkStore &store = *machine->stores[index];
  if (!store.hasRead)
    readForStore(store);
  else
    writeStore(store);
  if (store.hasWritten)
    machine->stores.erase(machine->stores.begin() + std::ptrdiff_t(index));
}

void leaveStores(const Thread &thread) {
  for (auto &group : thread.storeGroups)
    for (auto &store : group)
      if (!store->hasRead)
        report("STORE-UNWAITED", store->line, 0,
               phrase("{} ends while the bulk store of line {} may have yet to read shared memory: no cp.async.bulk.wait_group.read", nameOf(&thread),
                      store->line));
  if (!thread.openStores.empty())
    report("STORE-UNCOMMITTED", thread.openStores[0]->line, 0,
           phrase("{} ends without committing the bulk store of line {}", nameOf(&thread), thread.openStores[0]->line));
}

void tensorStore(int rank, const void *address, unsigned from, const int *at, int adds, int line) {
  const TensorMap &map = tensorMapAt(address, rank, "TMA store", line);
  (void)sharedOffset(running->block, from, map.boxBytes(), 128, "TMA store", line);
  // A box may begin behind the end of each dimension, but not before its start, where one that is read may: an H200 ends with an illegal instruction.
  if (const int *before = std::find_if(at, at + rank, [](int first) { return first < 0; }); before != at + rank)
    stop("MAP", line, phrase("TMA store at line {}: coordinate {} is {}, before the tensor's first element; what is written must begin at 0 or behind it", line, before - at, *before));
  checkBox(map, at, "TMA store", line);
  BulkStore store{running->block, from, map.boxBytes(), line, adds != 0, map};
  std::copy_n(at, 5, store.at.begin());
  issue(std::move(store));
}

void bulkStore(void *to, unsigned from, unsigned bytes, int adds, int line) {
  (void)sharedOffset(running->block, from, bytes, 16, "bulk store", line);
  if (bytes % 16 || reinterpret_cast<std::uintptr_t>(to) & 15)
    stop("ALIGN", line, phrase("bulk store at line {}: {} bytes to {}; both must be multiples of 16", line, bytes, to));
  checkGlobalRange(to, bytes, "bulk store", line);
  BulkStore store{running->block, from, bytes, line, adds != 0, std::nullopt};
  store.to = to;
  issue(std::move(store));
}

void bulkCommit(int) {
  running->storeGroups.push_back(std::exchange(running->openStores, {}));
  ++running->storeEpoch;
}

void bulkWait(int groups, int readOnly, int) {
  auto &committed = running->storeGroups;
  const auto done = std::max<std::ptrdiff_t>(std::ptrdiff_t(committed.size()) - groups, 0);
  for (std::ptrdiff_t i = 0; i < done; ++i)
    for (auto &store : committed[std::size_t(i)]) {
      readForStore(*store);
      if (!readOnly)
        writeStore(*store);
    }
  if (machine->options.checkOrder && running->storeAgent >= 0)
    running->happened[running->storeAgent] = std::max(running->happened[running->storeAgent], running->storeEpoch - groups);
}

}   // namespace tw::simulated
