#include "tilewright/dsl/Tensor.h"
#include "Fail.h"
#include "Names.h"
#include "Promotion.h"

namespace tw {

using detail::fail;

Tensor::Tensor(std::string name, Type type, unsigned rank, Location where) {
  detail::checkName("a tensor", name, where);
  info = std::make_shared<const TensorInfo>(TensorInfo{std::move(name), type, rank, where});
}

Tile Tensor::dimension(unsigned d, Location where) const {
  if (d >= rank())
    fail(where, "'" + name() + "' has " + std::to_string(rank()) + " dimensions, asked for dimension " + std::to_string(d) + "; they count from 0",
         {{info->where, "declared here"}});
  return makeTile({.op = Op::dimension, .type = Type::i32, .axes = {}, .where = where, .tensor = info, .slot = d});
}

namespace {

/// Refuses what is no index along dimension `d`.
void checkIndex(const Tensor &tensor, std::size_t d, const Tile &index, Location where) {
  if (!isInteger(index.type()))
    fail(where, "index " + std::to_string(d) + " of '" + tensor.name() + "' is " + text(index) + ", not an integer; cast(x, Type::i32) first",
         {detail::madeHere(index, "the index"), {tensor.info->where, "the tensor is declared here"}});
  if (index.node().op == Op::constant && index.node().literal < 0)
    fail(where, "index " + std::to_string(d) + " of '" + tensor.name() + "' is negative; indices count from 0: the last is dimension(" + std::to_string(d) + ") - 1",
         {{tensor.info->where, "the tensor is declared here"}});
}

} // namespace

Tile Tensor::at(std::vector<Operand> indices, Location where) const {
  if (indices.size() != rank())
    fail(where, "'" + name() + "' has " + std::to_string(rank()) + " dimensions, indexed with " + std::to_string(indices.size()) + "; give one index a dimension",
         {{info->where, "declared here"}});
  Node load{.op = Op::load, .type = type(), .axes = {}, .where = where, .tensor = info};
  for (std::size_t d = 0; d < indices.size(); ++d) {
    checkIndex(*this, d, indices[d].tile, where);
    load.axes = unite(load.axes, indices[d].tile.axes());
    load.operands.push_back(indices[d].tile);
  }
  return makeTile(std::move(load));
}

Tile contains(const Tensor &list, std::vector<Operand> at, Operand value, Operand count, Location where) {
  const std::string name = "'" + list.name() + "'";
  const std::vector<Note> declared{{list.info->where, "the list is declared here"}};
  if (!isInteger(list.type()))
    fail(where, "contains() looks for whole numbers, and " + name + " is " + tw::name(list.type()) + "; make it i32 or i64", declared);
  if (at.size() + 1 != list.rank())
    fail(where, name + " has " + std::to_string(list.rank()) + " dimensions, and contains() is given " + std::to_string(at.size()) + " indices; give one for each dimension but the last, which it looks through", declared);
  for (const Operand *each : {&value, &count})
    if (!isInteger(each->tile.type()))
      fail(where, std::string(each == &value ? "the value" : "the count") + " that contains() takes is " + text(each->tile) + ", not an integer; cast(x, Type::i32) first", {detail::madeHere(each->tile)});
  if (bytes(value.tile.type()) > bytes(list.type()))
    fail(where, "contains() looks for an i64 in " + name + ", which is i32; make the list i64, or cast(x, Type::i32)", declared);
  if (count.tile.type() == Type::i64)
    fail(where, "the count that contains() takes is i64; cast(x, Type::i32)", {detail::madeHere(count.tile)});
  Node node{.op = Op::contains, .type = Type::boolean, .axes = unite(value.tile.axes(), count.tile.axes()), .where = where, .tensor = list.info};
  for (std::size_t d = 0; d < at.size(); ++d) {
    checkIndex(list, d, at[d].tile, where);
    node.axes = unite(node.axes, at[d].tile.axes());
    node.operands.push_back(at[d].tile);
  }
  node.operands.push_back(detail::converted(value.tile, list.type(), value.where));
  node.operands.push_back(count.tile);
  return makeTile(std::move(node));
}

Tile contains(const Tensor &list, std::vector<Operand> at, Operand value, Location where) {
  return contains(list, std::move(at), std::move(value), list.rank() ? list.dimension(list.rank() - 1, where) : constant(0, Type::i32, where), where);
}

} // namespace tw
