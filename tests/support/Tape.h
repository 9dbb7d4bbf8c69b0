// Reverse mode in float64 by a tape: runs a program operation by operation, remembers each, and goes back. It shares no code
// with evaluate() nor with gradient(), which it is the oracle of.
#pragma once
#include "tilewright/dsl/Evaluate.h"
#include "tilewright/dsl/Fold.h"
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

namespace tw::tests {

class Tape {
public:
  Tape(const Program &program, const Evaluation &inputs) : program(program), inputs(inputs) { findLengths(); }

  /// The stored tensors.
  std::map<std::string, Array> forward() {
    Frame frame;
    std::map<std::string, Array> out;
    for (const Store &store : program.stores) {
      const std::size_t value = evaluate(store.value, frame);
      Array array;
      std::size_t points = 1;
      for (const Axis &axis : store.index) {
        array.shape.push_back(lengths.at(axis.order()));
        points *= std::size_t(array.shape.back());
      }
      const std::vector<std::size_t> places = offsetsOf(vars[value], store.index, array.shape);
      for (std::size_t i = 0; i < points; ++i)
        array.data.push_back(vars[value].data[places[i]]);
      out[store.tensor.name()] = array;
      stored.push_back({store.tensor.name(), value, places});
    }
    return out;
  }

  /// The gradients by tensor and scalar, given the loss's derivatives by stored tensor; those not given are 0.
  std::map<std::string, Array> backward(const std::map<std::string, Array> &upstream) {
    for (const auto &[name, value, places] : stored)
      if (auto given = upstream.find(name); given != upstream.end())
        for (std::size_t i = 0; i < places.size(); ++i)
          vars[value].adjoint[places[i]] += given->second.data[i];
    for (const auto &[name, array] : inputs.tensors)
      gradients[name] = {array.shape, std::vector<double>(array.data.size(), 0.0)};
    for (const auto &[name, number] : inputs.scalars)
      gradients[name] = {{1}, {0.0}};
    for (std::size_t i = vars.size(); i-- > 0;)
      if (vars[i].back)
        vars[i].back();
    return gradients;
  }

private:
  struct Var {
    Axes axes;
    std::vector<std::int64_t> shape;
    std::vector<double> data, adjoint;
    std::function<void()> back;
  };
  struct Frame {
    std::map<const Node *, std::size_t> known;
    std::map<unsigned, std::pair<std::int64_t, std::int64_t>> ranges = {};
    std::map<const Fold *, std::vector<std::size_t>> folds = {};
  };

  /// A weight of 0 is masked: what it would multiply does not count, a NaN either.
  static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

  void findLengths() {
    std::map<const Node *, bool> seen;
    std::function<void(const Tile &)> walk = [&](const Tile &tile) {
      const Node &node = tile.node();
      if (!seen.emplace(&node, true).second)
        return;
      for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (node.op == Op::load && node.operands[i].node().op == Op::index)
          lengths[node.operands[i].node().consumed[0].order()] = inputs.tensors.at(node.tensor->name).shape[i];
        walk(node.operands[i]);
      }
      if (node.fold)
        for (const auto *tiles : {&node.fold->starts, &node.fold->yields})
          for (const Tile &part : *tiles)
            walk(part);
    };
    for (const Store &store : program.stores)
      walk(store.value);
    for (const Axis &axis : axesOf(program))
      if (auto given = inputs.extents.find(axis.name()); given != inputs.extents.end())
        lengths[axis.order()] = given->second;
  }

  std::pair<std::int64_t, std::int64_t> range(const Axis &axis, const Frame &frame) const {
    auto found = frame.ranges.find(axis.order());
    return found != frame.ranges.end() ? found->second : std::pair<std::int64_t, std::int64_t>{0, lengths.at(axis.order())};
  }

  std::vector<std::int64_t> shapeOf(const Axes &axes, const Frame &frame) const {
    std::vector<std::int64_t> shape;
    for (const Axis &axis : axes)
      shape.push_back(range(axis, frame).second - range(axis, frame).first);
    return shape;
  }

