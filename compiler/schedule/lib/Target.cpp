// The built-in table of GPUs, each figure with its source, and the lookup by name.
#include "tilewright/schedule/Target.h"

#include "HostTarget.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace tw {
namespace {

constexpr int KiB = 1024;
constexpr std::int64_t MiB = 1024 * 1024;
constexpr std::int64_t GB = 1'000'000'000;  // as data sheets count memory
constexpr double tera = 1e12, giga = 1e9, mega = 1e6;

/// What all products of one compute capability share. Source: CUDA Programming Guide, "Compute Capabilities",
/// tables of technical specifications and of memory per capability; the same figures are in CCCL's
/// <cuda/__device/arch_traits.h>. Shared memory per block is the opt-in maximum: the multiprocessor's, less the
/// 1 KiB that the system reserves in each block.
struct Capability {
  const char *arch;
  int sharedKiBPerSM;
  int threadsPerSM;
  /// Results per clock and multiprocessor of the f32 exp2 instruction. Source: CUDA Programming Guide, "Arithmetic
  /// Instructions", row "reciprocal, …, base 2 exponential (exp2)": 16 for each capability below. (10.3 has twice that:
  /// NVIDIA Technical Blog, article on Blackwell Ultra's special-function units.)
  int exp2PerClock = 16;
  /// The same table, row "32-bit floating-point add, multiply, multiply-add": 64 for 8.0, 128 for 8.6, 8.9, 9.0, 10.0 and 12.0.
  int f32PerClock = 128;
  /// What a whole GPU's level-2 cache gives in a clock: 5,120 bytes, NVIDIA A100 white paper, "A100 L2 Cache". 0: not published; a multiprocessor's
  /// port takes 64.
  int l2BytesPerClock = 0;
  /// Of the tensor cores' rate, what the instructions that kernels use reach. On 9.0 those of 8.0 reach less than its own: fitted to kernels of ours on an
  /// H200 (docs/cost-model.md). Elsewhere nobody has measured it.
  double tensorShare = 1;
};

constexpr Capability sm80{"sm80", 164, 2048, 16, 64, 5120};    // 8.0
constexpr Capability sm86{"sm86", 100, 1536};    // 8.6
constexpr Capability sm89{"sm89", 100, 1536};    // 8.9
constexpr Capability sm90{"sm90a", 228, 2048};   // 9.0, with its own instructions
constexpr Capability sm90Common{"sm90", 228, 2048, 16, 128, 0, 0.42};   // 9.0, without them: what every GPU since 8.0 has
constexpr Capability sm100{"sm100a", 228, 2048}; // 10.0, with its own instructions
constexpr Capability sm120{"sm120", 100, 1536};  // 12.0

/// What is one product's own.
struct Product {
  const char *name, *title;
  const Capability &capability;
  int sms;
  std::int64_t l2Bytes, dramBytes;
  double dramBytesPerSecond, clockHz, tensorFlopsF16;
  double sustainedClockHz = 0;   // under load, where it was measured
};

Target gpu(const Product &product) {
  const Capability &capability = product.capability;
  Target target;
  target.name = product.name;
  target.title = product.title;
  target.arch = capability.arch;
  target.sms = product.sms;
  target.sharedBytesPerSM = capability.sharedKiBPerSM * KiB;
  target.sharedBytesPerBlock = target.sharedBytesPerSM - 1 * KiB;
  // 64 K registers a multiprocessor, 255 a thread, 1024 threads a block: the same tables, every capability since 5.0.
  target.registersPerSM = 64 * KiB;
  target.registersPerThreadMax = 255;
  target.threadsPerSM = capability.threadsPerSM;
  target.threadsPerBlock = 1024;
  target.l2Bytes = product.l2Bytes;
  target.dramBytes = product.dramBytes;
  target.dramBytesPerSecond = product.dramBytesPerSecond;
  target.clockHz = product.clockHz;
  target.tensorFlopsF16 = product.tensorFlopsF16;
  const double clocks = product.clockHz * product.sms;
  target.exp2PerSecond = clocks * capability.exp2PerClock;
  target.f32PerSecond = clocks * capability.f32PerClock;
  target.sharedBytesPerSecond = clocks * 128;   // 32 banks of 4 bytes: CUDA Programming Guide, "Shared Memory"
  target.l2BytesPerSecond = capability.l2BytesPerClock > 0 ? product.clockHz * capability.l2BytesPerClock : clocks * 64;
  target.tensorShare = capability.tensorShare;
  target.sustainedClockHz = product.sustainedClockHz > 0 ? product.sustainedClockHz : product.clockHz;
  return target;
}

/// Tensor rates are without sparsity (data sheets often print twice that) and with f32 accumulators. The rate of one
/// multiprocessor and clock, sms × rate × clock = tensorFlopsF16, is 2048 on 8.0, 4096 on 9.0, 8192 on 10.0; on 8.6,
/// 8.9 and 12.0 it is 1024, but 512 on GeForce cards, which halve f16 with f32 accumulators.
const Product products[] = {
    // NVIDIA A10 data sheet (2021): 24 GB, 600 GB/s, bf16 and f16 tensor 125 TFLOPS dense (bf16 always accumulates in
    // f32). GA102 white paper v2: 512 KB of L2 for each of 12 memory controllers. 72 SMs at 1695 MHz: 9,216 cores, 31.2
    // TFLOPS f32 of the data sheet.
    {"a10", "NVIDIA A10", sm86, 72, 6 * MiB, 24 * GB, 600 * giga, 1695 * mega, 125 * tera},
    // NVIDIA A100 white paper, table 4: 108 SMs, boost 1410 MHz, L2 40,960 KB, 40 GB, 1,555 GB/s, 312 TFLOPS.
    {"a100", "NVIDIA A100 SXM 40 GB", sm80, 108, 40 * MiB, 40 * GB, 1555 * giga, 1410 * mega, 312 * tera},
    // NVIDIA A100 data sheet (2021), column A100 80GB SXM: 80 GB, 2,039 GB/s; the rest as above.
    {"a100-80gb", "NVIDIA A100 SXM 80 GB", sm80, 108, 40 * MiB, 80 * GB, 2039 * giga, 1410 * mega, 312 * tera},
    // NVIDIA DGX B200 data sheet: 1,440 GB and 72 PFLOPS of FP8 with sparsity for 8 GPUs, hence 2.25 PFLOPS of f16 each.
    // SMs (148), L2 (126.5 MiB) and bandwidth (7,680 bits × 3,996 MHz × 2) as its driver reports them: pytorch/ao pull
    // request 4002; the Blackwell tuning guide too gives 126 MB of L2. Clock: 2.25 PFLOPS ÷ (148 × 8192).
    {"b200", "NVIDIA B200", sm100, 148, 253 * MiB / 2, 180 * GB, 7672 * giga, 1856 * mega, 2250 * tera},
    // NVIDIA H100 white paper v1.03, table 3, column H100 SXM5: 132 SMs, L2 50 MB, 80 GB, 3,352 GB/s, f16 with f32
    // accumulators 989.4 TFLOPS at 1830 MHz, the boost clock of the tensor cores.
    {"h100", "NVIDIA H100 SXM", sm90, 132, 50 * MiB, 80 * GB, 3352 * giga, 1830 * mega, 989.4 * tera},
    // The same table, column H100 PCIe: 114 SMs, 2,039 GB/s, 756 TFLOPS at 1620 MHz.
    {"h100-pcie", "NVIDIA H100 PCIe", sm90, 114, 50 * MiB, 80 * GB, 2039 * giga, 1620 * mega, 756 * tera},
    // Sustained clock: measured, docs/performance.md, "What each field of a schedule is worth".
    // NVIDIA H200 data sheet: 141 GB, 4.8 TB/s, f16 1,979 TFLOPS with sparsity; the chip is the H100 SXM's.
    {"h200", "NVIDIA H200 SXM", sm90, 132, 50 * MiB, 141 * GB, 4800 * giga, 1830 * mega, 989.4 * tera, 1530 * mega},
    // The same GPU with the instructions that every GPU since 8.0 has, to compare them. Its rate with those is not published.
    {"h200-sm80", "NVIDIA H200 SXM, without Hopper's own instructions", sm90Common, 132, 50 * MiB, 141 * GB, 4800 * giga, 1830 * mega, 989.4 * tera, 1530 * mega},
    // NVIDIA L4 data sheet: 24 GB, 300 GB/s, f16 242 TFLOPS with sparsity. Ada white paper v2, appendix: 58 SMs, boost
    // 2040 MHz, L2 49,152 KB.
    {"l4", "NVIDIA L4", sm89, 58, 48 * MiB, 24 * GB, 300 * giga, 2040 * mega, 121 * tera},
    // NVIDIA L40S data sheet: 48 GB, 864 GB/s, f16 362.05 TFLOPS dense, 18,176 cores = 142 SMs; 91.6 TFLOPS f32 = 2520
    // MHz. L2 98,304 KB: Ada white paper v2, appendix, L40, the same chip.
    {"l40s", "NVIDIA L40S", sm89, 142, 96 * MiB, 48 * GB, 864 * giga, 2520 * mega, 362.05 * tera},
    // GA102 white paper v2, appendix A: 82 SMs, boost 1695 MHz, L2 6,144 KB, 24 GB, 936 GB/s, f16 with f32 accumulators
    // 71 TFLOPS.
    {"rtx3090", "NVIDIA GeForce RTX 3090", sm86, 82, 6 * MiB, 24 * GB, 936 * giga, 1695 * mega, 71 * tera},
    // Ada white paper v2, appendix A: 128 SMs, boost 2520 MHz, L2 73,728 KB, 24 GB, 1,008 GB/s, f16 with f32 accumulators
    // 165.2 TFLOPS.
    {"rtx4090", "NVIDIA GeForce RTX 4090", sm89, 128, 72 * MiB, 24 * GB, 1008 * giga, 2520 * mega, 165.2 * tera},
    // RTX Blackwell white paper v1.1, appendix A: 170 SMs, boost 2407 MHz, L2 98,304 KB, 32 GB, 1,792 GB/s, f16 with f32
    // accumulators 209.5 TFLOPS (419 with sparsity; 838 is f16 accumulators with sparsity).
    {"rtx5090", "NVIDIA GeForce RTX 5090", sm120, 170, 96 * MiB, 32 * GB, 1792 * giga, 2407 * mega, 209.5 * tera},
};

/// How many characters must be inserted, removed or replaced to make one word of the other, case aside.
std::size_t editDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(from[i])) == std::tolower(static_cast<unsigned char>(to[j]));
      const std::size_t replaced = diagonal + (same ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

} // namespace

