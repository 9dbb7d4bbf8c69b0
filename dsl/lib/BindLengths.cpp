// What a program is run on: inputs checked, and a length found for every axis.
#include "Interpret.h"
#include "Fail.h"
#include "Numbers.h"
#include "Walk.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace tw::detail {
namespace {

class Binding {
public:
  Binding(const Program &program, const Evaluation &inputs) : program(program), inputs(inputs) {}

  Lengths run() {
    if (inputs.foldTile < 0)
      fail({}, "foldTile is " + std::to_string(inputs.foldTile) + "; give a width from 1, or 0 for the whole axis");
    checkScalars();
    Walk walk;
    walk.node = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (node.op == Op::load || node.op == Op::contains || node.op == Op::dimension)
        checkTensor(*node.tensor);
      for (std::size_t d = 0; d < placesRead(node); ++d)
        if (const Axis *axis = directAxis(node.operands[d]))
          bind(*axis, *node.tensor, d);
    };
    walk.over(program);
    for (const Store &store : program.stores)
      if (inputs.tensors.count(store.tensor.name())) {
        checkShape(*store.tensor.info);
        for (std::size_t d = 0; d < store.index.size(); ++d)
          bind(store.index[d], *store.tensor.info, d);
      }
    for (const Axis &axis : axesOf(program))
      bindByName(axis);
    return std::move(lengths);
  }

private:
  static const Axis *directAxis(const Tile &index) {
    const Node *node = &index.node();
    while (node->op == Op::named)
      node = &node->operands.back().node();
    return node->op == Op::index ? &node->consumed[0] : nullptr;
  }

  void checkScalars() {
    for (const Tile &tile : scalarsOf(program)) {
      const Node &node = tile.node();
      auto it = inputs.scalars.find(node.label);
      if (it == inputs.scalars.end())
        fail(node.where, "scalar '" + node.label + "' is missing; give it in Evaluation::scalars");
      if (node.positive && !(it->second > 0))
        fail(node.where, "scalar '" + node.label + "' is " + shortest(it->second) + " but was declared positive; give a number above 0, or declare it Sign::any");
      if (!holds(node.type, it->second))
        fail(node.where, "scalar '" + node.label + "' is " + shortest(it->second) + " but was declared " + name(node.type) + "; give " + wanted(node.type));
    }
  }

  /// Whether the number is one of the type; floats take any.
  static bool holds(Type type, double value) {
    const double end = type == Type::i32 ? 0x1p31 : 0x1p63;
    return isFloat(type) || (type == Type::boolean ? value == 0 || value == 1 : std::trunc(value) == value && -end <= value && value < end);
  }
  static std::string wanted(Type type) { return type == Type::boolean ? "0 or 1" : type == Type::i32 ? "a whole number of 32 bits" : "a whole number of 64 bits"; }

  void checkElements(const TensorInfo &info) {
    const Array &array = inputs.tensors.at(info.name);
    const auto wrong = std::find_if(array.data.begin(), array.data.end(), [&](double value) { return !holds(info.type, value); });
    if (isFloat(info.type) || wrong == array.data.end())
      return;
    std::string place;
    auto at = std::int64_t(wrong - array.data.begin());
    for (std::size_t d = array.shape.size(); d-- > 0; at /= array.shape[d])
      place = std::to_string(at % array.shape[d]) + (place.empty() ? "" : ", ") + place;
    fail(info.where, "tensor '" + info.name + "' is given " + shortest(*wrong) + " at [" + place + "] but was declared " + name(info.type) + "; give " + wanted(info.type));
  }

  void checkShape(const TensorInfo &info) {
    const Array &array = inputs.tensors.at(info.name);
    if (array.shape.size() != info.rank)
      fail(info.where, "tensor '" + info.name + "' is given with " + std::to_string(array.shape.size()) + " dimensions, declared with " + std::to_string(info.rank));
    for (std::int64_t length : array.shape)
      if (length < 0)
        fail(info.where, "tensor '" + info.name + "' is given with length " + std::to_string(length) + "; lengths are 0 or more");
  }

  void checkTensor(const TensorInfo &info) {
    auto it = inputs.tensors.find(info.name);
    if (it == inputs.tensors.end())
      fail(info.where, "tensor '" + info.name + "' is missing; give it in Evaluation::tensors");
    checkShape(info);
    std::size_t points = 1;
    for (std::int64_t length : it->second.shape)
      points *= std::size_t(length);
    if (it->second.data.size() != points)
      fail(info.where, "tensor '" + info.name + "' is given with " + std::to_string(it->second.data.size()) + " elements, its shape needs " + std::to_string(points));
    if (looked.insert(info.name).second)
      checkElements(info);
  }

  void bind(const Axis &axis, const TensorInfo &info, std::size_t d) {
    const std::int64_t length = inputs.tensors.at(info.name).shape[d];
    const std::string source = "dimension " + std::to_string(d) + " of '" + info.name + "'";
    auto [entry, isNew] = lengths.emplace(axis.order(), length);
    if (!isNew && entry->second != length)
      fail(info.where, "axis '" + axis.name() + "' is " + std::to_string(length) + " long by " + source + " and " + std::to_string(entry->second) + " long by " +
                           sources[axis.order()] + "; make the two equal",
           {{axis.where(), "the axis is declared here"}});
    if (isNew)
      sources[axis.order()] = source;
  }

  void bindByName(const Axis &axis) {
    auto given = inputs.extents.find(axis.name());
    auto bound = lengths.find(axis.order());
    if (given == inputs.extents.end()) {
      if (bound == lengths.end())
        fail(axis.where(), "no tensor tells the length of axis '" + axis.name() + "'; give it in Evaluation::extents");
      return;
    }
    if (given->second < 0)
      fail(axis.where(), "the extent of axis '" + axis.name() + "' is given as " + std::to_string(given->second) + "; lengths are 0 or more");
    if (bound != lengths.end() && bound->second != given->second)
      fail(axis.where(), "the extent of axis '" + axis.name() + "' is given as " + std::to_string(given->second) + " and is " + std::to_string(bound->second) + " long by " +
                             sources[axis.order()] + "; leave the extent out");
    lengths[axis.order()] = given->second;
  }

  const Program &program;
  const Evaluation &inputs;
  Lengths lengths;
  std::map<unsigned, std::string> sources;
  std::set<std::string> looked;   // at the elements of
};

} // namespace

Lengths bindLengths(const Program &program, const Evaluation &inputs) { return Binding(program, inputs).run(); }

} // namespace tw::detail
