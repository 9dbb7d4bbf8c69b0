// The GPUs of this machine, as the driver describes them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cuda {

struct Gpu {
  int ordinal = 0;
  std::string name;                   // "NVIDIA H200"
  int major = 0, minor = 0;           // compute capability
  int sms = 0;
  int sharedBytesPerBlock = 0;        // the most that a block may ask for
  int sharedBytesPerSM = 0;
  int registersPerSM = 0;
  int threadsPerSM = 0;
  std::int64_t l2Bytes = 0;
  std::int64_t memoryBytes = 0;
};

/// All that this process may use, by ordinal; empty where there is no driver. Read once.
[[nodiscard]] const std::vector<Gpu> &gpus();

/// Whether code for `arch` (a Target's: `sm90a`, `sm80`) runs on a GPU of that capability: one with a letter on that very
/// capability, others on later minor ones too.
[[nodiscard]] bool runs(const Gpu &gpu, std::string_view arch);

/// The GPU on which the memory at `address` is. `isDevice` is false for memory of the host that the driver knows (pinned,
/// managed). Nothing where the driver does not know the address.
struct Residence {
  int ordinal = 0;
  bool isDevice = false;
};
[[nodiscard]] std::optional<Residence> residence(std::uint64_t address);

} // namespace tw::cuda
