// Steps of a score and masks, as ordinary functions on values.
#pragma once
#include "tilewright/dsl/Tensor.h"
#include <functional>

namespace tw {

/// Where a score sits: coordinates and lengths, each an ordinary value, so modifiers are ordinary arithmetic.
struct At {
  Tile batch, head, query, key;     // coordinates
  Tile queries, keys;               // Sq, Skv
};
using ScoreFunction = std::function<Tile(Tile score, const At &at)>;
using MaskFunction = std::function<Tile(const At &at)>;

/// A step of the score, remembered with the line on which the user asked for it.
struct Modifier {
  std::string label;
  ScoreFunction apply;
  Location where;
  bool setsScale = false;     // replaces the default 1/√D
};

/// score · factor, in place of the default 1/√D.
[[nodiscard]] Modifier scaled(double factor, Location where = Location::current());
[[nodiscard]] Modifier scaled(Tile factor, Location where = Location::current());
/// cap · tanh(score / cap)
[[nodiscard]] Modifier softcap(double cap, Location where = Location::current());
[[nodiscard]] Modifier softcap(Tile cap, Location where = Location::current());
/// score + slopes[head] · (key − query − (Skv − Sq)); slopes [H].
[[nodiscard]] Modifier alibi(Tensor slopes, Location where = Location::current());
/// Keeps key ≤ query + Skv − Sq (bottom-right aligned).
[[nodiscard]] Modifier causal(Location where = Location::current());
/// Keeps key ≤ query (top-left aligned).
[[nodiscard]] Modifier causalTopLeft(Location where = Location::current());
/// Keeps −right ≤ query + Skv − Sq − key ≤ left; −1 is unbounded on that side; less than −1 is refused.
[[nodiscard]] Modifier slidingWindow(int left, int right, Location where = Location::current());
/// Your own mask: scores where `keep` does not hold become −infinity.
[[nodiscard]] Modifier masked(std::string label, MaskFunction keep, Location where = Location::current());

} // namespace tw
