// Which tiles of a fold an item visits, from the program's masks.
#pragma once
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/LaunchShape.h"
#include <limits>

namespace tw {

/// What a value may be in a tile.
struct Interval {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  [[nodiscard]] bool is(double value) const { return low == value && high == value; }
};

/// Tiles of the fold that one tile of the block axis visits.
struct Visit {
  double all = 0;        // those that masks do not empty
  double partial = 0;    // of them, those that a mask or the end of an axis cuts
};

/// Follows a step's values through a tile as intervals. A tile is skipped where everything that the step adds over the fold axis is 0 there, and
/// everything that it takes a maximum of −inf. A value that no interval is known of (an element of a tensor, a result of a dot) is taken to be any
/// finite number, so that a factor of exactly 0 empties what it multiplies.
class Visits {
public:
  Visits(const Program &program, const Roles &roles, const std::map<std::string, std::int64_t> &lengths, const LaunchShape &shape);

  /// Of block coordinates [begin, end), along the fold in tiles of `width`.
  [[nodiscard]] Visit of(std::int64_t begin, std::int64_t end, std::int64_t width) const;
  /// Whether items differ: whether a mask reads both axes.
  [[nodiscard]] bool differ() const { return itemsDiffer; }
  /// Of the points around the fold, the share in which masks leave anything: of the others nothing is computed.
  [[nodiscard]] double shareOfPoints() const { return pointShare; }

private:
  enum class Kind { empty, partial, full };
  struct Step {
    const Node *node;
    std::vector<std::size_t> operands;   // places in `steps`
    bool varies = false;                 // from tile to tile
    bool isPoint = false;                // a coordinate that is set once for all tiles
    bool isOpaque = false;               // depends on elements of a tensor, or on chance
  };

  std::size_t add(const Tile &tile, const LaunchShape &shape);
  Interval value(const Step &step, const std::vector<Interval> &values) const;
  Kind classify(std::int64_t begin, std::int64_t end, std::int64_t foldBegin, std::int64_t foldEnd) const;
  void findPoints();
  void count(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t last, std::int64_t width, std::int64_t finest, Visit &visit) const;

  const Roles &roles;
  const std::map<std::string, std::int64_t> &lengths;
  std::map<const Node *, std::size_t> places;
  std::vector<Step> steps;               // operands before users
  mutable std::vector<Interval> values;  // of each step
  std::vector<std::size_t> sums, maxima, minima, conditions;
  std::int64_t foldLength = 0;
  double pointShare = 1;
  bool itemsDiffer = false, isOpaque = false;   // of conditions
};

} // namespace tw
