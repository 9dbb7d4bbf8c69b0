// Arrays in global memory, named in the program and given at launch.
#pragma once
#include "tilewright/dsl/Tile.h"
#include <concepts>

namespace tw {

struct TensorInfo {
  std::string name;
  Type type;
  unsigned rank;
  Location where;
};

/// An array in global memory, of any strides. Copies are the same tensor; a program takes no two made apart under one name. Calling it with one index a dimension reads from it.
class Tensor {
public:
  Tensor(std::string name, Type type, unsigned rank, Location where = Location::current());
  [[nodiscard]] const std::string &name() const { return info->name; }
  [[nodiscard]] Type type() const { return info->type; }
  [[nodiscard]] unsigned rank() const { return info->rank; }
  /// The length of one dimension, i32, known at launch.
  [[nodiscard]] Tile dimension(unsigned d, Location where = Location::current()) const;
  [[nodiscard]] Tile at(std::vector<Operand> indices, Location where = Location::current()) const;
  // The first index carries the user's line.
  [[nodiscard]] Tile operator()(Operand a) const { return at({a}, a.where); }
  [[nodiscard]] Tile operator()(Operand a, Operand b) const { return at({a, b}, a.where); }
  [[nodiscard]] Tile operator()(Operand a, Operand b, Operand c) const { return at({a, b, c}, a.where); }
  [[nodiscard]] Tile operator()(Operand a, Operand b, Operand c, Operand d) const { return at({a, b, c, d}, a.where); }
  [[nodiscard]] Tile operator()(Operand a, Operand b, Operand c, Operand d, Operand e) const { return at({a, b, c, d, e}, a.where); }
  std::shared_ptr<const TensorInfo> info;
};

/// Whether `value` is among the first `count` elements of the list's last dimension, at one index for each dimension before it; all of them where no
/// count is given. Elements may stand in any order, and more than once.
[[nodiscard]] Tile contains(const Tensor &list, std::vector<Operand> at, Operand value, Operand count, Location where = Location::current());
[[nodiscard]] Tile contains(const Tensor &list, std::vector<Operand> at, Operand value, Location where = Location::current());

} // namespace tw
