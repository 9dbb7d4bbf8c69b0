// Reductions and contractions in float64.
#include "Interpret.h"
#include <cmath>

namespace tw::detail {
namespace {

/// A NaN, once met, stays.
double combined(Op op, double so, double x) {
  switch (op) {
  case Op::reduceMax:
    return std::isnan(so) || so > x ? so : x;
  case Op::reduceMin:
    return std::isnan(so) || so < x ? so : x;
  default:
    return so + x;
  }
}

/// A contraction as products of matrices: left [batch, rows, depth], right [batch, depth, columns].
struct Product {
  std::int64_t rows, depth, columns;
  bool zeroIsNothing;        // an exact 0 on the left takes its partner out, whatever that holds
  bool rightZeroIsNothing;   // the same on the right
};

void multiply(const Product &p, const double *left, const double *right, double *out) {
  for (std::int64_t m = 0; m < p.rows; ++m) {
    double *to = out + m * p.columns;
    const double *l = left + m * p.depth;
    for (std::int64_t k = 0; k < p.depth; ++k) {
      const double *r = right + k * p.columns;
      if (p.zeroIsNothing && l[k] == 0)
        continue;
      if (p.rightZeroIsNothing) {
        for (std::int64_t n = 0; n < p.columns; ++n)
          to[n] += r[n] == 0 ? 0 : l[k] * r[n];
        continue;
      }
      const bool fourAhead = k + 4 <= p.depth && (!p.zeroIsNothing || (l[k + 1] != 0 && l[k + 2] != 0 && l[k + 3] != 0));
      if (fourAhead) {
        const double *r1 = r + p.columns, *r2 = r1 + p.columns, *r3 = r2 + p.columns;
        for (std::int64_t n = 0; n < p.columns; ++n)
          to[n] += l[k] * r[n] + l[k + 1] * r1[n] + l[k + 2] * r2[n] + l[k + 3] * r3[n];
        k += 3;
      } else {
        for (std::int64_t n = 0; n < p.columns; ++n)
          to[n] += l[k] * r[n];
      }
    }
  }
}

/// The faults of a product: an exact 0 that stands for nothing forgets its partner's.
void multiplyFaults(const Product &p, const Value &left, const Value &right, std::int64_t leftAt, std::int64_t rightAt, std::uint32_t *out) {
  for (std::int64_t m = 0; m < p.rows; ++m)
    for (std::int64_t k = 0; k < p.depth; ++k)
      for (std::int64_t n = 0; n < p.columns; ++n) {
        const std::int64_t l = leftAt + m * p.depth + k, r = rightAt + k * p.columns + n;
        const std::uint32_t fromLeft = left.fault(l), fromRight = right.fault(r);
        const bool leftNothing = p.zeroIsNothing && !fromLeft && left.data[std::size_t(l)] == 0;
        const bool rightNothing = p.rightZeroIsNothing && !fromRight && right.data[std::size_t(r)] == 0;
        if (std::uint32_t fault = rightNothing ? 0 : fromLeft ? fromLeft : leftNothing ? 0 : fromRight)
          out[m * p.columns + n] = fault;
      }
}

std::int64_t points(const std::vector<std::int64_t> &lengths) {
  std::int64_t n = 1;
  for (std::int64_t length : lengths)
    n *= length;
  return n;
}

Axes joined(Axes a, const Axes &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

} // namespace

Value Frame::reduction(const Node &node) {
  const Axis &axis = node.consumed[0];
  const Value &in = value(node.operands[0]);
  Value out = blankFor(without(in.axes, axis));
  Range r = range(axis);
  const std::int64_t count = r.last - r.first, step = in.stride(axis);   // step 0: the value is the same all along
  const double neutral = node.op == Op::reduceMax ? -infinity : node.op == Op::reduceMin ? infinity : 0;
  if (!in.faults.empty())
    out.faults.resize(out.data.size());
  eachRow<1>(out, {&in}, [&](std::int64_t at, std::int64_t length, auto &offset, auto &stride) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t from = offset[0] + i * stride[0];
      double so = neutral;
      for (std::int64_t x = 0; x < count; ++x) {
        so = combined(node.op, so, in.data[std::size_t(from + x * step)]);
        if (std::uint32_t fault = in.fault(from + x * step))
          out.faults[std::size_t(at + i)] = fault;
      }
      out.data[std::size_t(at + i)] = so;
    }
  });
  return out;
}

Value Frame::dot(const Node &node) {
  const Tile *a = &node.operands[0], *b = &node.operands[1];
  if (machine.madeByMask(*b) && !machine.madeByMask(*a))
    std::swap(a, b);
  const Axis &axis = node.consumed[0];
  Axes batch, rows, columns;
  for (const Axis &x : node.axes) {
    const bool inA = contains(a->axes(), x), inB = contains(b->axes(), x);
    (inA && inB ? batch : inA ? rows : columns).push_back(x);
  }
  const Axes leftAxes = joined(joined(batch, rows), {axis}), rightAxes = joined(joined(batch, {axis}), columns), outAxes = joined(joined(batch, rows), columns);
  const Value &valueA = value(*a), &valueB = value(*b);
  Value arrangedA, arrangedB;
  auto arranged = [&](const Value &v, const Axes &axes, Value &room) -> const Value & {
    return same(v.axes, axes) ? v : room = spread(v, axes, lengths(axes));
  };
  const Value &left = arranged(valueA, leftAxes, arrangedA), &right = arranged(valueB, rightAxes, arrangedB);

  const Product p{points(lengths(rows)), range(axis).last - range(axis).first, points(lengths(columns)), machine.madeByMask(*a), machine.madeByMask(*b)};
  Value out = blankFor(outAxes);
  const bool faulty = !left.faults.empty() || !right.faults.empty();
  if (faulty)
    out.faults.resize(out.data.size());
  for (std::int64_t i = 0, n = points(lengths(batch)); i < n; ++i) {
    const std::int64_t leftAt = i * p.rows * p.depth, rightAt = i * p.depth * p.columns, outAt = i * p.rows * p.columns;
    multiply(p, left.data.data() + leftAt, right.data.data() + rightAt, out.data.data() + outAt);
    if (faulty)
      multiplyFaults(p, left, right, leftAt, rightAt, out.faults.data() + outAt);
  }
  return same(outAxes, node.axes) ? out : spread(out, node.axes, lengths(node.axes));
}

} // namespace tw::detail
