// Runs the text of a GPU kernel on the CPU, one fiber a thread, and reports what real hardware would only sometimes get wrong.
//
//   SimulatedKernel kernel = compileForSimulator(text, "fold_kernel");
//   SimulatedMemory memory;
//   auto *out = static_cast<float *>(memory.allocate("out", bytes));
//   SimulationResult result = simulate(kernel, {.grid = {2}, .block = {384}, .sharedBytes = n, .parameters = block}, memory);
//   // result.clean(), result.reports[0].text
//
// docs/simulator.md says what is checked and what cannot be seen.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// When something asynchronous happens: at once, as late as its wait allows, or anywhere between.
enum class Asynchrony { eager, late, random };

/// Which thread that can run goes next.
enum class ThreadOrder { firstReady, lastReady, random, byRandomWarpPriority };

struct SimulatorStatistics {
  std::uint64_t switches = 0, products = 0, loads = 0, stores = 0;   // of threads; wgmma by warp; copies in and out
  double seconds = 0;
};

struct SimulatorOptions {
  std::uint64_t seed = 1;
  ThreadOrder order = ThreadOrder::firstReady;
  Asynchrony loads = Asynchrony::late;      // copies into shared memory land and are counted
  Asynchrony stores = Asynchrony::late;     // copies out of shared memory read it and write global memory
  Asynchrony products = Asynchrony::late;   // wgmma reads shared memory and registers
  bool checkOrder = true;                   // races in shared memory, missing fences
  bool checkUninitialized = true;           // reads of shared memory that nobody wrote
  std::uint32_t sharedBase = 1040;          // shared address of the dynamic memory, a multiple of 16: no more alignment is promised
  int residentBlocks = 1;                   // blocks that run at the same time
  int preemption = 0;                       // once in so many primitives another thread goes on; 0: never
  int earlyNo = 0;                          // mbarrier.try_wait says no too early once in so many calls; 0: never
  bool shufflesOrder = false;               // shfl.sync orders the memory accesses of its lanes, which PTX does not promise
  int maximumReports = 8;
  std::uint64_t maximumSwitches = 400'000'000;   // of threads, before the launch counts as one that never ends
  /// Called now and then, many times a second, with what was done so far.
  std::function<void(const SimulatorStatistics &)> onProgress = {};
};

/// The settings under which a kernel should be tried: everything late, everything eager, and `seeds` of random asynchrony and order.
[[nodiscard]] std::vector<SimulatorOptions> simulatorSettings(int seeds = 2, std::uint64_t firstSeed = 1);

/// Something that the kernel does wrong. `code` is short and stable (RACE-RAW, DEADLOCK, ...; docs/simulator.md lists them).
struct SimulatorReport {
  std::string code, text;
  int line = 0;         // of the kernel's text, from 1; 0: none
  std::string source;   // that line
};

struct SimulationResult {
  std::vector<SimulatorReport> reports;   // each once for each pair of lines, at most maximumReports
  int found = 0;                          // how many there were
  SimulatorStatistics statistics;
  [[nodiscard]] bool clean() const { return found == 0; }
  /// The codes of `reports`, sorted, each once, joined by commas.
  [[nodiscard]] std::string codes() const;
  /// The reports, one a line.
  [[nodiscard]] std::string text() const;
};

/// Global memory of a launch, between guard pages: an access outside a buffer is reported with its name. Filled with 0xff bytes,
/// which are NaN in every format. Freed with the object.
class SimulatedMemory {
public:
  SimulatedMemory();
  ~SimulatedMemory();
  SimulatedMemory(const SimulatedMemory &) = delete;
  SimulatedMemory &operator=(const SimulatedMemory &) = delete;

  enum class Flush { end, start };   // which end of the buffer touches its guard page (the end but for 16-byte alignment)
  /// Aligned to 16 bytes (Flush::start: to a page). Throws RuntimeError where the system has no memory.
  void *allocate(std::string name, std::size_t bytes, Flush flush = Flush::end);

  struct Buffer {
    std::string name;
    std::byte *begin;
    std::size_t bytes;
    std::byte *mapping;   // with the guards
    std::size_t mappedBytes;
  };
  [[nodiscard]] const std::vector<Buffer> &buffers() const { return owned; }

private:
  std::vector<Buffer> owned;
};

/// Element types of tensor maps, by the numbers of CUtensorMapDataType.
enum class MapElement { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16 };

/// Encodes a tensor map of 128 bytes (aligned to 64) for the simulator, from what cuTensorMapEncodeTiled takes, fastest dimension first:
/// `strides` in bytes of dimensions 1 on; `swizzle` 0 none, 1 32, 2 64, 3 128 bytes. Returns why the driver would refuse, or nothing.
[[nodiscard]] std::string encodeTensorMap(void *map, MapElement element, std::uint32_t rank, void *address, const std::uint64_t *dimensions,
                                          const std::uint64_t *strides, const std::uint32_t *box, const std::uint32_t *elementStrides, int interleave,
                                          int swizzle, int levelTwoPromotion, int outOfBoundsFill);

/// What the host's compiler should make of a kernel: code that is there in half the time, or code that runs in two thirds of it.
/// Reports and results are the same.
enum class SimulatorCode { quick, optimised };

/// A kernel compiled for the host and loaded. Copies share it.
class SimulatedKernel {
public:
  [[nodiscard]] const std::string &name() const { return entryName; }
  /// sizeof the struct that the kernel takes.
  [[nodiscard]] std::size_t parameterBytes() const { return bytes; }

  struct Library;   // the loaded file and the text it was made of
  using Entry = void (*)(const void *parameters);

private:
  friend std::vector<SimulatedKernel> compileForSimulator(std::string_view, const std::vector<std::string> &, SimulatorCode);
  friend SimulationResult simulate(const SimulatedKernel &, const struct SimulatedLaunch &, const SimulatedMemory &, const SimulatorOptions &);
  std::string entryName;
  std::size_t bytes = 0;
  Entry entry = nullptr;
  std::shared_ptr<const Library> library;
};

/// Compiles a kernel text (without the device templates, which the host's take the place of) with the C++ compiler `c++`, or the one
/// that the environment variable CXX names, and loads it. Each entry takes one struct by value. Throws RuntimeError where there is no
/// compiler, or with its messages where it refuses the text. `#line` directives are ignored: reports count lines of `text`.
[[nodiscard]] std::vector<SimulatedKernel> compileForSimulator(std::string_view text, const std::vector<std::string> &entries,
                                                               SimulatorCode code = SimulatorCode::optimised);
[[nodiscard]] SimulatedKernel compileForSimulator(std::string_view text, const std::string &entry, SimulatorCode code = SimulatorCode::optimised);

struct SimulatedSize {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct SimulatedLaunch {
  SimulatedSize grid, block;
  std::uint32_t sharedBytes = 0;           // dynamic
  std::span<const std::byte> parameters;   // the bytes of the kernel's struct; padding at the end may be longer or absent
};

/// Runs every block to its end, or to the first thing that cannot go on. Throws RuntimeError where launch and kernel do not fit.
/// Launches of several threads wait for each other.
[[nodiscard]] SimulationResult simulate(const SimulatedKernel &kernel, const SimulatedLaunch &launch, const SimulatedMemory &memory,
                                        const SimulatorOptions &options = {});

}   // namespace tw
