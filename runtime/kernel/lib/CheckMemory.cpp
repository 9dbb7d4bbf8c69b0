// Where stored elements lie: apart from each other and from everything else.
#include "Checked.h"
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

namespace tw {
namespace {

/// The bytes that a tensor's elements take, as numbers: [low, high).
struct Span {
  std::int64_t low, high;
};

std::int64_t elementBytes(const CheckedTensor &tensor) { return bytes(typeNamed(tensor.parameter->type).value()); }

/// The bytes between the first and the last element, counting only dimensions that `counts` holds for. No number here
/// overflows: checkReach saw to it.
template <class Predicate> Span spanOf(const CheckedTensor &tensor, Predicate counts) {
  const std::int64_t size = elementBytes(tensor);
  Span span{0, size};
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (std::int64_t reach = (tensor.shape[d] - 1) * tensor.strides[d] * size; counts(d))
      (reach < 0 ? span.low : span.high) += reach;
  return span;
}

/// Sorted by stride, each dimension must step over all that the smaller ones span. This refuses some layouts whose elements
/// lie apart all the same (sizes [2, 3] with strides [3, 2]); no library makes those.
void checkApart(const CheckedTensor &tensor) {
  std::vector<std::pair<std::int64_t, std::size_t>> steps;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d)
    if (tensor.shape[d] > 1)
      steps.emplace_back(std::abs(tensor.strides[d]), d);
  std::sort(steps.begin(), steps.end());
  std::int64_t reached = 0;
  for (auto [step, d] : steps) {
    if (step <= reached)
      throw ArgumentError(fmt::format("tensor '{}' is stored, but its elements overlap: dimension {} of shape {} has stride {}, expected at least {}; store into memory of its own",
                                      tensor.parameter->name, d, shapeText(tensor.shape), tensor.strides[d], reached + 1));
    reached += step * (tensor.shape[d] - 1);
  }
}

/// Whether two tensors lie apart at period `period`: dimensions that step by multiples of it do not matter, and what is left
/// of each takes its own part of a period. So the parts of one packed buffer [S, 4, H, D] are told apart.
bool apartAt(std::int64_t period, const CheckedTensor &a, const CheckedTensor &b) {
  auto part = [&](const CheckedTensor &tensor) {
    return spanOf(tensor, [&](std::size_t d) { return tensor.strides[d] * elementBytes(tensor) % period != 0; });
  };
  const Span first = part(a), second = part(b);
  const std::int64_t firstBytes = first.high - first.low, secondBytes = second.high - second.low;
  if (firstBytes > period || secondBytes > period)
    return false;
  const auto from = reinterpret_cast<std::intptr_t>(a.data) + first.low, to = reinterpret_cast<std::intptr_t>(b.data) + second.low;
  const std::int64_t distance = ((to - from) % period + period) % period;   // from a's part to b's, onwards
  return distance >= firstBytes && period - distance >= secondBytes;
}

bool overlap(const CheckedTensor &a, const CheckedTensor &b) {
  auto all = [](std::size_t) { return true; };
  const Span first = spanOf(a, all), second = spanOf(b, all);
  const auto aLow = reinterpret_cast<std::uintptr_t>(a.data) + std::uintptr_t(first.low), aHigh = reinterpret_cast<std::uintptr_t>(a.data) + std::uintptr_t(first.high);
  const auto bLow = reinterpret_cast<std::uintptr_t>(b.data) + std::uintptr_t(second.low), bHigh = reinterpret_cast<std::uintptr_t>(b.data) + std::uintptr_t(second.high);
  if (aHigh <= bLow || bHigh <= aLow)
    return false;
  for (const CheckedTensor *tensor : {&a, &b})
    for (std::int64_t stride : tensor->strides)
      if (std::int64_t period = std::abs(stride) * elementBytes(*tensor); period > 0 && apartAt(period, a, b))
        return false;
  return true;
}

} // namespace

void checkMemory(const std::vector<CheckedTensor> &tensors) {
  for (const CheckedTensor &stored : tensors) {
    if (!stored.parameter->stored || stored.isEmpty())
      continue;
    checkApart(stored);
    for (const CheckedTensor &other : tensors)
      if (&other != &stored && !other.isEmpty() && !(other.parameter->stored && &other < &stored) && overlap(stored, other))
        throw ArgumentError(fmt::format("tensor '{}' is stored and overlaps tensor '{}' in memory; store into memory of its own", stored.parameter->name, other.parameter->name));
  }
}

} // namespace tw
