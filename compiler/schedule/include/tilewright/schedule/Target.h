/// Target: the facts of one processor that schedules are fitted to, and the built-in table of them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// The facts of one processor. Vendor figures are peaks; sizes are bytes, rates are per second.
///
/// On the host a "multiprocessor" is a core and "shared memory" its own level-2 cache: what one tile's working set
/// should fit. A rate of 0 is one that nobody states and that must be measured.
struct Target {
  std::string name;   ///< what --target takes: "h200"
  std::string title;  ///< "NVIDIA H200 SXM"
  std::string arch;   ///< "sm90a", "sm80", …; "host" for this machine's CPU

  int sms = 0;                    ///< multiprocessors; cores that this process may use
  int sharedBytesPerBlock = 0;    ///< the most that one block may ask for (opt-in)
  int sharedBytesPerSM = 0;
  int registersPerSM = 0;         ///< 32-bit registers; vector registers of a core
  int registersPerThreadMax = 0;
  int threadsPerSM = 0;
  int threadsPerBlock = 0;
  int l1BytesPerCore = 0;         ///< level-1 data cache of a core; 0 on a GPU, where it is the shared memory
  int vectorBytes = 0;            ///< width of a vector register; 0 on a GPU

  std::int64_t l2Bytes = 0;       ///< the cache that all multiprocessors share; the host's last level
  std::int64_t dramBytes = 0;
  double dramBytesPerSecond = 0;
  double clockHz = 0;             ///< the clock at which the rates below are stated; the host's highest
  double tensorFlopsF16 = 0;      ///< f16 or bf16 dots, f32 accumulators, no sparsity
  double tensorShare = 1;         ///< of that, what the instructions reach that kernels use
  double exp2PerSecond = 0;       ///< f32 exp2 by the special-function units
  double f32PerSecond = 0;        ///< f32 additions, or fused multiplications and additions
  double l2BytesPerSecond = 0;    ///< what multiprocessors can read from the level-2 cache, all together
  double sharedBytesPerSecond = 0;///< what the warps of all multiprocessors can read from shared memory
  double sustainedClockHz = 0;    ///< the clock under full load of the tensor cores, as measured; `clockHz` where nobody has

  [[nodiscard]] bool isHost() const { return arch == "host"; }
  /// The most shared memory that each of so many blocks of a multiprocessor may ask for: of every block the system takes some too.
  [[nodiscard]] int sharedBytesOfBlock(int blocksPerSM) const {
    constexpr int ofSystem = 1024;
    return blocksPerSM < 2 || sharedBytesPerBlock < sharedBytesPerSM / blocksPerSM - ofSystem ? sharedBytesPerBlock : sharedBytesPerSM / blocksPerSM - ofSystem;
  }
  /// Bulk copies by one thread, products of a warpgroup in the background, registers handed from warpgroup to warpgroup.
  [[nodiscard]] bool isHopper() const { return arch == "sm90a"; }
};

/// No target has the name that was asked for. The message lists the known names and suggests the nearest.
struct UnknownTarget : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Every known target: "host" first, read from this machine once, then the GPUs by name.
[[nodiscard]] const std::vector<Target> &targets();

/// The target called `name`, exactly. Throws UnknownTarget.
[[nodiscard]] const Target &findTarget(std::string_view name);

/// The same GPU with the instructions that every one since 8.0 has: its threads copy for themselves, whatever the strides. One without others stays as it is.
[[nodiscard]] Target withoutCopyEngine(Target target);

/// The facts as lines of text for a person, each ended by a newline.
[[nodiscard]] std::string describe(const Target &target);

} // namespace tw
