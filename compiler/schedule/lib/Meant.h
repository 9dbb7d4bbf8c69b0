// What a value is, whatever name or promise it carries.
#pragma once
#include "tilewright/dsl/Roles.h"

namespace tw {

/// Looks through names and promises.
inline const Tile &meant(const Tile &tile) {
  const Node &node = tile.node();
  return node.op == Op::named || node.op == Op::stabiliser ? meant(node.operands.back()) : tile;
}

} // namespace tw
