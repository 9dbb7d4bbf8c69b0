// evaluateGradient(): its programs one after the other.
#include "Fail.h"
#include "Interpret.h"
#include "tilewright/dsl/Gradient.h"

namespace tw {
namespace {

const Array &shapeOf(const std::string &name, const Evaluation &all) {
  auto found = all.tensors.find(name);
  if (found == all.tensors.end())
    detail::fail({}, "tensor '" + name + "' is missing; give it in Evaluation::tensors");
  return found->second;
}

/// The part of the inputs that a program mentions: evaluate() refuses others.
Evaluation inputsOf(const Program &program, const Evaluation &all) {
  Evaluation own{{}, {}, {}, all.foldTile, all.computed};
  for (const auto &tensor : tensorsOf(program))
    if (auto found = all.tensors.find(tensor->name); found != all.tensors.end())
      own.tensors.insert(*found);
  for (const Tile &scalar : scalarsOf(program))
    if (auto found = all.scalars.find(scalar.node().label); found != all.scalars.end())
      own.scalars.insert(*found);
  for (const Axis &axis : axesOf(program))
    if (auto found = all.extents.find(axis.name()); found != all.extents.end())
      own.extents.insert(*found);
  return own;
}

} // namespace

std::map<std::string, Array> evaluateGradient(const Gradient &gradient, const Evaluation &inputs, const std::function<double(double, Type)> &stored) {
  Evaluation all = inputs;
  std::map<std::string, Array> results;
  auto run = [&](const Program &program) {
    std::map<std::string, Array> made = evaluate(program, inputsOf(program, all));
    for (const Store &store : program.stores) {
      Array &array = made.at(store.tensor.name());
      if (stored)
        for (double &x : array.data)
          x = stored(x, store.tensor.type());
      all.tensors.insert_or_assign(store.tensor.name(), array);
      results.insert_or_assign(store.tensor.name(), std::move(array));
    }
  };
  auto blank = [](std::vector<std::int64_t> shape) {
    std::size_t points = 1;
    for (std::int64_t length : shape)
      points *= std::size_t(length);
    return Array{std::move(shape), std::vector<double>(points, 0.0)};
  };
  for (const auto &[input, tensor] : gradient.gradients)
    all.tensors.insert_or_assign(tensor, inputs.tensors.count(input) ? blank(inputs.tensors.at(input).shape) : blank({1}));
  for (const auto &[output, tensor] : gradient.upstream)
    if (!all.tensors.count(output))
      all.tensors.insert_or_assign(output, blank(shapeOf(tensor, inputs).shape));
  for (const Intermediate &made : gradient.intermediates) {
    std::vector<std::int64_t> shape;
    for (const Intermediate::Length &length : made.shape)
      shape.push_back(length.tensor.empty() ? 1 : shapeOf(length.tensor, all).shape.at(length.dimension));
    all.tensors.insert_or_assign(made.tensor.name(), blank(std::move(shape)));
  }
  // A backward program may read no tensor along an axis that it runs along.
  const detail::Lengths lengths = detail::bindLengths(gradient.forward, inputsOf(gradient.forward, all));
  for (const Axis &axis : axesOf(gradient.forward))
    all.extents.emplace(axis.name(), lengths.at(axis.order()));
  run(gradient.forward);
  for (const Program &program : gradient.backward)
    run(program);
  return results;
}

} // namespace tw
