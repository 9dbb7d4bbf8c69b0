// What tiles of a program take, by where they live.
#pragma once
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include <set>
#include <vector>

namespace tw {

/// One tile that must be somewhere while an item runs.
struct TileUse {
  enum class Kind {
    blockOperand,    // a loaded dot operand that stays for the whole item
    foldOperand,     // a loaded dot operand of every step
    vector,          // a load along the fold axis alone
    accumulator,     // carried over two axes
    column,          // numbers along the fold axis that elementwise work reads: coordinates, a vector, or elements of a tensor
    exchange,        // what warpgroups compute for each other: a left operand that is contracted along the block axis
    outbox,          // what a step adds to a tensor, on its way there
    product          // what a dot of a step gives, unless it is added to an accumulator at once
  };
  Kind kind;
  Axes axes;         // two of them; of a vector or a column one
  int elementBytes;
};

/// All tiles of the program, each once.
[[nodiscard]] std::vector<TileUse> tileUses(const Program &program, const Roles &roles);

/// What they take of a processor: footprint() of a program, for many schedules.
[[nodiscard]] Footprint footprint(const std::vector<TileUse> &uses, const Schedule &schedule, const Target &target);

} // namespace tw
