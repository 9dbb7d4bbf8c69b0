// How host code is told of a tensor: where it is, how long and how far apart its dimensions are.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tw {

/// A tensor of rank at most `maxRank`, laid out in memory as compiled code reads it:
/// {allocated, aligned, offset, sizes[rank], strides[rank]}, sizes and strides in elements.
class MemoryDescriptor {
public:
  static constexpr std::size_t maxRank = 16;

  MemoryDescriptor() = default;

  /// Element [i, j, …] is at data + (i·strides[0] + j·strides[1] + …) elements. Throws RuntimeError if the ranks differ
  /// or exceed `maxRank`.
  MemoryDescriptor(void *data, std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides);

  /// What an argument of a host function points to; valid as long as the descriptor stays where it is.
  [[nodiscard]] void *argument() { return words_.data(); }

private:
  std::array<std::int64_t, 3 + 2 * maxRank> words_ = {};
};

} // namespace tw
