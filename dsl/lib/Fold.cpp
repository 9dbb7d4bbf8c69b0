#include "tilewright/dsl/Fold.h"
#include "Dependence.h"
#include "Fail.h"
#include <algorithm>
#include <set>

namespace tw::detail {
namespace {

std::string carried(std::size_t slot, const Tile &tile) { return "carried value #" + std::to_string(slot) + " " + text(tile); }

/// Refuses what stands in the step of a fold and would mean something else there: a reduction made before
/// the fold, which meant the whole axis, and a fold over the same axis that needs this one's carried values.
class StepCheck {
public:
  StepCheck(const Fold &fold) : fold(fold), dependence(fold) {
    for (const Tile &argument : fold.arguments)
      opened = std::max(opened, argument.node().age);
  }

  void visit(const Tile &tile) {
    const Node &node = tile.node();
    if (!dependence.of(tile) || !seen.insert(&node).second)
      return;
    const bool consumes = node.op != Op::index && contains(node.consumed, fold.axis);
    if (consumes && node.age < opened)
      fail(node.where, std::string(name(node.op)) + " over '" + fold.axis.name() + "' was made before the fold over '" + fold.axis.name() +
                           "' that uses it, where it would see one tile only; make it in the step, or in a fold of its own before",
           {{fold.where, "the fold is here"}});
    for (const Tile &operand : node.operands)
      visit(operand);
    if (!node.fold)
      return;
    if (same(node.fold->axis, fold.axis)) {
      if (dependence.onArguments(tile))
        fail(node.fold->where, "a fold over '" + fold.axis.name() + "' inside a fold over '" + fold.axis.name() + "'; fold over another axis, or one after the other",
             {{fold.where, "the outer fold is here"}});
      return;
    }
    for (const Tile &start : node.fold->starts)
      visit(start);
    for (const Tile &yield : node.fold->yields)
      visit(yield);
  }

private:
  const Fold &fold;
  Dependence dependence;
  std::uint64_t opened = 0;
  std::set<const Node *> seen;
};

} // namespace

std::shared_ptr<Fold> openFold(const Axis &axis, Order order, std::vector<Tile> starts, Location where) {
  if (starts.empty())
    fail(where, "a fold over '" + axis.name() + "' carries nothing and so makes nothing; carry at least one value");
  auto fold = std::make_shared<Fold>(Fold{axis, order, std::move(starts), {}, {}, where});
  for (unsigned slot = 0; slot < fold->starts.size(); ++slot) {
    const Tile &start = fold->starts[slot];
    if (contains(start.axes(), axis))
      fail(start.where(), carried(slot, start) + " starts along the folded axis '" + axis.name() + "'; start it without: full(0, {...})",
           {{where, "in this fold"}});
    fold->arguments.push_back(makeTile({.op = Op::foldArgument, .type = start.type(), .axes = start.axes(), .where = where, .slot = slot}));
  }
  return fold;
}

void closeFold(Fold &fold, std::vector<Tile> yields) {
  const std::string &axis = fold.axis.name();
  if (yields.size() != fold.starts.size())
    fail(fold.where, "a fold that carries " + std::to_string(fold.starts.size()) + " values got " + std::to_string(yields.size()) + " from its step; return one for each");
  for (std::size_t slot = 0; slot < yields.size(); ++slot) {
    const Tile &start = fold.starts[slot];
    Tile &yield = yields[slot];
    if (contains(yield.axes(), fold.axis))
      fail(yield.where(), carried(slot, yield) + " still runs along the folded axis '" + axis + "'; reduce it first: sum(x, over(" + axis + "))",
           {{fold.where, "in this fold"}});
    if (yield.type() != start.type() || !same(yield.axes(), start.axes()))
      fail(yield.where(), "carried value #" + std::to_string(slot) + " enters as " + text(start) + " and leaves as " + text(yield) +
                              "; start it as full(..., " + text(yield.axes()) + ", " + spelled(yield.type()) + ") or change the step",
           {{start.where(), "it enters here"}, {fold.where, "in this fold"}});
  }
  fold.yields = std::move(yields);
  StepCheck check(fold);
  for (const Tile &yield : fold.yields)
    check.visit(yield);
}

Tile foldResult(const std::shared_ptr<const Fold> &fold, unsigned slot) {
  const Tile &start = fold->starts.at(slot);
  return makeTile({.op = Op::foldResult, .type = start.type(), .axes = start.axes(), .where = fold->where, .fold = fold, .slot = slot});
}

} // namespace tw::detail
