// One host function, loaded into this process.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tw {

/// Machine code in executable memory; lives as long as somebody holds it. Any number of threads may call it at once.
class HostCode {
public:
  /// Links the host image `image` (see artifact/HostImage.h) into the process and finds `entry` in it.
  /// Throws RuntimeError if the bytes are damaged, made for another system or CPU, or call what the runtime does not have.
  [[nodiscard]] static std::shared_ptr<const HostCode> load(std::string_view image, std::string_view entry);

  ~HostCode();
  HostCode(const HostCode &) = delete;
  HostCode &operator=(const HostCode &) = delete;

  /// Runs one item. arguments[i] points to the i-th argument: a scalar, or a memory descriptor (MemoryDescriptor.h).
  void operator()(void **arguments) const { function_(arguments); }

private:
  struct Linked;
  HostCode(std::unique_ptr<Linked> linked, void (*function)(void **));
  std::unique_ptr<Linked> linked_;
  void (*function_)(void **);
};

} // namespace tw
