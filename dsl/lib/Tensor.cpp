#include "tilewright/dsl/Tensor.h"
#include "Fail.h"
#include "Names.h"

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

Tile Tensor::at(std::vector<Operand> indices, Location where) const {
  if (indices.size() != rank())
    fail(where, "'" + name() + "' has " + std::to_string(rank()) + " dimensions, indexed with " + std::to_string(indices.size()) + "; give one index a dimension",
         {{info->where, "declared here"}});
  Node load{.op = Op::load, .type = type(), .axes = {}, .where = where, .tensor = info};
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const Tile &index = indices[d].tile;
    if (!isInteger(index.type()))
      fail(where, "index " + std::to_string(d) + " of '" + name() + "' is " + text(index) + ", not an integer; cast(x, Type::i32) first",
           {detail::madeHere(index, "the index"), {info->where, "the tensor is declared here"}});
    if (index.node().op == Op::constant && index.node().literal < 0)
      fail(where, "index " + std::to_string(d) + " of '" + name() + "' is negative; indices count from 0: the last is dimension(" + std::to_string(d) + ") - 1",
           {{info->where, "the tensor is declared here"}});
    load.axes = unite(load.axes, index.axes());
    load.operands.push_back(index);
  }
  return makeTile(std::move(load));
}

} // namespace tw
