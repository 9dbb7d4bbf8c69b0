#include "Products.h"
#include "Elements.h"
#include "Functions.h"
#include "Order.h"
#include "Phrase.h"
#include "Report.h"
#include "Schedule.h"
#include "Warps.h"
#include <algorithm>
#include <cstring>

namespace tw::simulated {
namespace {

constexpr std::uint32_t inFlightMark = 0x7fc0dead;   // a NaN

struct Arguments {
  int n, kind;
  bool transposeA, transposeB, accumulates;
  float *d;
  const std::uint32_t *const *a;
  std::uint64_t descriptorA, descriptorB;
};

/// Where register i of a lane lies in the warp's 16 rows.
int rowOf(int lane, int i) { return (lane >> 2) + ((i >> 1 & 1) << 3); }
int columnOf(int lane, int i) { return (i >> 2) * 8 + (lane & 3) * 2 + (i & 1); }

std::uint32_t bitsOf(const float *value) {
  std::uint32_t bits;
  std::memcpy(&bits, value, 4);
  return bits;
}

std::uint64_t hashOf(float *const *registers, int n) {   // FNV-1a, by words
  std::uint64_t hash = 1469598103934665603ull;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < n / 2; ++i)
      hash = (hash ^ bitsOf(registers[lane] + i)) * 1099511628211ull;
  return hash;
}

/// The warps of a warpgroup must execute the same instructions.
void compareWithWarpgroup(Warp &warp, const Arguments &mine, int line) {
  auto &records = warp.block->products[std::size_t(warp.id / 4)];
  const ProductRecord record{mine.descriptorA, mine.descriptorB, mine.n, line, mine.a != nullptr};
  if (int(records.size()) <= warp.issued)
    records.push_back(record);
  else if (auto &other = records[std::size_t(warp.issued)]; other.descriptorA != record.descriptorA || other.descriptorB != record.descriptorB ||
                                                            other.n != record.n || other.registersA != record.registersA)
    stop("WGMMA-OPERANDS", line,
         phrase("wgmma {} of warpgroup {}: warp {} at line {} has descriptors {}, {} and n {}, another warp had {}, {} and {} at line {}",
                warp.issued, warp.id / 4, warp.id, line, hex(record.descriptorA), hex(record.descriptorB), record.n, hex(other.descriptorA),
                hex(other.descriptorB), other.n, other.line));
  ++warp.issued;
}

/// Takes the accumulator out of the threads' registers, unless an earlier product has.
Accumulator *takeAccumulator(Warp &warp, int n, int line) {
  float *registers[32];
  for (int lane = 0; lane < 32; ++lane)
    registers[lane] = argumentsOf<Arguments>(warp.lanes[std::size_t(lane)]).d;
  for (auto &accumulator : warp.accumulators)
    if (accumulator->registers[0] == registers[0]) {
      if (accumulator->n != n)
        stop("WGMMA-OPERANDS", line, phrase("wgmma at line {} has n {} on an accumulator in flight with n {}", line, n, accumulator->n));
      return accumulator.get();
    }
  const auto returned = warp.returned.find(registers[0]);
  const bool unfenced = returned == warp.returned.end() ? warp.fences == 0 : returned->second.n != n || returned->second.hash != hashOf(registers, n);
  if (unfenced)
    report("WGMMA-FENCE", line, 0,
           phrase("wgmma at line {} (block {} warp {}) takes accumulator registers touched since the last wgmma.fence", line, warp.block->index,
                  warp.id));
  auto accumulator = std::make_unique<Accumulator>();
  std::copy_n(registers, 32, accumulator->registers);
  accumulator->n = n;
  accumulator->inFlight = 0;
  accumulator->line = line;
  accumulator->values.resize(std::size_t(16 * n));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < n / 2; ++i) {
      accumulator->values[std::size_t(rowOf(lane, i) * n + columnOf(lane, i))] = registers[lane][i];
      std::memcpy(registers[lane] + i, &inFlightMark, 4);
    }
  warp.accumulators.push_back(std::move(accumulator));
  return warp.accumulators.back().get();
}

/// Notes what register j of operand a holds; reports one that the threads wrote after the last fence, as far as an earlier product
/// has made it known.
void readOperandRegister(Warp &warp, Product &product, int j) {
  Warp::Operand read{};
  for (std::size_t lane = 0; lane < 32; ++lane) {
    read.registers[lane] = product.registers[lane][j] = argumentsOf<Arguments>(warp.lanes[lane]).a[j];
    read.values[lane] = product.issued[lane][j] = *read.registers[lane];
  }
  const auto [known, isNew] = warp.operands.try_emplace(read.registers[0], read);
  if (!isNew && !std::equal(read.values, read.values + 32, known->second.values))
    report("WGMMA-FENCE", product.line, 1 + j,
           phrase("wgmma at line {} (block {} warp {}) reads register {} of operand a, written since the last wgmma.fence", product.line,
                  warp.block->index, warp.id, j));
  known->second = read;
}

