#include "tilewright/dsl/Axis.h"
#include "Names.h"
#include <algorithm>
#include <atomic>

namespace tw {
namespace {

unsigned nextOrder() {
  static std::atomic<unsigned> next{0};
  return next++;
}

} // namespace

Axis::Axis(std::string name, Location where) {
  detail::checkName("an axis", name, where);
  info = std::make_shared<const Info>(Info{std::move(name), where, nextOrder()});
}

bool contains(const Axes &axes, const Axis &axis) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis &a) { return same(a, axis); });
}

bool same(const Axes &a, const Axes &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Axis &x, const Axis &y) { return same(x, y); });
}

Axes unite(const Axes &a, const Axes &b) {
  Axes all = a;
  for (const Axis &axis : b)
    if (!contains(all, axis))
      all.push_back(axis);
  return sorted(std::move(all));
}

Axes without(const Axes &axes, const Axis &axis) {
  Axes rest;
  for (const Axis &a : axes)
    if (!same(a, axis))
      rest.push_back(a);
  return rest;
}

Axes sorted(Axes axes) {
  std::sort(axes.begin(), axes.end(), AxisLess());
  return axes;
}

std::string text(const Axes &axes) {
  std::string out = "[";
  for (const Axis &axis : axes)
    out += (out.size() > 1 ? ", " : "") + axis.name();
  return out + "]";
}

} // namespace tw
