// Values that are another value with something said about it.
#include "Fail.h"

namespace tw {
namespace {

void checkLabel(const std::string &label, Location where) {
  if (label.empty())
    detail::fail(where, "a named value needs a name; write named(\"score\", x)");
  for (unsigned char c : label)
    if (c < ' ' || c == '"' || c == '\\')
      detail::fail(where, "the name of a value holds a quote, a backslash or a control character; use letters, digits and _");
}

} // namespace

Tile named(std::string label, Operand value) {
  checkLabel(label, value.where);
  const Tile &tile = value.tile;
  return makeTile({.op = Op::named, .type = tile.type(), .axes = tile.axes(), .where = value.where, .operands = {tile}, .label = std::move(label)});
}

Tile named(std::string label, Tile result, std::vector<Tile> inputs, Location where) {
  checkLabel(label, where);
  Node node{.op = Op::named, .type = result.type(), .axes = result.axes(), .where = where, .operands = std::move(inputs), .label = std::move(label)};
  node.operands.push_back(std::move(result));
  return makeTile(std::move(node));
}

Tile stabiliser(Operand a) {
  if (!isFloat(a.tile.type()))
    detail::fail(a.where, "stabiliser() of " + text(a.tile) + ": only a float value stabilises; leave it out", {detail::madeHere(a.tile)});
  return makeTile({.op = Op::stabiliser, .type = a.tile.type(), .axes = a.tile.axes(), .where = a.where, .operands = {a.tile}});
}

} // namespace tw
