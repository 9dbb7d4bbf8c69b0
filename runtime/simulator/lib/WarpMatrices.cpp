// ldmatrix, stmatrix and mma.sync.
#include "Elements.h"
#include "Functions.h"
#include "Order.h"
#include "Report.h"
#include "Warps.h"
#include "tilewright/templates/HostInterface.h"
#include <cstring>

namespace tw::simulated {
namespace {

/// Which half of which lane's word holds an element of an 8x8 matrix.
struct Holder {
  int lane, half;
};
Holder holderOf(int row, int column, bool transposed) {
  return transposed ? Holder{column * 4 + row / 2, row & 1} : Holder{row * 4 + column / 2, column & 1};
}

}   // namespace

void loadMatrices(unsigned address, int count, int transposed, unsigned *to, int line) {
  struct Arguments {
    unsigned address;
    unsigned *to;
  } mine{address, to};
  if (!collect(Collective::loadMatrices, allLanes, line, &mine))
    return;
  Warp &warp = *running->warp;
  for (int matrix = 0; matrix < count; ++matrix)
    for (int row = 0; row < 8; ++row) {
      Thread *giver = warp.lanes[std::size_t(matrix * 8 + row)];
      const std::uint32_t offset = sharedOffset(warp.block, argumentsOf<Arguments>(giver).address, 16, 16, "ldmatrix", line);
      noteRead(warp.block, offset, 16, genericAccess(giver, "ldmatrix", line));
      std::uint16_t elements[8];
      std::memcpy(elements, warp.block->shared.get() + offset, 16);
      for (int column = 0; column < 8; ++column) {
        const auto [lane, half] = holderOf(row, column, transposed);
        unsigned &word = argumentsOf<Arguments>(warp.lanes[std::size_t(lane)]).to[matrix];
        word = half ? (word & 0xffff) | unsigned(elements[column]) << 16 : (word & 0xffff0000) | elements[column];
      }
    }
  releaseLanes(&warp, allLanes);
}

void storeMatrices(unsigned address, int count, int transposed, const unsigned *from, int line) {
  struct Arguments {
    unsigned address;
    const unsigned *from;
  } mine{address, from};
  if (!collect(Collective::storeMatrices, allLanes, line, &mine))
    return;
  Warp &warp = *running->warp;
  for (int matrix = 0; matrix < count; ++matrix)
    for (int row = 0; row < 8; ++row) {
      Thread *giver = warp.lanes[std::size_t(matrix * 8 + row)];
      const std::uint32_t offset = sharedOffset(warp.block, argumentsOf<Arguments>(giver).address, 16, 16, "stmatrix", line);
      std::uint16_t elements[8];
      for (int column = 0; column < 8; ++column) {
        const auto [lane, half] = holderOf(row, column, transposed);
        elements[column] = std::uint16_t(argumentsOf<Arguments>(warp.lanes[std::size_t(lane)]).from[matrix] >> (16 * half));
      }
      noteWrite(warp.block, offset, 16, genericAccess(giver, "stmatrix", line), Write::Kind::generic);
      std::memcpy(warp.block->shared.get() + offset, elements, 16);
    }
  releaseLanes(&warp, allLanes);
}

// d[16][8] += a[16][16] . b[16][8]. Lane l holds rows l / 4 and 8 further, columns (k for b) 2 * (l % 4) and so on.
void mma(float *d, const unsigned *a, const unsigned *b, int kind, int line) {
  struct Arguments {
    float *d;
    const unsigned *a, *b;
  } mine{d, a, b};
  if (!collect(Collective::mma, allLanes, line, &mine))
    return;
  float rowsA[16][16], rowsB[16][8], rowsD[16][8];
  auto value = [&](unsigned word, int half) { return kind == 0 ? bf16Value(word >> (16 * half) & 0xffff) : f16Value(word >> (16 * half) & 0xffff); };
  auto visitD = [&](auto visit) {
    for (const Thread *lane : running->warp->lanes)
      for (int i = 0; i < 4; ++i)
        visit(rowsD[(lane->lane >> 2) + (i >> 1) * 8][(lane->lane & 3) * 2 + (i & 1)], argumentsOf<Arguments>(lane).d[i]);
  };
  visitD([](float &ours, float theirs) { ours = theirs; });
  for (const Thread *lane : running->warp->lanes) {
    const int group = lane->lane >> 2, pair = (lane->lane & 3) * 2;
    const Arguments &its = argumentsOf<Arguments>(lane);
    for (int half = 0; half < 2; ++half) {
      for (int j = 0; j < 4; ++j)
        rowsA[group + (j & 1) * 8][pair + (j >> 1) * 8 + half] = value(its.a[j], half);
      for (int j = 0; j < 2; ++j)
        rowsB[pair + j * 8 + half][group] = value(its.b[j], half);
    }
  }
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < 16; ++k)
      for (int column = 0; column < 8; ++column)
        rowsD[row][column] += rowsA[row][k] * rowsB[k][column];
  visitD([](float ours, float &theirs) { theirs = ours; });
  releaseLanes(running->warp, allLanes);
}

}   // namespace tw::simulated
