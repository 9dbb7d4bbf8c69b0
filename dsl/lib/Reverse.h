// Reverse mode over a graph of values.
#pragma once
#include "Algebra.h"
#include <functional>

namespace tw::detail {

/// Conditions under which a value matters, each with the truth that it must have. Where one does not hold, the value may be
/// anything, a NaN too.
using Guard = std::vector<std::pair<Tile, bool>>;

/// The value where the guard holds, else 0.
[[nodiscard]] Tile guarded(Algebra &algebra, const Tile &value, const Guard &guard);

/// A part of the adjoint of a value: a · b, to be summed over the axes that the value lacks, and 0 where the guard does not hold.
struct Contribution {
  Tile a;
  std::optional<Tile> b;
  Guard guard;
  [[nodiscard]] Axes axes() const { return b ? unite(a.axes(), b->axes()) : a.axes(); }
};

struct Arrival {
  Tile node;
  std::vector<Contribution> parts;
};

/// Takes adjoints from seeds down to the nodes at which it is told to stop. A guard stays with an adjoint until it is summed, so
/// that one where() serves a whole chain, and what a mask has taken out never meets 0 · NaN.
class Reverse {
public:
  struct Rules {
    std::function<Tile(const Tile &)> value;       // what stands for a node where a derivative needs its value
    std::function<bool(const Tile &)> isWanted;    // leaves of which gradients are asked for
    std::function<bool(const Tile &)> stopsAt;     // nodes whose contributions are handed out
    std::function<bool(const Axis &)> isInner;     // axes that are summed over at once
    /// Whether what is on its way to a node is to be summed by `sumLater`. That is asked when nothing else can go on, for all nodes at
    /// once, and answers with one sum for each arrival, whose parts are then done; nothing for one that is left to another round.
    std::function<bool(const Tile &node, const Contribution &)> isLater = [](const Tile &, const Contribution &) { return false; };
    std::function<std::vector<std::optional<Tile>>(const std::vector<Arrival> &)> sumLater = {};
    /// Told of every adjoint that is complete.
    std::function<void(const Tile &, const Tile &, const Guard &)> settled = [](const Tile &, const Tile &, const Guard &) {};
  };
  Reverse(Algebra &algebra, Type type, Rules rules) : algebra(algebra), type(type), rules(std::move(rules)) {}

  void seed(const Tile &node, const Tile &adjoint);
  [[nodiscard]] std::vector<Arrival> run();
  /// The product with its inner axes summed over that `axes` lacks, unguarded.
  [[nodiscard]] Tile product(const Contribution &part, const Axes &axes);
  /// The sum of contributions as one value under one guard.
  [[nodiscard]] Contribution combined(const Arrival &arrival);
  [[nodiscard]] bool isActive(const Tile &tile);

private:
  struct State {
    Arrival arrival;
    unsigned users = 0;
  };
  void reach(const Tile &tile);
  bool hasLater(const Arrival &arrival) const;
  bool sumRound(std::vector<Tile> &complete);
  void propagate(const Tile &tile, const Tile &adjoint, const Guard &guard);
  void elementwise(const Tile &tile, const Tile &adjoint, const Guard &guard);
  void give(const Tile &operand, Contribution part);
  std::vector<Tile> carriers(const Tile &tile) const;

  Algebra &algebra;
  Type type;
  Rules rules;
  const Node *giver = nullptr;   // the node whose adjoint is being passed on
  std::vector<std::pair<Tile, Tile>> seeds;
  std::map<const Node *, State> states;
  std::map<const Node *, bool> active;
};

} // namespace tw::detail
