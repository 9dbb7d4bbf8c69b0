// Values made anew from others: equal ones are one node, and what constants decide is decided.
#pragma once
#include "tilewright/dsl/Fold.h"
#include "tilewright/dsl/Tensor.h"
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tw::detail {

/// The value itself, without the names it was given and the promises made of it.
[[nodiscard]] const Tile &meant(const Tile &tile);

class Algebra {
public:
  /// The node, folded and shared with every equal one made before. Its axes follow from its operands.
  Tile make(Node node);
  Tile number(double value, Type type) { return make({.op = Op::constant, .type = type, .axes = {}, .where = {}, .literal = value}); }
  /// A leaf of its own, equal to nothing else, to be replaced later.
  Tile placeholder(Type type, Axes axes, Location where);
  /// Takes a value to be neither infinite nor NaN.
  void assumeFinite(const Tile &tile) { finite.insert(&tile.node()); }

  // Operations on floats of one type; operands of another are cast.
  Tile unary(Op op, const Tile &a, Type type, Location where);
  Tile binary(Op op, const Tile &a, const Tile &b, Type type, Location where);
  Tile converted(const Tile &a, Type type, Location where);
  Tile choose(const Tile &condition, const Tile &then, const Tile &otherwise, Location where);
  /// A factor of a dot that makes values of `type`: as it was read, where it was only widened.
  Tile factor(const Tile &a, Type type);
  /// The value as a tile times what lacks its inner axes, if it is a product or a quotient of such; else the value alone.
  struct Factors {
    Tile tile;
    std::optional<Tile> factor;
  };
  Factors factors(const Tile &value, const std::function<bool(const Axis &)> &isInner, Type type);
  Tile logic(Op op, const std::vector<Tile> &operands, Location where);

private:
  std::optional<Tile> fold(const Node &node);
  std::optional<Tile> simplifySelect(const Node &node);
  std::optional<Tile> throughSelect(const Node &node);
  std::optional<Tile> simplifyBinary(const Node &node);
  bool isFinite(const Tile &tile) const;
  Tile shared(Node node);

  std::map<std::string, Tile> known;
  std::set<const Node *> finite;
  unsigned placeholders = 0;
};

/// Rebuilds values with some of them replaced. A fold's result that is not replaced stays; its step is not entered.
class Rewriter {
public:
  explicit Rewriter(Algebra &algebra) : algebra(algebra) {}
  void replace(const Tile &from, const Tile &to) { known.insert_or_assign(&from.node(), to); }
  Tile operator()(const Tile &tile);

private:
  Algebra &algebra;
  std::map<const Node *, Tile> known;
};

} // namespace tw::detail
