// The bounds of a fold against the elements themselves, one by one.
#include "FoldBounds.h"
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
using namespace tw;

namespace {
/// The arithmetic of FoldBounds.h on plain integers.
struct Integers {
  int64_t constant(int64_t n) { return n; }
  int64_t add(int64_t x, int64_t y) { return x + y; }
  int64_t subtract(int64_t x, int64_t y) { return x - y; }
  int64_t times(int64_t x, int64_t n) { return x * n; }
  int64_t floorDivide(int64_t x, int64_t n) { return x / n - (x % n != 0 && x < 0); }
  int64_t min(int64_t x, int64_t y) { return std::min(x, y); }
  int64_t max(int64_t x, int64_t y) { return std::max(x, y); }
  int64_t ifPositive(int64_t x, int64_t then, int64_t otherwise) { return x > 0 ? then : otherwise; }
};

struct Plane { int64_t fold, row, rest; bool bounds; };

/// An item: rows [firstRow, firstRow + rows) of the block axis, a fold over [0, extent).
struct Case { int64_t firstRow, rows, extent, width; std::vector<Plane> planes; };

FoldRanges<int64_t> rangesOf(const Case &c, bool canBeFull = true) {
  Integers a;
  std::vector<FoldPlane<int64_t>> planes;
  for (const Plane &p : c.planes) {
    auto [least, most] = extremes<Integers, int64_t>(a, p.rest, {{p.row, c.firstRow, c.firstRow + c.rows - 1}});
    planes.push_back({p.fold, least, most, p.bounds});
  }
  return foldRanges<Integers, int64_t>(a, planes, c.extent, c.width, canBeFull);
}

bool keeps(const Plane &p, int64_t row, int64_t k) { return p.fold * k + p.row * row + p.rest <= 0; }

/// How the three loops visit the tile from `first` on: 0 not at all, 1 partial, 2 full; -1 twice or out of step.
int visit(const FoldRanges<int64_t> &r, int64_t first, int64_t width) {
  int visited = 0;
  auto walk = [&](int64_t begin, int64_t end, int kind) {
    for (int64_t k = begin; k < end; k += width) {
      if (k % width != 0)
        visited = -1;
      else if (k == first)
        visited = visited == 0 ? kind : -1;
    }
  };
  walk(r.begin, r.fullBegin, 1);
  walk(r.fullBegin, r.fullEnd, 2);
  walk(r.fullEnd, r.end, 1);
  return visited;
}

/// The reason why the ranges are wrong, or nothing.
std::string wrong(const Case &c, const FoldRanges<int64_t> &r) {
  if (r.begin < 0 || (r.startsFull && r.begin != r.fullBegin))
    return "begin";
  for (int64_t first = 0; first < c.extent + 2 * c.width; first += c.width) {
    int visited = visit(r, first, c.width);
    bool isExcluded = first >= c.extent, isFull = first + c.width <= c.extent;
    for (const Plane &p : c.planes) {
      bool all = true, none = true;
      for (int64_t row = c.firstRow; row < c.firstRow + c.rows; ++row)
        for (int64_t k = first; k < first + c.width; ++k)
          (keeps(p, row, k) ? none : all) = false;
      isFull &= all;
      isExcluded |= p.bounds && none;
    }
    if (visited < 0)
      return "tile " + std::to_string(first) + " is visited twice or out of step";
    if (visited == 0 && !isExcluded)
      return "tile " + std::to_string(first) + " is skipped but not excluded by one plane";
    if (visited != 0 && first >= c.extent)
      return "tile " + std::to_string(first) + " lies past the end";
    if (visited == 2 && !isFull)
      return "tile " + std::to_string(first) + " is called full and is not";
  }
  return "";
}

/// Tiles that are excluded by one plane but visited, and tiles that are full but not called so.
int missed(const Case &c, const FoldRanges<int64_t> &r) {
  int count = 0;
  for (int64_t first = 0; first < c.extent; first += c.width) {
    int visited = visit(r, first, c.width);
    bool isExcluded = false, isFull = first + c.width <= c.extent;
    for (const Plane &p : c.planes) {
      int64_t kept = 0;
      for (int64_t row = c.firstRow; row < c.firstRow + c.rows; ++row)
        for (int64_t k = first; k < first + c.width; ++k)
          kept += keeps(p, row, k);
      isFull &= kept == c.rows * c.width;
      isExcluded |= p.bounds && kept == 0;
    }
    count += (isExcluded && visited != 0) + (isFull && !isExcluded && visited != 2);
  }
  return count;
}
} // namespace

TEST_CASE("a bound by k <= q + shift visits the tiles below the diagonal") {
  Case c{64, 64, 1000, 32, {{1, -1, -100, true}}};     // k ≤ q + 100
  auto r = rangesOf(c);
  CHECK(r.begin == 0);
  CHECK(r.startsFull);
  CHECK(r.fullEnd == 160);    // k ≤ 164 is kept by row 64: five tiles
  CHECK(r.end == 228);        // k ≤ 227 is kept by row 127
}

TEST_CASE("a window that no tile reaches leaves nothing") {
  Case c{64, 64, 32, 32, {{-1, 1, -10, true}, {1, -1, 0, true}}};   // q - 10 ≤ k ≤ q
  auto r = rangesOf(c);
  CHECK(wrong(c, r) == "");
  CHECK(r.begin >= r.end);
}

TEST_CASE("without a key that a row may see nothing is visited") {
  Case c{0, 64, 32, 32, {{1, -1, 64, true}}};          // k ≤ q - 64
  auto r = rangesOf(c);
  CHECK(r.end <= 0);
  CHECK(wrong(c, r) == "");
}

TEST_CASE("an empty axis is not walked") {
  for (int64_t sign : {-1, 0, 1}) {
    Case c{0, 8, 0, 4, {{sign, -sign, 0, true}}};
    CHECK(wrong(c, rangesOf(c)) == "");
  }
}

TEST_CASE("skipped tiles are excluded and full tiles are full, for random half planes") {
  unsigned seed = 20261129;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  auto between = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int missedOnes = 0;
  for (int i = 0; i < 30000; ++i) {
    Case c{between(0, 20), between(1, 6), between(0, 40), between(1, 7), {}};
    for (int64_t n = between(0, 3); n-- > 0;)
      c.planes.push_back({between(-3, 3), between(-3, 3), between(-60, 60), between(0, 1) == 1});
    bool canBeFull = between(0, 7) != 0;
    auto r = rangesOf(c, canBeFull);
    std::string reason = wrong(c, r);
    if (!reason.empty()) {
      std::string planes;
      for (const Plane &p : c.planes)
        planes += " " + std::to_string(p.fold) + "k + " + std::to_string(p.row) + "q + " + std::to_string(p.rest) + (p.bounds ? " bounds;" : ";");
      INFO("rows " << c.firstRow << " + " << c.rows << ", extent " << c.extent << ", width " << c.width << ":" << planes);
      FAIL(reason);
    }
    if (canBeFull)
      missedOnes += missed(c, r);
  }
  CHECK(missedOnes == 0);   // nor is anything given away
}
