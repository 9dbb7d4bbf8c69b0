// Memory of a GPU, for those who bring none of their own: the convenience launch, tools, tests.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tw::cuda {

/// Bytes on GPU `ordinal`, freed with their owner. Throws RuntimeError where they cannot be had.
class Buffer {
public:
  Buffer() = default;
  Buffer(int ordinal, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&other) noexcept;

  [[nodiscard]] std::uint64_t address() const { return start; }
  [[nodiscard]] void *data() const { return reinterpret_cast<void *>(start); }   // not to be read by the host
  [[nodiscard]] std::size_t bytes() const { return size; }

  /// Copies all bytes, and waits.
  void write(const void *from);
  void read(void *to) const;
  /// Some of them, from `offset` on.
  void read(void *to, std::size_t offset, std::size_t count) const;

private:
  int ordinal = 0;
  std::uint64_t start = 0;
  std::size_t size = 0;
};

/// Copies bytes from memory of GPU `ordinal`, whosever it is, and waits.
void copyOut(int ordinal, void *to, std::uint64_t from, std::size_t bytes);

/// Waits until all that was queued on the stream has run. Throws RuntimeError where a kernel failed.
void synchronise(int ordinal, void *stream);

} // namespace tw::cuda
