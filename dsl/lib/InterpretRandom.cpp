// Random numbers in the interpreter.
#include "Interpret.h"
#include "Philox.h"

namespace tw::detail {
namespace {

/// Puts an integer into 32-bit words from `at` on, and returns the place after it.
std::size_t putWords(std::array<std::uint32_t, 4> &words, std::size_t at, double integer, Type type) {
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(integer));
  words[at++] = static_cast<std::uint32_t>(bits);
  if (type == Type::i64)
    words[at++] = static_cast<std::uint32_t>(bits >> 32);
  return at;
}

} // namespace

Value Frame::randomNumbers(const Node &node) {
  constexpr std::size_t most = 5;   // the seed and four coordinates
  std::array<const Value *, most> in{};
  Axes axes;
  bool faulty = false;
  for (std::size_t i = 0; i < most; ++i) {
    in[i] = &value(node.operands[std::min(i, node.operands.size() - 1)]);
    axes = unite(axes, in[i]->axes);
    faulty |= !in[i]->faults.empty();
  }
  Value out = blankFor(axes);
  if (faulty)
    out.faults.resize(out.data.size());
  eachRow<most>(out, in, [&](std::int64_t at, std::int64_t count, auto &offset, auto &stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      auto number = [&](std::size_t j) { return in[j]->data[std::size_t(offset[j] + i * stride[j])]; };
      std::array<std::uint32_t, 4> key{}, counter{};
      putWords(key, 0, number(0), Type::i64);
      std::size_t next = 0;
      for (std::size_t j = 1; j < node.operands.size(); ++j)
        next = putWords(counter, next, number(j), node.operands[j].type());
      out.data[std::size_t(at + i)] = double(philox(counter, {key[0], key[1]})[0] >> 8) * 0x1p-24;
      for (std::size_t j = 0; faulty && j < node.operands.size(); ++j)
        if (std::uint32_t fault = in[j]->fault(offset[j] + i * stride[j]))
          out.faults[std::size_t(at + i)] = fault;
    }
  });
  return out;
}

} // namespace tw::detail
