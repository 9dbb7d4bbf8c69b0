// One walk over all that a program is made of.
#pragma once
#include "tilewright/dsl/Program.h"
#include <functional>
#include <set>

namespace tw::detail {

/// Calls `node` for every node of the program and `fold` for every fold, each once, operands before users:
/// requirements first, then stores.
struct Walk {
  std::function<void(const Tile &)> node = [](const Tile &) {};
  std::function<void(const std::shared_ptr<const Fold> &)> fold = [](const std::shared_ptr<const Fold> &) {};

  void over(const Program &program);
  void over(const Tile &tile);

private:
  std::set<const Node *> seenNodes;
  std::set<const Fold *> seenFolds;
};

/// Is each element of the value computed by itself?
[[nodiscard]] bool isElementwise(const Tile &value);

} // namespace tw::detail
