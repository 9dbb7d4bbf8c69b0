#include "Promotion.h"

namespace tw::detail {

Tile converted(const Tile &tile, Type type, Location where) {
  const Node &node = tile.node();
  if (node.type == type)
    return tile;
  if (node.op == Op::constant && node.weak && (isFloat(type) || isInteger(node.type))) {
    Node rewritten = node;
    rewritten.type = type;
    return makeTile(std::move(rewritten));
  }
  return makeTile({.op = Op::cast, .type = type, .axes = node.axes, .where = where, .operands = {tile}});
}

Type commonType(const Tile &a, const Tile &b) {
  const bool weakA = a.node().weak, weakB = b.node().weak;
  if (weakA != weakB) {
    const Tile &number = weakA ? a : b, &value = weakA ? b : a;
    if (isFloat(value.type()))
      return arithmeticType(value.type(), value.type());
    if (isFloat(number.type()))
      return Type::f32;
  }
  return arithmeticType(a.type(), b.type());
}

Type functionType(Type type) { return type == Type::f64 ? Type::f64 : Type::f32; }

} // namespace tw::detail
