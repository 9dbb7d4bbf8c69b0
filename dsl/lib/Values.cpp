#include "Values.h"

namespace tw::detail {

std::int64_t Value::stride(const Axis &axis) const {
  std::int64_t step = 1;
  for (std::size_t i = axes.size(); i-- > 0; step *= lengths[i])
    if (same(axes[i], axis))
      return step;
  return 0;
}

Value blank(const Axes &axes, std::vector<std::int64_t> lengths) {
  std::size_t points = 1;
  for (std::int64_t length : lengths)
    points *= std::size_t(length);
  return {axes, std::move(lengths), std::vector<double>(points)};
}

Value spread(const Value &value, const Axes &axes, const std::vector<std::int64_t> &lengths) {
  if (same(value.axes, axes))
    return value;
  Value out = blank(axes, lengths);
  map(out, value, [](double x) { return x; });
  if (!value.faults.empty()) {
    out.faults.resize(out.data.size());
    eachRow<1>(out, {&value}, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
      for (std::int64_t i = 0; i < count; ++i)
        out.faults[std::size_t(at + i)] = value.fault(offset[0] + i * stride[0]);
    });
  }
  return out;
}

} // namespace tw::detail
