// Named dimensions of the iteration space.
#pragma once
#include "tilewright/dsl/Diagnostic.h"
#include <memory>
#include <string>
#include <vector>

namespace tw {

/// A named dimension. Copies are the same axis; two axes made apart are different even under one name.
/// How wide a tile is along an axis is the Schedule's business, never the program's.
/// `a == b` compares coordinates, as `a <= b` does; whether two are the same axis says `same(a, b)`.
class Axis {
public:
  explicit Axis(std::string name, Location where = Location::current());
  [[nodiscard]] const std::string &name() const { return info->name; }
  [[nodiscard]] Location where() const { return info->where; }
  /// Order of declaration: in a set of axes the earlier stands first.
  [[nodiscard]] unsigned order() const { return info->order; }
  friend bool same(const Axis &a, const Axis &b) { return a.info == b.info; }

private:
  struct Info {
    std::string name;
    Location where;
    unsigned order;
  };
  std::shared_ptr<const Info> info;
};

/// A set of axes, in order of declaration.
using Axes = std::vector<Axis>;

struct AxisLess {
  bool operator()(const Axis &a, const Axis &b) const { return a.order() < b.order(); }
};

[[nodiscard]] bool contains(const Axes &axes, const Axis &axis);
[[nodiscard]] bool same(const Axes &a, const Axes &b);
[[nodiscard]] Axes unite(const Axes &a, const Axes &b);
[[nodiscard]] Axes without(const Axes &axes, const Axis &axis);
[[nodiscard]] Axes sorted(Axes axes);
/// `[b, h, q]`
[[nodiscard]] std::string text(const Axes &axes);

/// The axis that a reduction or a contraction consumes: dot(x, y, over(d)).
struct Over {
  Axis axis;
};
[[nodiscard]] inline Over over(Axis axis) { return {std::move(axis)}; }

} // namespace tw
