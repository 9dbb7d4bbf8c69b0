// The fold programs of a gradient: which sums go into which program, and what is left for a later one.
#pragma once
#include "Reverse.h"
#include "tilewright/dsl/Gradient.h"
#include "tilewright/dsl/Roles.h"

namespace tw::detail {

/// Where the gradient of a read lies in its tensor's: along the axes by which it was indexed, and where an index was anything
/// else along an axis of its own, at the points where the index is equal to its coordinate.
struct Target {
  std::vector<Axis> index;                          // one a dimension
  std::vector<std::pair<Tile, Axis>> conditions;    // index, and the axis that it must be equal to
  [[nodiscard]] Axes axes() const { return sorted(index); }
};

/// The axes that are not among the others.
[[nodiscard]] Axes lacking(const Axes &axes, const Axes &others);
/// Are all of the others among the axes?
[[nodiscard]] bool covers(const Axes &axes, const Axes &others);
/// Is it read, and not computed?
[[nodiscard]] bool isLeaf(const Tile &tile);

/// `dQ` of `Q`.
[[nodiscard]] inline std::string derivativeName(const std::string &name) { return std::string(1, 'd').append(name); }

/// Makes programs of adjoints that are still to be summed over axes that no tile holds whole.
class GradientPrograms {
public:
  GradientPrograms(Algebra &algebra, const Program &program, const Roles &roles, Type type, const GradientOptions &options, Gradient &result);

  // What is wanted of the inputs.
  void want(const std::string &input) { wanted.insert(input); }
  [[nodiscard]] bool isWanted(const Tile &leaf) const;
  [[nodiscard]] bool isInner(const Axis &axis) const { return roles.of(axis) == Role::inner; }
  /// Whether a value runs along the block axis and the fold axis, or along one of them.
  [[nodiscard]] bool isPair(const Axes &axes) const { return contains(axes, block) && contains(axes, foldAxis); }
  [[nodiscard]] bool alongTile(const Axes &axes) const { return contains(axes, block) || contains(axes, foldAxis); }

  /// A name that no tensor of the program has.
  [[nodiscard]] std::string unique(std::string name);
  /// Axes in the order in which a tensor between programs has them.
  [[nodiscard]] Axes ordered(Axes axes) const;
  /// A tensor between programs, indexed by `axes`, of the type in which sums are carried or of another.
  [[nodiscard]] Tensor intermediate(const std::string &name, const Axes &axes) { return intermediate(name, axes, type); }
  [[nodiscard]] Tensor intermediate(const std::string &name, const Axes &axes, Type of);

  /// Begins a program; stores are put into it until it is finished, which drops it if there are none.
  void begin(std::string suffix);
  /// The same for one of rows, before the fold's own: tiles of rows are left to putTile().
  void beginRows(std::string suffix);
  void put(Store store) { open.stores.push_back(std::move(store)); }
  void finish();
  /// Stores a value of the rows' tiles, along inner axes too, in the program that sums over the fold axis, before the others: `made`, where others read
  /// it, is what they read.
  void putTile(Store store, std::optional<Tile> made = {}) { tileStores.push_back({std::move(store), std::move(made)}); }

  /// Nodes and their adjoints, complete but for sums over axes that the node (of a leaf: its target) lacks: stores them, takes
  /// them further down, or leaves them to a program of their own.
  void settle(std::vector<std::pair<Tile, Tile>> adjoints);
  /// Values on the way to a node, to be summed over the fold axis and what else the node lacks: sorted into programs.
  void sumOverTiles(const std::vector<Arrival> &arrivals);
  /// Programs for what settle() left.
  void finishStages();

  /// One fold over `axis`, inside ones over `outer`, of which each result is a sum of `pieces(step)`.
  std::vector<Tile> sums(const Axes &outer, const Axis &axis, const std::vector<Axes> &axes, const std::function<std::vector<Tile>()> &pieces, Location where);
  /// A sum of all elements along an axis, a node of its own.
  Tile total(const Tile &value, const Axis &axis);

private:
  struct Group {
    std::optional<Axis> fold;
    Axes outer;
    std::vector<std::pair<Tile, Axis>> conditions;
    std::vector<Arrival> arrivals;
    std::vector<Axes> axes;   // of each sum
    std::vector<std::pair<Arrival, Axes>> added;   // what steps add to tensors between programs
  };
  struct Stage {
    Tile node, partial;
  };
  struct TileStore {
    Store store;
    std::optional<Tile> made;
  };
  struct Reduction {
    Tile value;
    Axes kept, reduced;
  };
  void end(const Tile &node, const Tile &adjoint);
  void leave(const Tile &node, const Tile &value, const Axes &axes, const char *suffix);
  Reduction reductionOf(const Stage &stage);
  Target &targetOf(const Tile &leaf);
  void place(const Arrival &arrival);
  void build(Group &group, bool makesTiles);
  void moveRowSums();
  void storeTiles();
  std::vector<Tile> pairByPair(std::vector<Tile> values, Location where);
  Tile piece(const Arrival &arrival, const Group &group, const Axes &axes, Rewriter &rewrite);
  void storeLeaf(const Tile &leaf, const Tile &adjoint);
  bool addToEarlier(const std::string &name, const std::string &gradient, Store &store);
  void putRows(Store store);
  bool isOfRows(const Group &group) const;
  Tile isAt(const Tile &index, const Axis &axis);
  std::string nameOf(const Tile &node) const;
  int nearness(const Axis &axis) const;
  Axes freeAxes(const Axes &axes) const;

  Algebra &algebra;
  const Program &program;
  const Roles &roles;
  Type type;
  int tilesPerProgram;
  bool accumulates;
  Gradient &result;
  Axis block, foldAxis;
  std::optional<std::pair<Tile, Axis>> only;   // 0, and the axis of length 1 that gradients of scalars are stored along
  std::set<std::string> wanted, names, axisNames;
  std::map<const Node *, Target> targets;
  std::map<unsigned, Intermediate::Length> lengths;   // by Axis::order()
  std::map<std::string, Location> stored;             // gradients that have a store
  std::vector<TileStore> tileStores;
  std::vector<Group> groups;
  std::vector<Stage> stages;
  Program open;
  bool ofRows = false;
};

} // namespace tw::detail
