// Which elements of a fold the masks of a program keep, by evaluate().
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Roles.h"
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// The condition that all masks of the fold's step have together, one that always holds where there is no mask; nothing where one
/// depends on computed values.
[[nodiscard]] std::optional<Tile> keptBy(const Roles &roles);

/// Whether a line of the program chooses between values along the fold, so that a mask from there is its own and not the end of the axis.
[[nodiscard]] bool masksAt(const Roles &roles, const Location &where);

/// Row by row, of the item whose free axes are at `item`; `inputs.extents` lists all axes.
[[nodiscard]] std::vector<bool> keptElements(const Tile &condition, const Roles &roles, const Evaluation &inputs, const std::map<std::string, std::int64_t> &item);

} // namespace tw::cli
