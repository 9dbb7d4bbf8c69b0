#include "tilewright/cuda/Buffer.h"
#include "DriverLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include <fmt/format.h>
#include <utility>

namespace tw::cuda {

Buffer::Buffer(int ordinal, std::size_t bytes) : ordinal(ordinal), size(bytes) {
  if (!bytes)
    return;
  const Current current(ordinal);
  check(driverLibrary().allocate(&start, bytes), "cuMemAlloc", fmt::format("taking {} bytes of GPU {}", bytes, ordinal));
}

Buffer::~Buffer() {
  if (!start)
    return;
  try {
    const Current current(ordinal);
    (void)driverLibrary().release(start);
  } catch (const RuntimeError &) {   // the driver is gone, and the memory with it
  }
}

Buffer::Buffer(Buffer &&other) noexcept : ordinal(other.ordinal), start(std::exchange(other.start, 0)), size(std::exchange(other.size, 0)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
  std::swap(ordinal, other.ordinal);
  std::swap(start, other.start);
  std::swap(size, other.size);
  return *this;
}

void Buffer::write(const void *from) {
  if (!size)
    return;
  const Current current(ordinal);
  check(driverLibrary().copyIn(start, from, size), "cuMemcpyHtoD", fmt::format("copying {} bytes to GPU {}", size, ordinal));
}

void Buffer::read(void *to) const { read(to, 0, size); }

void Buffer::read(void *to, std::size_t offset, std::size_t count) const {
  if (count)
    copyOut(ordinal, to, start + offset, count);
}

void copyOut(int ordinal, void *to, std::uint64_t from, std::size_t bytes) {
  const Current current(ordinal);
  check(driverLibrary().copyOut(to, from, bytes), "cuMemcpyDtoH", fmt::format("copying {} bytes from GPU {}", bytes, ordinal));
}

void synchronise(int ordinal, void *stream) {
  const Current current(ordinal);
  check(driverLibrary().synchronise(stream), "cuStreamSynchronize", fmt::format("waiting for GPU {}", ordinal));
}

} // namespace tw::cuda
