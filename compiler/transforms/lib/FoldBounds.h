// Which tiles of a fold the half planes of its masks leave: arithmetic over any kind of number.
//
// A fold walks tiles [t, t + width) with t a multiple of width. Everything in a half plane but the
// fold's own coordinate k lies between two numbers over an item's tile: fold · k + e ≤ 0, least ≤ e ≤ most.
//   a tile is skipped  only if for every e and every k in it  fold · k + e > 0  (for one bounding plane)
//   a tile is full     only if for every e and every k in it  fold · k + e ≤ 0  (for all planes), and it
//                      lies before the end of the axis
// So with fold = c > 0: kept elements have k ≤ ⌊-least / c⌋, and up to k = ⌊-most / c⌋ all are kept;
// with fold = -c: kept elements have k ≥ ⌈least / c⌉, and from ⌈most / c⌉ on all are kept.
//
// Arithmetic makes numbers: constant(int64_t), add, subtract, times(n, positive), floorDivide(n, positive), min, max,
// ifPositive(x, then, otherwise). The tests use plain integers, the pass builds IR.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tw {

/// A half plane as the fold sees it.
template <class Number> struct FoldPlane {
  int64_t fold;           // coefficient of the fold's coordinate
  Number least, most;     // of all the rest, over the item's tile
  bool bounds;            // a tile wholly outside changes nothing
};

/// The fold's tiles in ascending order: [begin, fullBegin) partial, [fullBegin, fullEnd) full, [fullEnd, end)
/// partial. Where a range's end is not above its begin it is empty. begin, fullBegin (if it is below end) and fullEnd are
/// multiples of the width; end may cut the last tile short.
template <class Number> struct FoldRanges {
  Number begin, fullBegin, fullEnd, end;
  bool startsFull;        // fullBegin is begin, whatever the numbers are
};

/// One term of a half plane: coefficient · x, lower ≤ x ≤ upper.
template <class Number> struct Term { int64_t coefficient; Number lower, upper; };

/// The least and the most of  Σ terms + rest.
template <class Arithmetic, class Number>
std::pair<Number, Number> extremes(Arithmetic &a, Number rest, const std::vector<Term<Number>> &terms) {
  Number least = rest, most = rest;
  for (const Term<Number> &term : terms) {
    if (term.coefficient == 0)
      continue;
    if (int64_t c = term.coefficient; c > 0) {
      least = a.add(least, a.times(term.lower, c));
      most = a.add(most, a.times(term.upper, c));
    } else {
      least = a.subtract(least, a.times(term.upper, -c));
      most = a.subtract(most, a.times(term.lower, -c));
    }
  }
  return {least, most};
}

/// The tiles that are left of [0, extent), and those of them that are full. `canBeFull`: the planes
/// given are all there are.
template <class Arithmetic, class Number>
FoldRanges<Number> foldRanges(Arithmetic &a, const std::vector<FoldPlane<Number>> &planes, Number extent, int64_t width, bool canBeFull) {
  const Number zero = a.constant(0);
  auto endOf = [&](Number e, int64_t c) {     // one past the last k with c·k + e ≤ 0
    return c == 1 ? a.subtract(a.constant(1), e) : a.add(a.floorDivide(a.subtract(zero, e), c), a.constant(1));
  };
  auto ceilOf = [&](Number e, int64_t c) { return c == 1 ? e : a.floorDivide(a.add(e, a.constant(c - 1)), c); };
  auto down = [&](Number k) { return width == 1 ? k : a.times(a.floorDivide(k, width), width); };
  auto up = [&](Number k) { return width == 1 ? k : down(a.add(k, a.constant(width - 1))); };

  std::optional<Number> first, firstFull;     // lower bounds, where there are any
  Number end = extent;
  for (const FoldPlane<Number> &plane : planes) {
    if (!plane.bounds)
      continue;
    if (plane.fold > 0)
      end = a.min(end, endOf(plane.least, plane.fold));
    else if (plane.fold < 0)
      first = a.max(first.value_or(zero), ceilOf(plane.least, -plane.fold));
    else
      end = a.ifPositive(plane.least, zero, end);
  }
  if (end != extent)                          // some plane bounds from above, perhaps below 0
    end = a.max(end, zero);
  const Number begin = first ? down(*first) : zero;
  if (!canBeFull)
    return {begin, begin, begin, end, true};

  Number endFull = end;
  for (const FoldPlane<Number> &plane : planes) {
    if (plane.fold > 0)
      endFull = a.min(endFull, endOf(plane.most, plane.fold));
    else if (plane.fold < 0)
      firstFull = a.max(firstFull.value_or(begin), ceilOf(plane.most, -plane.fold));
    else
      endFull = a.ifPositive(plane.most, zero, endFull);
  }
  const Number fullBegin = firstFull ? a.min(up(*firstFull), end) : begin;
  return {begin, fullBegin, a.max(fullBegin, down(endFull)), end, !firstFull};
}

} // namespace tw
