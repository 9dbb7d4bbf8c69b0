// What tiles of a program take, by where they live.
#pragma once
#include "tilewright/dsl/Roles.h"
#include <set>
#include <vector>

namespace tw {

/// One tile that must be somewhere while an item runs.
struct TileUse {
  enum class Kind {
    blockOperand,    // a loaded dot operand that stays for the whole item
    foldOperand,     // a loaded dot operand of every step
    accumulator,     // carried over two axes
    column,          // numbers along the fold axis that elementwise work reads: coordinates, or a vector
    product          // what a dot of a step gives, unless it is added to an accumulator at once
  };
  Kind kind;
  Axes axes;         // two of them; of a column one
  int elementBytes;
};

/// All tiles of the program, each once.
[[nodiscard]] std::vector<TileUse> tileUses(const Program &program, const Roles &roles);

} // namespace tw
