// Frames, folds, leaves and loads. Elementwise work is in InterpretElements.cpp, what consumes an axis in
// InterpretAlongAxis.cpp.
#include "Interpret.h"
#include "tilewright/dsl/Tensor.h"
#include <algorithm>

namespace tw::detail {

namespace {

/// Whether what the operation makes may have no place among the numbers of its type.
bool isRounded(const Node &node) {
  switch (node.op) {
  case Op::neg:
  case Op::abs:
  case Op::floor:
  case Op::ceil:
  case Op::round:
  case Op::trunc:
  case Op::cast:        // of what is wider
  case Op::min:
  case Op::max:
  case Op::random:
  case Op::select:
  case Op::reduceMax:
  case Op::reduceMin:
    return false;
  default:
    return isFloat(node.type) && node.op >= Op::neg && node.op <= Op::dot;
  }
}

} // namespace

Dependence &Machine::dependence(const Fold &fold) {
  auto &entry = dependences[&fold];
  if (!entry)
    entry = std::make_unique<Dependence>(fold);
  return *entry;
}

bool Machine::madeByMask(const Tile &tile) {
  const Node &node = tile.node();
  if (auto it = masks.find(&node); it != masks.end())
    return it->second;
  const bool isElementwise = node.op >= Op::neg && node.op <= Op::select;
  bool answer = node.op == Op::select;
  if (isElementwise)
    answer = answer || std::any_of(node.operands.begin(), node.operands.end(), [&](const Tile &t) { return madeByMask(t); });
  else if (node.op == Op::named || node.op == Op::stabiliser)
    answer = madeByMask(node.operands.back());
  return masks[&node] = answer;
}

Frame::Frame(Frame &outer, const Fold &fold, Range tile)
    : machine(outer.machine), ranges(outer.ranges), outer(&outer), fold(&fold) {
  ranges[fold.axis.order()] = tile;
}

Range Frame::range(const Axis &axis) const {
  if (auto it = ranges.find(axis.order()); it != ranges.end())
    return it->second;
  return {0, machine.lengths.at(axis.order())};
}

std::vector<std::int64_t> Frame::lengths(const Axes &axes) const {
  std::vector<std::int64_t> out;
  for (const Axis &axis : axes) {
    Range r = range(axis);
    out.push_back(r.last - r.first);
  }
  return out;
}

const Value &Frame::value(const Tile &tile) {
  if (fold && !machine.dependence(*fold).of(tile))
    return outer->value(tile);
  const Node &node = tile.node();
  if (auto it = values.find(&node); it != values.end())
    return it->second;
  if (node.op == Op::named || node.op == Op::stabiliser)
    return value(node.operands.back());
  if (node.op == Op::foldResult)
    return foldResult(node);
  Value computed = compute(node);
  if (machine.inputs.computed && isRounded(node))
    machine.inputs.computed(computed.data, node.type);
  return values.emplace(&node, std::move(computed)).first->second;
}

const Value &Frame::foldResult(const Node &node) {
  auto it = folds.find(node.fold.get());
  if (it == folds.end())
    it = folds.emplace(node.fold.get(), runFold(*node.fold)).first;
  return it->second[node.slot];
}

/// An axis of length 0 has no tile: the result is the start.
std::vector<Value> Frame::runFold(const Fold &fold) {
  std::vector<Value> carried;
  for (std::size_t slot = 0; slot < fold.starts.size(); ++slot) {
    const Axes &axes = fold.arguments[slot].axes();
    carried.push_back(spread(value(fold.starts[slot]), axes, lengths(axes)));
  }
  const std::int64_t length = machine.lengths.at(fold.axis.order());
  const std::int64_t width = machine.inputs.foldTile ? machine.inputs.foldTile : std::max<std::int64_t>(length, 1);
  for (std::int64_t first = 0; first < length; first += width) {
    Frame step(*this, fold, {first, std::min(first + width, length)});
    for (std::size_t slot = 0; slot < carried.size(); ++slot)
      step.values.emplace(&fold.arguments[slot].node(), std::move(carried[slot]));
    for (std::size_t slot = 0; slot < carried.size(); ++slot) {
      const Axes &axes = fold.arguments[slot].axes();
      carried[slot] = spread(step.value(fold.yields[slot]), axes, lengths(axes));
    }
  }
  return carried;
}

Value Frame::compute(const Node &node) {
  switch (node.op) {
  case Op::constant:
  case Op::index:
  case Op::extent:
  case Op::dimension:
  case Op::scalar:
    return leaf(node);
  case Op::load:
    return load(node);
  case Op::contains:
    return search(node);
  case Op::reduceMax:
  case Op::reduceMin:
  case Op::reduceSum:
    return reduction(node);
  case Op::dot:
    return dot(node);
  case Op::random:
    return randomNumbers(node);
  default:
    return elementwise(node);
  }
}

Value Frame::leaf(const Node &node) {
  auto number = [](double x) { return Value{{}, {}, {x}}; };
  switch (node.op) {
  case Op::constant:
    return number(node.literal);
  case Op::extent:
    return number(double(machine.lengths.at(node.consumed[0].order())));
  case Op::dimension:
    return number(double(machine.inputs.tensors.at(node.tensor->name).shape[node.slot]));
  case Op::scalar:
    return number(machine.inputs.scalars.at(node.label));
  default: {
    Value coordinates = blankFor(node.axes);
    const std::int64_t first = range(node.consumed[0]).first;
    for (std::size_t i = 0; i < coordinates.data.size(); ++i)
      coordinates.data[i] = double(first + std::int64_t(i));
    return coordinates;
  }
  }
}

/// Adds up, for each point, what each dimension's index contributes to the offset in the array. An index
/// outside of its dimension contributes 0 and a fault.
std::vector<std::int64_t> Frame::offsetsOf(const Node &node, std::size_t dimensions, Value &out) {
  const Array &array = machine.inputs.tensors.at(node.tensor->name);
  std::vector<std::int64_t> offsets(out.data.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = array.shape.size(); d-- > 0; stride *= array.shape[d]) {
    if (d >= dimensions)
      continue;
    const Value &index = value(node.operands[d]);
    Value checked{index.axes, index.lengths, index.data, index.faults};
    for (std::size_t i = 0; i < checked.data.size(); ++i) {
      double &x = checked.data[i];
      if (x >= 0 && x < double(array.shape[d]) && !checked.fault(std::int64_t(i))) {
        x *= double(stride);
        continue;
      }
      checked.faults.resize(checked.data.size());
      if (!checked.faults[i])
        checked.faults[i] = machine.faults.readOutside(node, unsigned(d), std::int64_t(x), array.shape[d]);
      x = 0;
    }
    if (!checked.faults.empty())
      out.faults.resize(out.data.size());
    eachRow<1>(out, {&checked}, [&](std::int64_t at, std::int64_t count, auto &offset, auto &step) {
      const double *x = checked.data.data() + offset[0];
      for (std::int64_t i = 0; i < count; ++i)
        offsets[std::size_t(at + i)] += std::int64_t(x[i * step[0]]);
      if (!checked.faults.empty())
        for (std::int64_t i = 0; i < count; ++i)
          if (std::uint32_t fault = checked.fault(offset[0] + i * step[0]))
            out.faults[std::size_t(at + i)] = fault;
    });
  }
  return offsets;
}

Value Frame::load(const Node &node) {
  const Array &array = machine.inputs.tensors.at(node.tensor->name);
  Value out = blankFor(node.axes);
  const std::vector<std::int64_t> offsets = offsetsOf(node, node.operands.size(), out);
  for (std::size_t i = 0; i < out.data.size(); ++i)
    if (!out.fault(std::int64_t(i)))
      out.data[i] = array.data[std::size_t(offsets[i])];
  return out;
}

/// A count beyond the list reads outside of it.
Value Frame::search(const Node &node) {
  const Array &array = machine.inputs.tensors.at(node.tensor->name);
  Value out = blankFor(node.axes);
  const std::vector<std::int64_t> offsets = offsetsOf(node, node.operands.size() - 2, out);
  const std::int64_t length = array.shape.back();
  const std::vector<std::int64_t> all = lengths(node.axes);
  const Value sought = spread(value(node.operands.end()[-2]), node.axes, all), counts = spread(value(node.operands.back()), node.axes, all);
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    const auto at = std::int64_t(i);
    std::uint32_t fault = out.fault(at) ? out.fault(at) : sought.fault(at) ? sought.fault(at) : counts.fault(at);
    if (!fault && counts.data[i] > double(length))
      fault = machine.faults.readOutside(node, unsigned(array.shape.size()) - 1, std::int64_t(counts.data[i]) - 1, length);
    if (fault) {
      out.faults.resize(out.data.size());
      out.faults[i] = fault;
      continue;
    }
    const auto first = array.data.begin() + offsets[i], last = first + std::max<std::int64_t>(std::int64_t(counts.data[i]), 0);
    out.data[i] = double(std::find(first, last, sought.data[i]) != last);
  }
  return out;
}

} // namespace tw::detail
