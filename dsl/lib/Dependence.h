// What of a program belongs into the step of a fold, and which carried values are used out of place.
#pragma once
#include "tilewright/dsl/Fold.h"
#include <map>
#include <set>

namespace tw::detail {

/// Which values differ from one tile of a fold to the next: those that stand on its carried values or
/// run along its axis. A fold over the same axis inside walks its own tiles.
class Dependence {
public:
  explicit Dependence(const Fold &fold);
  [[nodiscard]] bool of(const Tile &tile) { return depends(tile, true); }
  [[nodiscard]] bool onArguments(const Tile &tile) { return depends(tile, false); }

private:
  bool depends(const Tile &tile, bool alongAxis);
  bool compute(const Node &node, bool alongAxis);
  const Fold &fold;
  std::set<const Node *> arguments;
  std::map<const Node *, bool> known[2];   // by alongAxis
};

/// The carried values of folds that `tile` stands on without being inside their fold.
class FreeArguments {
public:
  const std::set<const Node *> &of(const Tile &tile);

private:
  std::map<const Node *, std::set<const Node *>> known;
};

} // namespace tw::detail
