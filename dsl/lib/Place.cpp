#include "Place.h"

namespace tw::detail {
namespace {

class Placer {
public:
  Block run(const Program &program) {
    Block top;
    scopes.push_back({&top, nullptr, {}, {}});
    for (const Requirement &requirement : program.requirements)
      value(requirement.condition);
    for (const Store &store : program.stores)
      value(store.value);
    return top;
  }

private:
  struct Scope {
    Block *block;
    std::unique_ptr<Dependence> dependence;   // none for the outermost
    std::set<const Node *> values;
    std::set<const Fold *> folds;
  };

  /// The innermost scope in which `tile` differs from tile to tile.
  std::size_t home(const Tile &tile) {
    std::size_t level = scopes.size() - 1;
    while (level > 0 && !scopes[level].dependence->of(tile))
      --level;
    return level;
  }

  bool placed(const Node &node) const {
    for (const Scope &scope : scopes)
      if (scope.values.count(&node))
        return true;
    return false;
  }

  void value(const Tile &tile) {
    const Node &node = tile.node();
    if (isInline(node) || node.op == Op::foldArgument || placed(node))
      return;
    const std::size_t level = home(tile);
    if (node.op == Op::foldResult)
      return fold(*node.fold, level);
    // All between the inputs of a library step and its result belongs to the user's line.
    const bool isStep = node.op == Op::named && node.operands.size() > 1;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const Location *outer = user;
      if (isStep && i + 1 == node.operands.size())
        user = &node.where;
      value(node.operands[i]);
      user = outer;
    }
    add(level, {.node = &node, .where = place(node.where)});
    scopes[level].values.insert(&node);
  }

  void fold(const Fold &fold, std::size_t level) {
    for (const Scope &scope : scopes)
      if (scope.folds.count(&fold))
        return;
    for (const Tile &start : fold.starts)
      value(start);
    // The step sees the scopes in which the fold itself stands.
    std::vector<Scope> inner;
    while (scopes.size() > level + 1) {
      inner.push_back(std::move(scopes.back()));
      scopes.pop_back();
    }
    auto step = std::make_unique<Block>();
    scopes.push_back({step.get(), std::make_unique<Dependence>(fold), {}, {}});
    for (const Tile &yield : fold.yields)
      value(yield);
    scopes.pop_back();
    for (; !inner.empty(); inner.pop_back())
      scopes.push_back(std::move(inner.back()));
    add(level, {.fold = &fold, .step = std::move(step), .where = place(fold.where)});
    scopes[level].folds.insert(&fold);
  }

  void add(std::size_t level, Line line) { scopes[level].block->lines.push_back(std::move(line)); }
  Location place(const Location &own) const { return user ? *user : own; }

  std::vector<Scope> scopes;
  const Location *user = nullptr;
};

} // namespace

bool isInline(const Node &node) {
  switch (node.op) {
  case Op::constant:
    return node.axes.empty();
  case Op::index:
  case Op::extent:
  case Op::dimension:
  case Op::scalar:
    return true;
  default:
    return false;
  }
}

Block place(const Program &program) { return Placer().run(program); }

} // namespace tw::detail
