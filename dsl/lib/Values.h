// Dense pieces of values in float64, as the interpreter holds them, and the loops over them.
#pragma once
#include "tilewright/dsl/Axis.h"
#include <array>
#include <cstdint>
#include <vector>

namespace tw::detail {

/// One number for each point of some ranges of `axes`, row-major in the order of `axes`. An axis that the
/// value does not vary along is left out and broadcast. Where `faults` is not empty it holds, for each
/// point, 0 or the number of what went wrong in making it: see Faults.
struct Value {
  Axes axes;
  std::vector<std::int64_t> lengths;
  std::vector<double> data;
  std::vector<std::uint32_t> faults = {};

  [[nodiscard]] std::int64_t stride(const Axis &axis) const;
  [[nodiscard]] std::uint32_t fault(std::int64_t at) const { return faults.empty() ? 0 : faults[std::size_t(at)]; }
};

[[nodiscard]] Value blank(const Axes &axes, std::vector<std::int64_t> lengths);

/// The value over `axes`, in that order, broadcast along those it lacks. `lengths` are those of `axes`.
[[nodiscard]] Value spread(const Value &value, const Axes &axes, const std::vector<std::int64_t> &lengths);

/// Calls `row(at, count, offsets, strides)` for every row of the innermost axis of `out`: `at` is where
/// the row begins in `out`, offsets[i] where it begins in ins[i], strides[i] the step between elements.
template <std::size_t N, class Row> void eachRow(const Value &out, const std::array<const Value *, N> &ins, Row row) {
  const std::size_t rank = out.axes.size();
  const std::int64_t count = rank ? out.lengths.back() : 1, total = std::int64_t(out.data.size());
  std::vector<std::array<std::int64_t, N>> steps(rank + 1);   // the last entry serves a value without axes
  for (std::size_t i = 0; i < rank; ++i)
    for (std::size_t j = 0; j < N; ++j)
      steps[i][j] = ins[j]->stride(out.axes[i]);
  const auto &inner = steps[rank ? rank - 1 : 0];
  std::vector<std::int64_t> point(rank, 0);
  std::array<std::int64_t, N> offsets{};
  for (std::int64_t at = 0; at < total; at += count) {
    row(at, count, offsets, inner);
    for (std::size_t i = rank ? rank - 1 : 0; i-- > 0;) {
      for (std::size_t j = 0; j < N; ++j)
        offsets[j] += steps[i][j];
      if (++point[i] < out.lengths[i])
        break;
      for (std::size_t j = 0; j < N; ++j)
        offsets[j] -= steps[i][j] * out.lengths[i];
      point[i] = 0;
    }
  }
}

/// out[p] = f(a[p]), broadcast.
template <class F> void map(Value &out, const Value &a, F f) {
  eachRow<1>(out, {&a}, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
    double *to = out.data.data() + at;
    const double *x = a.data.data() + offset[0];
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = f(x[i * stride[0]]);
  });
}

/// out[p] = f(a[p], b[p]), broadcast.
template <class F> void map(Value &out, const Value &a, const Value &b, F f) {
  eachRow<2>(out, {&a, &b}, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
    double *to = out.data.data() + at;
    const double *x = a.data.data() + offset[0], *y = b.data.data() + offset[1];
    const std::int64_t sx = stride[0], sy = stride[1];
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = f(x[i * sx], y[i * sy]);
  });
}

} // namespace tw::detail
