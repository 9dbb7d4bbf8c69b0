#include "tilewright/dsl/Reads.h"
#include "tilewright/dsl/Fold.h"
#include <algorithm>
#include <map>
#include <set>

namespace tw {
namespace {

/// A condition under which a value matters: it holds, or it does not.
using Guard = std::pair<const Node *, bool>;

class Reads {
public:
  std::vector<ComputedRead> found;

  void visit(const Tile &tile, const std::map<Guard, Tile> &guards) {
    const Node &node = tile.node();
    std::set<Guard> places;
    for (const auto &[guard, condition] : guards)
      places.insert(guard);
    auto &seen = visited[&node];   // a visit under fewer conditions covers one under more
    if (std::any_of(seen.begin(), seen.end(),
                    [&](const std::set<Guard> &before) { return std::includes(places.begin(), places.end(), before.begin(), before.end()); }))
      return;
    seen.push_back(places);
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      std::map<Guard, Tile> inner = guards;
      auto under = [&](const Tile &condition, bool holds) { inner.emplace(Guard{&condition.node(), holds}, holds ? condition : !condition); };
      if (node.op == Op::select && i > 0)
        under(node.operands[0], i == 1);
      if (node.op == Op::logicalAnd || node.op == Op::logicalOr)
        under(node.operands[1 - i], node.op == Op::logicalAnd);
      visit(node.operands[i], inner);
    }
    if (node.op == Op::load || node.op == Op::contains)
      read(node, guards);
    if (node.op == Op::foldResult)
      for (const auto *values : {&node.fold->starts, &node.fold->yields})
        for (const Tile &value : *values)
          visit(value, {});
  }

private:
  struct Facts {
    bool isPlain = true;     // made of coordinates, lengths, scalars and elements of tensors
    bool isStored = false;   // depends on elements of tensors
  };
  std::map<const Node *, std::vector<std::set<Guard>>> visited;
  std::map<const Node *, Facts> known;

  const Facts &factsOf(const Tile &tile) {
    const Node &node = tile.node();
    if (const auto before = known.find(&node); before != known.end())
      return before->second;
    Facts facts{node.op != Op::dot && node.op != Op::foldArgument && node.op != Op::foldResult && node.op != Op::reduceSum &&
                    node.op != Op::reduceMax && node.op != Op::reduceMin,
                node.op == Op::load || node.op == Op::contains};
    for (const Tile &operand : node.operands) {
      const Facts &inner = factsOf(operand);
      facts.isPlain &= inner.isPlain;
      facts.isStored |= inner.isStored;
    }
    return known[&node] = facts;
  }

  void read(const Node &load, const std::map<Guard, Tile> &guards) {
    const bool isList = load.op == Op::contains;   // of which the last operand says how many elements are looked at
    for (unsigned d = 0; d < load.tensor->rank; ++d) {
      const Tile index = isList && d + 1 == load.tensor->rank ? max(load.operands.back() - 1, 0) : load.operands[d];
      const Facts &facts = factsOf(index);
      if (!facts.isPlain || (!facts.isStored && (guards.empty() || index.axes().empty())) ||
          std::any_of(guards.begin(), guards.end(), [&](const auto &guard) { return !factsOf(guard.second).isPlain; }))
        continue;
      const Tile length = makeTile({.op = Op::dimension, .type = Type::i32, .axes = {}, .where = load.where, .tensor = load.tensor, .slot = d});
      Tile outside = (index < 0) | (index >= length);
      for (const auto &[guard, condition] : guards)
        outside = outside & condition;
      found.push_back({load.tensor->name, d, load.where, index, outside});
    }
  }
};

}   // namespace

std::vector<ComputedRead> computedReads(const Program &program) {
  Reads reads;
  for (const Store &store : program.stores)
    reads.visit(store.value, {});
  return std::move(reads.found);
}

}   // namespace tw
