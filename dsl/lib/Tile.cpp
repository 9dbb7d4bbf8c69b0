#include "tilewright/dsl/Tile.h"
#include "tilewright/dsl/Fold.h"
#include <algorithm>
#include <array>
#include <atomic>

namespace tw {

const char *name(Op op) {
  static constexpr std::array names{
      "constant", "index", "extent", "dimension", "scalar", "load", "contains",
      "neg", "abs", "exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "tanh_approximate", "sigmoid", "sqrt", "rsqrt", "sin", "cos", "erf", "floor", "ceil", "round", "trunc", "not", "cast",
      "add", "sub", "mul", "div", "floor_div", "mod", "pow", "min", "max", "bit_and", "bit_or", "bit_xor", "shift_left", "shift_right",
      "lt", "le", "gt", "ge", "eq", "ne", "and", "or",
      "random",
      "select",
      "reduce_max", "reduce_min", "reduce_sum",
      "dot",
      "fold_argument", "fold_result", "named", "stabiliser"};
  static_assert(names.size() == std::size_t(Op::stabiliser) + 1, "one name an operation");
  return names[std::size_t(op)];
}

/// Walks of a program are recursive.
constexpr unsigned deepest = 2000;

Tile makeTile(Node node) {
  static std::atomic<std::uint64_t> made{0};
  node.age = ++made;
  for (const Tile &operand : node.operands)
    node.depth = std::max(node.depth, operand.node().depth + 1);
  if (node.fold)
    for (const Tile &yield : node.fold->yields)
      node.depth = std::max(node.depth, yield.node().depth + 1);
  if (node.depth > deepest)
    throw ProgramError({node.where, "this value stands on a chain of more than " + std::to_string(deepest) + " operations; carry it through a fold, or combine the parts pairwise", {}});
  return Tile(std::make_shared<const Node>(std::move(node)));
}

std::string text(const Tile &tile) {
  std::string out = name(tile.type());
  return tile.axes().empty() ? out : out + text(tile.axes());
}

} // namespace tw
