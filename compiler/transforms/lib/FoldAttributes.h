// The discardable attributes of a fold's scf.for.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace tw {

/// The axis that the loop walks.
inline constexpr llvm::StringLiteral foldAxisAttr = "tile.fold";
/// "full" where no tile of the loop is masked, else "partial".
inline constexpr llvm::StringLiteral foldRangeAttr = "tile.range";
/// On a tile.kept: where each mask that it asks stands in the program.
inline constexpr llvm::StringLiteral foldMasksAttr = "tile.masks";
/// What each carried value is: "value", "sum" or "accumulator".
inline constexpr llvm::StringLiteral foldCarriedAttr = "tile.carried";

} // namespace tw
