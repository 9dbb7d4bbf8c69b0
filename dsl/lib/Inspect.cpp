#include "tilewright/dsl/Inspect.h"
#include "Place.h"
#include <algorithm>
#include <functional>
#include <set>

namespace tw {
namespace {

bool runsAlong(const Tile &tile, const Axis &axis) {
  return std::any_of(tile.axes().begin(), tile.axes().end(), [&](const Axis &each) { return same(each, axis); });
}

/// What hides an element: -inf before a softmax, 0 as a weight.
bool hides(const Tile &tile) {
  const Node *node = &tile.node();
  while (node->op == Op::named || node->op == Op::cast)
    node = &node->operands.back().node();
  return node->op == Op::constant && (node->literal == 0 || node->literal == -infinity);
}

std::string namesOf(const Axes &axes) {
  std::string names;
  for (const Axis &axis : axes)
    names += (names.empty() ? "" : ", ") + axis.name();
  return names;
}

}   // namespace

std::vector<Diagnostic> suspicions(const Program &program) {
  std::vector<Diagnostic> found;
  std::set<std::pair<std::string, unsigned>> told;
  auto inspect = [&](const Node &node, const Axis &axis, Location where) {
    if (node.op != Op::select || !hides(node.operands[2]) || !runsAlong(node.operands[1], axis) || runsAlong(node.operands[0], axis) ||
        !told.insert({where.file, where.line}).second)
      return;
    const std::string name = axis.name();
    found.push_back({where, "this mask ignores '" + name + "', the axis that the fold walks: its condition runs along [" +
                                namesOf(node.operands[0].axes()) + "] alone, so that for all " + name + " from 0 to extent(" + name +
                                ") - 1 it is one and the same, and keeps a row or empties it; compare '" + name +
                                "' too, or leave it if rows are meant"});
  };
  std::function<void(const detail::Block &, const Fold *)> walk = [&](const detail::Block &block, const Fold *around) {
    for (const detail::Line &line : block.lines) {
      if (line.node && around)
        inspect(*line.node, around->axis, line.where);
      if (line.step)
        walk(*line.step, line.fold);
    }
  };
  walk(detail::place(program), nullptr);
  return found;
}

std::string renderWarning(const Diagnostic &diagnostic) {
  std::string text = render(diagnostic);
  if (const std::size_t at = text.find(": error: "); at != std::string::npos)
    text.replace(at, 9, ": warning: ");
  return text;
}

}   // namespace tw