  /// Where in `var` each point of a space over `axes` lies.
  static std::vector<std::size_t> offsetsOf(const Var &var, const std::vector<Axis> &axes, const std::vector<std::int64_t> &shape) {
    std::size_t points = 1;
    std::vector<std::size_t> strides(axes.size(), 0);
    for (std::int64_t length : shape)
      points *= std::size_t(length);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::size_t stride = 1;
      for (std::size_t j = var.axes.size(); j-- > 0; stride *= std::size_t(var.shape[j]))
        if (same(var.axes[j], axes[i]))
          strides[i] = stride;
    }
    std::vector<std::size_t> out(points, 0);
    for (std::size_t p = 0; p < points; ++p) {
      std::size_t rest = p;
      for (std::size_t i = axes.size(); i-- > 0; rest /= std::size_t(shape[i]))
        out[p] += rest % std::size_t(shape[i]) * strides[i];
    }
    return out;
  }

  std::size_t add(const Axes &axes, std::vector<std::int64_t> shape) {
    std::size_t points = 1;
    for (std::int64_t length : shape)
      points *= std::size_t(length);
    vars.push_back({axes, std::move(shape), std::vector<double>(points, 0.0), std::vector<double>(points, 0.0), {}});
    return vars.size() - 1;
  }

  std::size_t evaluate(const Tile &tile, Frame &frame) {
    const Node &node = tile.node();
    if (auto found = frame.known.find(&node); found != frame.known.end())
      return found->second;
    std::size_t made = node.op == Op::named || node.op == Op::stabiliser ? evaluate(node.operands.back(), frame)
                       : node.op == Op::foldResult                       ? folded(node, frame)
                       : node.op == Op::load                             ? load(node, frame)
                       : node.op == Op::dot                              ? dot(node, frame)
                       : node.op == Op::random                           ? random(node, frame)
                       : node.op == Op::contains                         ? search(node, frame)
                       : node.op >= Op::reduceMax && node.op < Op::dot   ? reduce(node, frame)
                       : node.operands.empty()                           ? leaf(node, frame)
                                                                         : elementwise(node, frame);
    return frame.known[&node] = made;
  }

  std::size_t leaf(const Node &node, Frame &frame) {
    std::size_t out = add(node.axes, shapeOf(node.axes, frame));
    for (std::size_t i = 0; i < vars[out].data.size(); ++i)
      vars[out].data[i] = node.op == Op::constant    ? node.literal
                          : node.op == Op::index     ? double(range(node.consumed[0], frame).first + std::int64_t(i))
                          : node.op == Op::extent    ? double(lengths.at(node.consumed[0].order()))
                          : node.op == Op::dimension ? double(inputs.tensors.at(node.tensor->name).shape[node.slot])
                                                     : inputs.scalars.at(node.label);
    if (node.op == Op::scalar)
      vars[out].back = [this, out, name = node.label] { gradients.at(name).data[0] += vars[out].adjoint[0]; };
    return out;
  }

  std::size_t load(const Node &node, Frame &frame) {
    const Array &array = inputs.tensors.at(node.tensor->name);
    std::vector<std::size_t> indices;
    for (const Tile &operand : node.operands)
      indices.push_back(evaluate(operand, frame));
    const std::size_t out = add(node.axes, shapeOf(node.axes, frame));
    std::vector<std::int64_t> places(vars[out].data.size(), 0);   // −1: outside
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const auto at = offsetsOf(vars[indices[d]], node.axes, vars[out].shape);
      for (std::size_t p = 0; p < places.size(); ++p) {
        const double index = vars[indices[d]].data[at[p]];
        const bool inside = places[p] >= 0 && index >= 0 && index < double(array.shape[d]);
        places[p] = inside ? places[p] * array.shape[d] + std::int64_t(index) : -1;
      }
    }
    for (std::size_t p = 0; p < places.size(); ++p)
      vars[out].data[p] = places[p] < 0 ? 0 : array.data[std::size_t(places[p])];
    vars[out].back = [this, out, places, name = node.tensor->name] {
      for (std::size_t p = 0; p < places.size(); ++p)
        if (places[p] >= 0)
          gradients.at(name).data[std::size_t(places[p])] += vars[out].adjoint[p];
    };
    return out;
  }

  /// No gradient goes through a condition.
  std::size_t search(const Node &node, Frame &frame) {
    const Array &array = inputs.tensors.at(node.tensor->name);
    std::vector<std::size_t> operands;
    for (const Tile &operand : node.operands)
      operands.push_back(evaluate(operand, frame));
    const std::size_t out = add(node.axes, shapeOf(node.axes, frame));
    std::vector<std::vector<double>> given;
    for (std::size_t operand : operands) {
      given.emplace_back();
      for (std::int64_t at : offsetsOf(vars[operand], node.axes, vars[out].shape))
        given.back().push_back(vars[operand].data[std::size_t(at)]);
    }
    for (std::size_t p = 0; p < vars[out].data.size(); ++p) {
      double first = 0;
      for (std::size_t d = 0; d + 2 < operands.size(); ++d)
        first = first * double(array.shape[d]) + given[d][p];
      for (double j = 0; j < given.back()[p]; ++j)
        vars[out].data[p] = vars[out].data[p] != 0 || array.data[std::size_t(first * double(array.shape.back()) + j)] == given[operands.size() - 2][p];
    }
    return out;
  }

  std::size_t reduce(const Node &node, Frame &frame) {
    const std::size_t in = evaluate(node.operands[0], frame), out = add(node.axes, shapeOf(node.axes, frame));
    Axes all = unite(node.axes, node.consumed);
    const auto shape = shapeOf(all, frame);
    const auto from = offsetsOf(vars[in], all, shape), to = offsetsOf(vars[out], all, shape);
    std::vector<std::size_t> winner(vars[out].data.size(), std::size_t(-1));
    for (std::size_t i = 0; i < vars[out].data.size() && node.op != Op::reduceSum; ++i)
      vars[out].data[i] = node.op == Op::reduceMax ? -INFINITY : INFINITY;
    for (std::size_t p = 0; p < from.size(); ++p) {
      double &so = vars[out].data[to[p]], x = vars[in].data[from[p]];
      if (node.op == Op::reduceSum)
        so += x;
      else if (!std::isnan(so) && (std::isnan(x) || (node.op == Op::reduceMax ? x > so : x < so)))
        so = x, winner[to[p]] = p;
    }
    vars[out].back = [this, in, out, from, to, winner, isSum = node.op == Op::reduceSum] {
      for (std::size_t p = 0; p < from.size(); ++p)
        if (isSum || winner[to[p]] == p)
          vars[in].adjoint[from[p]] += vars[out].adjoint[to[p]];
    };
    return out;
  }

  std::size_t dot(const Node &node, Frame &frame) {
    const std::size_t a = evaluate(node.operands[0], frame), b = evaluate(node.operands[1], frame), out = add(node.axes, shapeOf(node.axes, frame));
    Axes all = unite(node.axes, node.consumed);
    const auto shape = shapeOf(all, frame);
    const auto inA = offsetsOf(vars[a], all, shape), inB = offsetsOf(vars[b], all, shape), to = offsetsOf(vars[out], all, shape);
    for (std::size_t p = 0; p < to.size(); ++p)
      vars[out].data[to[p]] += times(vars[a].data[inA[p]], vars[b].data[inB[p]]);
    vars[out].back = [this, a, b, out, inA, inB, to] {
      for (std::size_t p = 0; p < to.size(); ++p) {
        vars[a].adjoint[inA[p]] += times(vars[out].adjoint[to[p]], vars[b].data[inB[p]]);
        vars[b].adjoint[inB[p]] += times(vars[out].adjoint[to[p]], vars[a].data[inA[p]]);
      }
    };
    return out;
  }

  std::size_t folded(const Node &node, Frame &frame) {
    const Fold &fold = *node.fold;
    if (auto found = frame.folds.find(&fold); found != frame.folds.end())
      return found->second[node.slot];
    std::vector<std::size_t> carried;
    for (const Tile &start : fold.starts)
      carried.push_back(evaluate(start, frame));
    const std::int64_t length = lengths.at(fold.axis.order()), width = inputs.foldTile ? inputs.foldTile : std::max<std::int64_t>(length, 1);
    for (std::int64_t first = 0; first < length; first += width) {
      Frame step{{}, frame.ranges, {}};
      step.ranges[fold.axis.order()] = {first, std::min(first + width, length)};
      for (std::size_t i = 0; i < carried.size(); ++i)
        step.known[&fold.arguments[i].node()] = carried[i];
      for (const auto &[known, value] : frame.known)
        if (known->op == Op::foldArgument)
          step.known.emplace(known, value);
      for (std::size_t i = 0; i < carried.size(); ++i)
        carried[i] = evaluate(fold.yields[i], step);
    }
    return (frame.folds[&fold] = carried)[node.slot];
  }

  /// As evaluate() draws it: it has no derivative.
  std::size_t random(const Node &node, Frame &frame) {
    std::vector<std::size_t> in;
    std::vector<std::vector<std::size_t>> at;
    const std::size_t out = [&] {
      for (const Tile &operand : node.operands)
        in.push_back(evaluate(operand, frame));
      return add(node.axes, shapeOf(node.axes, frame));
    }();
    for (std::size_t operand : in)
      at.push_back(offsetsOf(vars[operand], node.axes, vars[out].shape));
    for (std::size_t p = 0; p < vars[out].data.size(); ++p) {
      std::vector<std::uint32_t> words;
      for (std::size_t i = 1; i < in.size(); ++i) {
        const auto bits = std::uint64_t(std::int64_t(vars[in[i]].data[at[i][p]]));
        words.push_back(std::uint32_t(bits));
        if (node.operands[i].type() == Type::i64)
          words.push_back(std::uint32_t(bits >> 32));
      }
      words.resize(4, 0);
      const auto seed = std::uint64_t(std::int64_t(vars[in[0]].data[at[0][p]]));
      vars[out].data[p] = double(drawn(seed, words) >> 8) / 16777216;
    }
    return out;
  }

  /// Philox 4x32-10, its first word.
  static std::uint32_t drawn(std::uint64_t key, std::vector<std::uint32_t> c) {
    auto low = std::uint32_t(key), high = std::uint32_t(key >> 32);
    for (int round = 0; round < 10; ++round, low += 0x9E3779B9u, high += 0xBB67AE85u) {
      const std::uint64_t first = 0xD2511F53ull * c[0], second = 0xCD9E8D57ull * c[2];
      c = {std::uint32_t(second >> 32) ^ c[1] ^ low, std::uint32_t(second), std::uint32_t(first >> 32) ^ c[3] ^ high, std::uint32_t(first)};
    }
    return c[0];
  }

  /// The value, and the derivative by each operand.
  static double apply(const Node &node, const std::vector<double> &x, std::vector<double> &d) {
    const double a = x[0], b = x.size() > 1 ? x[1] : 0;
    double y = 0;
    switch (node.op) {
    case Op::neg: d[0] = -1; return -a;
    case Op::abs: d[0] = a < 0 ? -1 : a > 0; return std::fabs(a);
    case Op::exp: return d[0] = std::exp(a);
    case Op::expm1: d[0] = std::exp(a); return std::expm1(a);
    case Op::exp2: y = std::exp2(a); d[0] = y * std::log(2.0); return y;
    case Op::log: d[0] = 1 / a; return std::log(a);
    case Op::log2: d[0] = 1 / (a * std::log(2.0)); return std::log2(a);
    case Op::log1p: d[0] = 1 / (1 + a); return std::log1p(a);
    case Op::tanh: case Op::tanhApproximate: y = std::tanh(a); d[0] = 1 - y * y; return y;
    case Op::sigmoid: y = 1 / (1 + std::exp(-a)); d[0] = y * (1 - y); return y;
    case Op::sqrt: y = std::sqrt(a); d[0] = 1 / (2 * y); return y;
    case Op::rsqrt: y = 1 / std::sqrt(a); d[0] = -0.5 * y * y * y; return y;
    case Op::sin: d[0] = std::cos(a); return std::sin(a);
    case Op::cos: d[0] = -std::sin(a); return std::cos(a);
    case Op::erf: d[0] = 2 / std::sqrt(std::acos(-1.0)) * std::exp(-a * a); return std::erf(a);
    case Op::floor: return std::floor(a);
    case Op::ceil: return std::ceil(a);
    case Op::round: return std::round(a);
    case Op::trunc: return std::trunc(a);
    case Op::cast: d[0] = isFloat(node.type) && isFloat(node.operands[0].type()); return isFloat(node.type) ? a : std::trunc(a);
    case Op::logicalNot: return a == 0;
    case Op::add: d[0] = d[1] = 1; return a + b;
    case Op::sub: d[0] = 1, d[1] = -1; return a - b;
    case Op::mul: d[0] = b, d[1] = a; return a * b;
    case Op::div: d[0] = 1 / b, d[1] = -a / b / b; return a / b;
    case Op::floorDiv: return std::floor(a / b);
    case Op::mod: return a - b * std::floor(a / b);
    case Op::pow: d[0] = b * std::pow(a, b - 1), d[1] = a > 0 ? std::pow(a, b) * std::log(a) : 0; return std::pow(a, b);
    case Op::bitAnd: return double(std::int64_t(a) & std::int64_t(b));
    case Op::bitOr: return double(std::int64_t(a) | std::int64_t(b));
    case Op::bitXor: return double(std::int64_t(a) ^ std::int64_t(b));
    case Op::shiftLeft: return double(std::int32_t(std::uint32_t(std::int32_t(a)) << int(b)));
    case Op::shiftRight: return double(std::int64_t(a) >> int(b));
    case Op::min: d[0] = a <= b, d[1] = !(a <= b); return std::isnan(a) || a < b ? a : b;
    case Op::max: d[0] = a >= b, d[1] = !(a >= b); return std::isnan(a) || a > b ? a : b;
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::gt: return a > b;
    case Op::ge: return a >= b;
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::logicalAnd: return a != 0 && b != 0;
    case Op::logicalOr: return a != 0 || b != 0;
    case Op::select: d[1] = a != 0, d[2] = a == 0; return a != 0 ? x[1] : x[2];
    default: throw std::logic_error(std::string("the tape has no rule for ") + name(node.op));
    }
  }

  std::size_t elementwise(const Node &node, Frame &frame) {
    std::vector<std::size_t> in;
    for (const Tile &operand : node.operands)
      in.push_back(evaluate(operand, frame));
    const std::size_t out = add(node.axes, shapeOf(node.axes, frame));
    std::vector<std::vector<std::size_t>> at;
    for (std::size_t operand : in)
      at.push_back(offsetsOf(vars[operand], node.axes, vars[out].shape));
    std::vector<std::vector<double>> slopes(in.size(), std::vector<double>(vars[out].data.size(), 0.0));
    std::vector<double> x(in.size()), d(in.size());
    for (std::size_t p = 0; p < vars[out].data.size(); ++p) {
      for (std::size_t i = 0; i < in.size(); ++i)
        x[i] = vars[in[i]].data[at[i][p]], d[i] = 0;
      vars[out].data[p] = apply(node, x, d);
      for (std::size_t i = 0; i < in.size(); ++i)
        slopes[i][p] = d[i];
    }
    vars[out].back = [this, in, out, at, slopes = std::move(slopes)] {
      for (std::size_t i = 0; i < in.size(); ++i)
        for (std::size_t p = 0; p < slopes[i].size(); ++p)
          vars[in[i]].adjoint[at[i][p]] += times(vars[out].adjoint[p], slopes[i][p]);
    };
    return out;
  }

  const Program &program;
  const Evaluation &inputs;
  std::map<unsigned, std::int64_t> lengths;
  std::vector<Var> vars;
  struct Stored {
    std::string name;
    std::size_t value;
    std::vector<std::size_t> places;
  };
  std::vector<Stored> stored;
  std::map<std::string, Array> gradients;
};

} // namespace tw::tests
