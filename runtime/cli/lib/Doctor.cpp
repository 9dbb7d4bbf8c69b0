// `tilewright doctor`: what this machine has, and what will be used of it.
#include "Commands.h"
#include "Output.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cache/Store.h"
#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/cuda/Nvrtc.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/Target.h"
#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/TargetParser/Host.h>

namespace tw::cli {
namespace {

std::vector<std::string> processorFeatures() {
  std::vector<std::string> features;
  for (const auto &[name, offered] : llvm::sys::getHostCPUFeatures())
    if (offered)
      features.push_back(name.str());
  std::sort(features.begin(), features.end());
  return features;
}

/// What there is for GPUs.
struct Gpus {
  std::string driver = cuda::driverVersion(), noDriver = cuda::driverAbsence(), nvrtc, library, noNvrtc = cuda::nvrtcAbsence();
  Gpus() {
    if (noNvrtc.empty()) {
      const cuda::NvrtcVersion &version = cuda::nvrtcVersion();
      nvrtc = fmt::format("{}.{}", version.major, version.minor);
      library = version.library;
    }
  }
};

/// The target that the GPU is; empty: none.
std::string targetOf(const cuda::Gpu &gpu) {
  try {
    return gpuTarget(gpu.ordinal);
  } catch (const RuntimeError &) {
    return "";
  }
}

Json toJson(const Gpus &gpus) {
  Json list = Json::array();
  for (const cuda::Gpu &gpu : cuda::gpus()) {
    const std::string target = targetOf(gpu);
    list.push_back({{"ordinal", gpu.ordinal}, {"name", gpu.name}, {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)}, {"multiprocessors", gpu.sms}, {"memory_bytes", gpu.memoryBytes},
                    {"target", target.empty() ? Json() : Json(target)}, {"runs_kernels", !target.empty()}});
  }
  auto orNull = [](const std::string &text) { return text.empty() ? Json() : Json(text); };
  return {{"nvrtc", {{"version", orNull(gpus.nvrtc)}, {"library", orNull(gpus.library)}, {"trouble", orNull(gpus.noNvrtc)}}},
          {"driver", {{"cuda_version", orNull(gpus.driver)}, {"trouble", orNull(gpus.noDriver)}}},
          {"gpus", list}};
}

std::string toText(const Gpus &gpus) {
  std::string text = gpus.noNvrtc.empty() ? fmt::format("NVRTC     {}: {}; kernels for GPUs can be built\n", gpus.nvrtc, gpus.library) : fmt::format("NVRTC     none, so no kernel for a GPU can be built: {}\n", gpus.noNvrtc);
  if (gpus.noDriver.empty())
    text += fmt::format("driver    NVIDIA's, for CUDA {}\n", gpus.driver);
  else
    text += fmt::format("driver    none, so no kernel can be run on a GPU, but in the simulator: {}\n", gpus.noDriver);
  for (const cuda::Gpu &gpu : cuda::gpus()) {
    const std::string target = targetOf(gpu);
    text += fmt::format("GPU {}     {}, compute capability {}.{}, {} SMs, {:.4g} GB: {}\n", gpu.ordinal, gpu.name, gpu.major, gpu.minor, gpu.sms, double(gpu.memoryBytes) * 1e-9,
                        target.empty() ? std::string("no target is known for it") : fmt::format("target {}, whose kernels it runs", target));
  }
  return text;
}

int examine(bool json) {
  const Target &host = findTarget("host");
  const cache::Location location = cache::locate();
  cache::Options quiet;
  quiet.log = [](std::string_view) {};   // what it would say stands in the report
  const cache::Statistics stats = cache::Store::open(location, quiet).stats();
  const int threads = ThreadPool::defaultThreads();
  const auto features = processorFeatures();
  const Gpus gpus;
  std::vector<std::string> known;
  for (const Target &target : targets())
    known.push_back(target.name);
  if (json) {
    printJson(Json{{"version", TILEWRIGHT_VERSION},
               {"llvm", LLVM_VERSION_STRING},
               {"compiler_digest", compilerDigest()},
               {"processor", {{"title", host.title}, {"llvm_name", llvm::sys::getHostCPUName().str()}, {"cores", host.sms}, {"threads", threads}, {"vector_bytes", host.vectorBytes}, {"features", features}}},
               {"cache", {{"path", stats.path.string()}, {"memory_only", stats.memoryOnly}, {"entries", stats.entries}, {"bytes", stats.bytes}}},
               {"gpu", toJson(gpus)},
               {"targets", known}});
    return right;
  }
  printText(fmt::format("tilewright {}, MLIR and LLVM {} (linked in)\n\n", TILEWRIGHT_VERSION, LLVM_VERSION_STRING));
  printText(describe(host));
  printText(fmt::format("  LLVM calls it {}; kernels run on {} thread{} (TILEWRIGHT_THREADS)\n  features: {}\n\n", llvm::sys::getHostCPUName().str(), threads, threads == 1 ? "" : "s", fmt::join(features, " ")));
  if (stats.memoryOnly.empty())
    printText(fmt::format("cache     {}: {}, {} bytes\n", stats.path.string(), kernels(stats.entries), stats.bytes));
  else
    printText(fmt::format("cache     in memory only: {}\n", stats.memoryOnly));
  printText(toText(gpus));
  printText(fmt::format("targets   {}\n", fmt::join(known, " ")));
  return right;
}

} // namespace

Command doctor(CLI::App &program) {
  auto json = std::make_shared<bool>(false);
  CLI::App *app = program.add_subcommand("doctor", "Say what this machine has, and what will be used of it");
  app->add_flag("--json", *json, "as JSON");
  return {app, [json] { return examine(*json); }};
}

} // namespace tw::cli