const std::vector<Target> &targets() {
  static const std::vector<Target> table = [] {
    std::vector<Target> all{readHostTarget()};
    for (const Product &product : products)
      all.push_back(gpu(product));
    return all;
  }();
  return table;
}

Target withoutCopyEngine(Target target) {
  if (target.isHopper())
    target.arch = sm90Common.arch;
  return target;
}

const Target &findTarget(std::string_view name) {
  const std::vector<Target> &all = targets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Target &target) { return target.name == name; });
  if (found != all.end())
    return *found;

  const auto distance = [&](const Target &target) { return editDistance(name, target.name); };
  const auto nearest = std::min_element(
      all.begin(), all.end(), [&](const Target &a, const Target &b) { return distance(a) < distance(b); });
  std::string known;
  for (const Target &target : all)
    known += (known.empty() ? "" : ", ") + target.name;
  const bool close = distance(*nearest) <= std::max<std::size_t>(1, nearest->name.size() / 2);
  throw UnknownTarget(fmt::format("unknown target '{}'; {}the known targets are {}", name,
                                  close ? fmt::format("did you mean '{}'? ", nearest->name) : "", known));
}

std::string describe(const Target &target) {
  std::string text = fmt::format("{}: {} ({})\n", target.name, target.title, target.arch);
  const auto line = [&](const char *what, std::string value) { text += fmt::format("  {:<15}{}\n", what, value); };
  const auto rate = [](double value, double unit, const char *suffix) {
    return value > 0 ? fmt::format("{:.4g} {}", value / unit, suffix) : std::string("not stated");
  };
  if (target.isHost()) {
    line("cores", fmt::format("{}, clock {}", target.sms, rate(target.clockHz, mega, "MHz")));
    line("vectors", fmt::format("{} registers of {} bytes", target.registersPerSM, target.vectorBytes));
    line("caches", fmt::format("L1 {} KiB and L2 {} KiB a core, last level {:.4g} MiB", target.l1BytesPerCore / KiB,
                               target.sharedBytesPerSM / KiB, double(target.l2Bytes) / MiB));
    line("memory", fmt::format("{:.4g} GB", double(target.dramBytes) / GB));
    return text;
  }
  line("SMs", fmt::format("{} at {}{}", target.sms, rate(target.clockHz, mega, "MHz"), target.sustainedClockHz < target.clockHz ? fmt::format(", {} under load", rate(target.sustainedClockHz, mega, "MHz")) : ""));
  line("shared memory", fmt::format("{} KiB a block, {} KiB an SM", target.sharedBytesPerBlock / KiB, target.sharedBytesPerSM / KiB));
  line("registers", fmt::format("{} an SM, {} a thread", target.registersPerSM, target.registersPerThreadMax));
  line("threads", fmt::format("{} an SM, {} a block", target.threadsPerSM, target.threadsPerBlock));
  line("L2", fmt::format("{:.4g} MiB at {}", double(target.l2Bytes) / MiB, rate(target.l2BytesPerSecond, tera, "TB/s")));
  line("memory", fmt::format("{:.4g} GB at {}", double(target.dramBytes) / GB, rate(target.dramBytesPerSecond, giga, "GB/s")));
  line("f16 tensor", rate(target.tensorFlopsF16, tera, "TFLOP/s, dense, f32 accumulators"));
  line("f32", rate(target.f32PerSecond, tera, "T/s"));
  line("exp2", rate(target.exp2PerSecond, tera, "T/s"));
  return text;
}

} // namespace tw
