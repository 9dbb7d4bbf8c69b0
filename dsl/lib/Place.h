// Where each value of a program stands in its text: outside of folds, or in the step of one.
#pragma once
#include "Dependence.h"
#include "tilewright/dsl/Program.h"
#include <list>

namespace tw::detail {

struct Block;

/// One line of text: a value, or a fold with the block of its step.
struct Line {
  const Node *node = nullptr;
  const Fold *fold = nullptr;
  std::unique_ptr<Block> step = nullptr;
  Location where = {};
};

struct Block {
  std::vector<Line> lines;
};

/// A leaf is written where it is used and has no line of its own: `k`, `extent(k)`, `0.5`.
[[nodiscard]] bool isInline(const Node &node);

/// Puts every value into the outermost block in which it means the same: what differs from tile to tile
/// into the fold's step, all else before the fold. Operands come before users.
[[nodiscard]] Block place(const Program &program);

} // namespace tw::detail
