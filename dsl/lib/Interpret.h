// Values of a program over some ranges of its axes: the inside of evaluate().
#pragma once
#include "Dependence.h"
#include "Faults.h"
#include "Values.h"
#include "tilewright/dsl/Evaluate.h"
#include <unordered_map>

namespace tw::detail {

/// The lengths of a program's axes, by Axis::order().
using Lengths = std::map<unsigned, std::int64_t>;

/// Checks tensors and scalars against the program, and finds the length of every axis: by a tensor that is
/// indexed with the axis itself, or by name.
[[nodiscard]] Lengths bindLengths(const Program &program, const Evaluation &inputs);

/// An axis whose points do not meet each other, and how much of it is done at once.
struct Walked {
  Axis axis;
  std::int64_t width;
};

/// Axes that every store has and nothing consumes: one point at a time where both operands of every dot
/// vary along it, and in tiles of a fixed number of points on one side of the dots. The rest is kept whole.
[[nodiscard]] std::vector<Walked> walkedAxes(const Program &program, const Lengths &lengths);

/// What stays the same for one thread that interprets a program.
struct Machine {
  const Evaluation &inputs;
  const Lengths &lengths;
  Faults faults = {};
  std::map<const Fold *, std::unique_ptr<Dependence>> dependences = {};
  std::map<const Node *, bool> masks = {};

  Dependence &dependence(const Fold &fold);
  /// Whether where() has a say in the value, so that an exact 0 in it may stand for nothing.
  bool madeByMask(const Tile &tile);
};

struct Range {
  std::int64_t first, last;   // without `last`
};
using Ranges = std::map<unsigned, Range>;   // by Axis::order(); an axis not named has its whole length

/// Values over given ranges of the axes, each computed once. The step of a fold has a frame for each tile;
/// what does not differ from tile to tile is computed in the frame outside.
class Frame {
public:
  Frame(Machine &machine, Ranges ranges) : machine(machine), ranges(std::move(ranges)) {}
  const Value &value(const Tile &tile);
  [[nodiscard]] Range range(const Axis &axis) const;
  [[nodiscard]] std::vector<std::int64_t> lengths(const Axes &axes) const;

private:
  Frame(Frame &outer, const Fold &fold, Range tile);
  Value compute(const Node &node);
  Value leaf(const Node &node);
  Value load(const Node &node);
  /// Where a tensor's elements lie that are read at each point of `out`, by the first `dimensions` indices; faults go to `out`.
  std::vector<std::int64_t> offsetsOf(const Node &node, std::size_t dimensions, Value &out);
  Value search(const Node &node);
  Value elementwise(const Node &node);
  Value randomNumbers(const Node &node);
  Value reduction(const Node &node);
  Value dot(const Node &node);
  const Value &foldResult(const Node &node);
  std::vector<Value> runFold(const Fold &fold);
  Value blankFor(const Axes &axes) { return blank(axes, lengths(axes)); }

  Machine &machine;
  Ranges ranges;
  Frame *outer = nullptr;
  const Fold *fold = nullptr;
  std::unordered_map<const Node *, Value> values;
  std::unordered_map<const Fold *, std::vector<Value>> folds;
};

} // namespace tw::detail
