// A kernel's machine code on the GPUs that it is launched on.
#pragma once
#include "tilewright/device/Plan.h"
#include <cstdint>
#include <memory>
#include <string>

namespace tw::cuda {

/// What is to be loaded.
struct Image {
  std::string cubin;
  std::string entry;
  std::string program;       // for messages
  std::string target;
  std::string arch;          // of the target: sm90a
  int threads = 0;           // of a block
  int sharedBytes = 0;       // dynamic, of a block
};

/// `count` i32 at `address`.
struct Words {
  std::uint64_t address = 0;
  std::size_t count = 0;
};

/// Loaded on each GPU when it is first launched there, unloaded with the last owner once what runs on those GPUs has ended.
/// Any number of threads may use it at once.
class Module {
public:
  explicit Module(Image image);
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  [[nodiscard]] const Image &image() const { return code; }

  /// What a launch there depends on. Throws RuntimeError where this GPU cannot run the code, naming what it is and what is needed.
  [[nodiscard]] device::Machine machine(int ordinal) const;

  /// Queues `blocks` thread blocks on `stream` of GPU `ordinal`: neither waits nor allocates, once it is loaded there. `parameters`
  /// is the block that device::Plan::fill wrote; it is copied. `zeroed` is set to 0 before.
  /// Throws RuntimeError as the driver refuses.
  void launch(int ordinal, void *stream, int blocks, const std::byte *parameters, Words zeroed = {}) const;

  /// Queues that these words become 0.
  void zero(int ordinal, void *stream, Words words) const;

private:
  struct Places;
  Image code;
  std::unique_ptr<Places> places;
};

/// Encodes a map with the driver; each thread remembers those it encoded lately.
[[nodiscard]] const device::EncodeMap &driverEncodeMap();

} // namespace tw::cuda
