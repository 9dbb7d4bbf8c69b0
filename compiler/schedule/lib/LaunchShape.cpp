// Lengths of axes from the shapes of tensors, and the classes of lengths.
#include "tilewright/schedule/LaunchShape.h"
#include "tilewright/dsl/Roles.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <stdexcept>

namespace tw {
namespace {

/// The axis that an index is, or nothing.
const Axis *directAxis(const Tile &index) {
  const Node *node = &index.node();
  while (node->op == Op::named)
    node = &node->operands.back().node();
  return node->op == Op::index ? &node->consumed.front() : nullptr;
}

/// Collects the lengths that shapes tell.
class Binding {
public:
  Binding(const Program &program, const LaunchShape &shape) : program(program), shape(shape) {}

  /// How many parts a tensor has, of which items read different ones: where it has a dimension that is read at computed places, by its name.
  std::map<std::string, std::int64_t> parted;

  std::map<std::string, std::int64_t> run() {
    for (const Store &store : program.stores) {
      visit(store.value);
      for (std::size_t d = 0; d < store.index.size(); ++d)
        bind(store.index[d], store.tensor.name(), d);
    }
    for (const Axis &axis : axesOf(program)) {
      if (auto given = shape.extents.find(axis.name()); given != shape.extents.end())
        set(axis.name(), given->second, "LaunchShape::extents");
      if (!lengths.count(axis.name()))
        throw std::invalid_argument(fmt::format("nothing tells the length of axis '{}' of program '{}'; give the shape of a tensor that is indexed with it, or give it in LaunchShape::extents", axis.name(), program.name));
    }
    return std::move(lengths);
  }

private:
  void visit(const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    for (std::size_t d = 0; d < placesRead(node); ++d)
      if (const Axis *axis = directAxis(node.operands[d]))
        bind(*axis, node.tensor->name, d);
    if (node.op == Op::load)
      noteComputed(node);
    for (const Tile &operand : node.operands)
      visit(operand);
    if (node.fold) {
      for (const Tile &start : node.fold->starts)
        visit(start);
      for (const Tile &yield : node.fold->yields)
        visit(yield);
    }
  }

  /// Of a tensor with a dimension that is read at computed places.
  void noteComputed(const Node &load) {
    const auto given = shape.tensors.find(load.tensor->name);
    if (given == shape.tensors.end() || given->second.size() != load.operands.size())
      return;
    bool isComputed = false;
    std::int64_t parts = 1;
    for (std::size_t d = 0; d < load.operands.size(); ++d) {
      const Axis *axis = directAxis(load.operands[d]);
      isComputed |= !axis;
      if (!axis || roles.of(*axis) == Role::free)
        parts *= std::max<std::int64_t>(given->second[d], 1);
    }
    if (isComputed)
      parted[load.tensor->name] = parts;
  }

  void bind(const Axis &axis, const std::string &tensor, std::size_t dimension) {
    auto given = shape.tensors.find(tensor);
    if (given == shape.tensors.end())
      return;
    if (dimension >= given->second.size())
      throw std::invalid_argument(fmt::format("tensor '{}' of program '{}' is given {} dimensions, and is indexed with {} and more", tensor, program.name, given->second.size(), dimension + 1));
    set(axis.name(), given->second[dimension], fmt::format("dimension {} of '{}'", dimension, tensor));
  }

  void set(const std::string &axis, std::int64_t length, const std::string &source) {
    if (length < 0)
      throw std::invalid_argument(fmt::format("axis '{}' of program '{}' is {} long by {}; lengths are 0 or more", axis, program.name, length, source));
    auto [entry, isNew] = lengths.emplace(axis, length);
    if (!isNew && entry->second != length)
      throw std::invalid_argument(fmt::format("axis '{}' of program '{}' is {} long by {} and {} long by {}; make the two equal", axis, program.name, length, source, entry->second, sources[axis]));
    if (isNew)
      sources[axis] = source;
  }

  const Program &program;
  const LaunchShape &shape;
  const Roles roles = rolesOf(program);
  std::map<std::string, std::int64_t> lengths;
  std::map<std::string, std::string> sources;
  std::set<const Node *> seen;
};

/// The nearest power of two, of √2 below 2048, as a whole number.
std::int64_t rounded(std::int64_t length) {
  if (length < 1)
    return 0;
  const double steps = length < 2048 ? 2 : 1;
  return std::llround(std::exp2(std::round(std::log2(double(length)) * steps) / steps));
}

} // namespace

std::map<std::string, std::int64_t> axisLengths(const Program &program, const LaunchShape &shape) { return Binding(program, shape).run(); }

std::map<std::string, std::int64_t> innerExtents(const Program &program, const LaunchShape &shape) {
  const Roles roles = rolesOf(program);
  std::map<std::string, std::int64_t> inner;
  for (const auto &[axis, length] : axisLengths(program, shape))
    for (std::size_t i = 0; i < roles.axes.size(); ++i)
      if (roles.axes[i].name() == axis && roles.roles[i] == Role::inner)
        inner[axis] = length;
  return inner;
}

LaunchShape backwardShape(const Gradient &gradient, LaunchShape shape) {
  auto like = [&](const std::string &name, const std::string &other) {
    if (auto found = shape.tensors.find(other); found != shape.tensors.end())
      shape.tensors[name] = found->second;
  };
  for (const auto &[output, derivative] : gradient.upstream)
    like(derivative, output);
  for (const auto &[input, derivative] : gradient.gradients)
    like(derivative, input);
  for (const Tile &scalar : scalarsOf(gradient.forward))
    if (const auto found = gradient.gradients.find(scalar.node().label); found != gradient.gradients.end())
      shape.tensors[found->second] = {1};
  for (const Intermediate &between : gradient.intermediates) {
    std::vector<std::int64_t> lengths;
    for (const Intermediate::Length &length : between.shape)
      if (length.tensor.empty())
        lengths.push_back(1);
      else if (auto found = shape.tensors.find(length.tensor); found != shape.tensors.end() && length.dimension < found->second.size())
        lengths.push_back(found->second[length.dimension]);
    if (lengths.size() == between.shape.size())
      shape.tensors[between.tensor.name()] = std::move(lengths);
  }
  return shape;
}

std::string shapeClass(const Program &program, const LaunchShape &shape) {
  Binding binding(program, shape);
  const auto lengths = binding.run();
  const Roles roles = rolesOf(program);
  std::int64_t free = 1;
  std::string tiled, inner;
  for (std::size_t i = 0; i < roles.axes.size(); ++i) {
    const std::string &axis = roles.axes[i].name();
    const std::int64_t length = lengths.at(axis);
    switch (roles.roles[i]) {
    case Role::free: free *= length; break;
    case Role::inner: inner += fmt::format(" {}={}", axis, length); break;
    default: tiled += fmt::format(" {}={}", axis, rounded(length));
    }
  }
  std::string shared;   // by how many items
  for (const auto &[tensor, parts] : binding.parted)
    shared += fmt::format(" {}/{}", tensor, rounded(free / parts));
  return fmt::format("free={}{}{}{}", rounded(free), tiled, inner, shared);
}

} // namespace tw