/// Gives accumulators with nothing in flight back to the threads.
void returnAccumulators(Warp &warp) {
  std::erase_if(warp.accumulators, [&](const std::unique_ptr<Accumulator> &accumulator) {
    if (accumulator->inFlight)
      return false;
    const int n = accumulator->n;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < n / 2; ++i) {
        float *value = accumulator->registers[lane] + i;
        if (bitsOf(value) != inFlightMark)
          report("WGMMA-ACC", accumulator->line, 0,
                 phrase("accumulator register {} of the wgmma at line {} was written by its thread while in flight (block {} warp {} lane {})", i,
                        accumulator->line, warp.block->index, warp.id, lane));
        *value = accumulator->values[std::size_t(rowOf(lane, i) * n + columnOf(lane, i))];
      }
    Warp::Returned &returned = warp.returned[accumulator->registers[0]];
    std::copy_n(accumulator->registers, 32, returned.registers);
    returned.n = n;
    returned.hash = hashOf(returned.registers, n);
    return true;
  });
}

void noteReads(Warp &warp, const Product &product) {
  if (!machine->options.checkOrder)
    return;
  std::vector<OperandPiece> pieces;
  const Access access{warp.lanes[0], warp.productAgent, product.group, true, true, "wgmma", product.line};
  auto note = [&](const Operand &operand, int begin, int end, const char *what) {
    ReadMemo memo;
    findPieces(operand, begin, end, what, product.line, pieces);
    for (auto &piece : pieces)
      noteRead(warp.block, piece.offset, 16, access, memo);
  };
  const int first = (warp.id & 3) * 16;
  if (!product.registersA)
    note(product.a, first, first + 16, "wgmma a");
  note(product.b, 0, product.n, "wgmma b");
}

}   // namespace

void wgmma(int n, int kind, int transposeA, int transposeB, float *d, const unsigned *const *a, unsigned long long descriptorA,
           unsigned long long descriptorB, int accumulates, int line) {
  Arguments mine{n, kind, transposeA != 0, transposeB != 0, accumulates != 0, d, a, descriptorA, descriptorB};
  if (!collect(Collective::wgmma, allLanes, line, &mine))
    return;
  Warp &warp = *running->warp;
  if (warp.lanes.size() != 32)
    stop("WGMMA-OPERANDS", line, phrase("wgmma at line {} in a warp of {} lanes", line, warp.lanes.size()));
  ++machine->statistics.products;
  for (const Thread *lane : warp.lanes)
    if (auto &other = argumentsOf<Arguments>(lane);
        other.descriptorA != mine.descriptorA || other.descriptorB != mine.descriptorB || other.accumulates != mine.accumulates || other.n != mine.n)
      stop("WGMMA-OPERANDS", line, phrase("wgmma at line {}: descriptors or scale-d differ between lanes of warp {}", line, warp.id));
  compareWithWarpgroup(warp, mine, line);
  auto product = std::make_unique<Product>();
  product->n = n;
  product->kind = kind;
  product->registersA = a != nullptr;
  product->accumulates = mine.accumulates;
  product->line = line;
  product->a = {descriptorA, mine.transposeA};
  product->b = {descriptorB, mine.transposeB};
  product->group = warp.committed + 1;
  if (a)
    for (int j = 0; j < 4; ++j)
      readOperandRegister(warp, *product, j);
  product->accumulator = takeAccumulator(warp, n, line);
  ++product->accumulator->inFlight;
  noteReads(warp, *product);
  warp.products.push_back(std::move(product));
  if (machine->options.products == Asynchrony::eager)
    executeProduct(warp);
  releaseLanes(&warp, allLanes);
}

void wgmmaFence(int line) {
  if (!collect(Collective::wgmmaFence, allLanes, line))
    return;
  ++running->warp->fences;
  for (auto &[first, returned] : running->warp->returned)   // products may take what the threads wrote until here
    returned.hash = hashOf(returned.registers, returned.n);
  for (auto &[first, operand] : running->warp->operands)
    for (std::size_t lane = 0; lane < 32; ++lane)
      operand.values[lane] = *operand.registers[lane];
  releaseLanes(running->warp, allLanes);
}

void wgmmaCommit(int line) {
  if (collect(Collective::wgmmaCommit, allLanes, line)) {
    ++running->warp->committed;
    releaseLanes(running->warp, allLanes);
  }
}

void wgmmaWait(int groups, int line) {
  if (!collect(Collective::wgmmaWait, allLanes, line))
    return;
  Warp &warp = *running->warp;
  const int done = warp.committed - groups;
  while (!warp.products.empty() && warp.products.front()->group <= done)
    executeProduct(warp);
  returnAccumulators(warp);
  if (machine->options.checkOrder)
    for (Thread *lane : warp.lanes)
      lane->happened[warp.productAgent] = std::max(lane->happened[warp.productAgent], done);
  releaseLanes(&warp, allLanes);
}

}   // namespace tw::simulated
