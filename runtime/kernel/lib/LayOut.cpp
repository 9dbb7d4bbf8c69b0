#include "LayOut.h"
#include "Listed.h"
#include "tilewright/kernel/BetweenKernels.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

constexpr std::size_t tensorAlignment = 256, rowAlignment = 16;

std::int64_t lengthOf(const Gradient &gradient, const Given &given, const Intermediate::Length &length) {
  if (length.tensor.empty())
    return 1;
  const GivenTensor *tensor = findTensor(given, length.tensor);
  if (!tensor)
    throw ArgumentError(fmt::format("tensor '{}' of program '{}' is missing; give it, with its shape, in Arguments::tensors", length.tensor, gradient.forward.name));
  if (length.dimension >= tensor->shape.size() || tensor->shape[length.dimension] < 0)
    throw ArgumentError(fmt::format("tensor '{}' of program '{}' has {} dimensions, and needs a length of 0 or more along dimension {}", length.tensor, gradient.forward.name, tensor->shape.size(),
                                    length.dimension));
  return tensor->shape[length.dimension];
}

} // namespace

const GivenTensor *findTensor(const Given &given, std::string_view name) {
  const auto found = std::find_if(given.tensors.begin(), given.tensors.end(), [&](const GivenTensor &tensor) { return tensor.name == name; });
  return found == given.tensors.end() ? nullptr : &*found;
}

void layOut(const Gradient &gradient, const Given &given, Places &out) {
  std::size_t count = 0, next = 0;
  for (const Intermediate &between : gradient.intermediates)
    count += 2 * between.shape.size();
  out.places.resize(gradient.intermediates.size());
  out.numbers.resize(count);
  out.bytes = 0;
  auto refuse = [&](bool overflows) {
    if (overflows)
      throw ArgumentError(fmt::format("what lies between the kernels of '{}' has more than 2^63 bytes; launch it on parts", gradient.forward.name));
  };
  auto multiplied = [&](std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    refuse(__builtin_mul_overflow(a, b, &product));
    return product;
  };
  for (std::size_t i = 0; i < gradient.intermediates.size(); ++i) {
    const Intermediate &between = gradient.intermediates[i];
    const std::size_t rank = between.shape.size();
    const std::int64_t elementBytes = tw::bytes(between.tensor.type()), piece = std::int64_t(rowAlignment) / elementBytes;
    const std::span<std::int64_t> shape(out.numbers.data() + next, rank), strides(out.numbers.data() + next + rank, rank);
    next += 2 * rank;
    std::int64_t elements = 1;
    for (std::size_t d = rank; d-- > 0;) {
      shape[d] = lengthOf(gradient, given, between.shape[d]);
      strides[d] = elements;
      elements = multiplied(elements, d + 1 == rank ? multiplied((shape[d] + piece - 1) / piece, piece) : shape[d]);
    }
    const auto bytes = std::size_t(multiplied(elements, elementBytes));
    out.places[i] = {out.bytes, shape, strides};
    out.bytes += (bytes + tensorAlignment - 1) / tensorAlignment * tensorAlignment;   // below 2^64: both are below 2^63
    refuse(out.bytes >> 63);
  }
}

BetweenKernels layOut(const Gradient &gradient, const Arguments &arguments, void *data) {
  Places places;
  layOut(gradient, Listed(arguments), places);
  BetweenKernels out{{}, places.bytes};
  for (std::size_t i = 0; i < places.places.size(); ++i) {
    const auto &[offset, shape, strides] = places.places[i];
    const Tensor &tensor = gradient.intermediates[i].tensor;
    out.tensors[tensor.name()] = {static_cast<std::byte *>(data) + offset, tensor.type(), {shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
  }
  return out;
}

} // namespace tw
