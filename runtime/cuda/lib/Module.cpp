// One slot a GPU, filled at the first launch there; afterwards a launch reads it without a lock.
#include "tilewright/cuda/Module.h"
#include "DriverLibrary.h"
#include "EncodeMap.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Gpu.h"
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <vector>

namespace tw::cuda {
namespace {

struct Place {
  ModuleHandle module = nullptr;
  std::atomic<Function> function = nullptr;
};

const Gpu &gpuAt(int ordinal) {
  (void)requireDriver();
  if (ordinal < 0 || ordinal >= static_cast<int>(gpus().size()))
    throw RuntimeError(fmt::format("there is no GPU {}; this process sees {}", ordinal, gpus().size()));
  return gpus()[static_cast<std::size_t>(ordinal)];
}

} // namespace

struct Module::Places {
  std::mutex mutex;
  std::vector<Place> gpu;
  std::once_flag once;

  Place &at(int ordinal) {
    std::call_once(once, [&] { gpu = std::vector<Place>(gpus().size()); });
    (void)gpuAt(ordinal);
    return gpu[static_cast<std::size_t>(ordinal)];
  }

  Function load(const Image &image, int ordinal) {
    Place &place = at(ordinal);
    const std::lock_guard lock(mutex);
    if (Function loaded = place.function.load(std::memory_order_acquire))
      return loaded;
    const DriverLibrary &driver = requireDriver();
    const std::string doing = fmt::format("loading kernel '{}' on GPU {} ({})", image.program, ordinal, gpuAt(ordinal).name);
    const OutsideCaptures outside;
    ModuleHandle module = nullptr;
    Function function = nullptr;
    check(driver.loadModule(&module, image.cubin.data()), "cuModuleLoadData", doing);
    try {
      check(driver.getFunction(&function, module, image.entry.c_str()), "cuModuleGetFunction", doing);
      check(driver.setFunctionAttribute(function, FunctionAttribute::dynamicSharedBytes, image.sharedBytes), "cuFuncSetAttribute",
            fmt::format("{}: asking for {} bytes of shared memory a block", doing, image.sharedBytes));
    } catch (...) {
      (void)driver.unloadModule(module);
      throw;
    }
    place.module = module;
    place.function.store(function, std::memory_order_release);
    return function;
  }
};

Module::Module(Image image) : code(std::move(image)), places(std::make_unique<Places>()) {}

Module::~Module() {
  for (std::size_t ordinal = 0; ordinal < places->gpu.size(); ++ordinal)
    if (ModuleHandle module = places->gpu[ordinal].module) {
      // At the end of a process the driver may be gone already; then there is nothing to unload.
      try {
        const Current current(static_cast<int>(ordinal));
        const OutsideCaptures outside;
        (void)driverLibrary().synchroniseContext();
        (void)driverLibrary().unloadModule(module);
      } catch (const RuntimeError &) {
      }
    }
}

device::Machine Module::machine(int ordinal) const {
  const Gpu &gpu = gpuAt(ordinal);
  if (!runs(gpu, code.arch))
    throw RuntimeError(fmt::format("kernel '{}' was built for target '{}' ({}), and GPU {} is an {} of compute capability {}.{}, which cannot run it; build it for a target of that capability",
                                   code.program, code.target, code.arch, ordinal, gpu.name, gpu.major, gpu.minor));
  if (gpu.sharedBytesPerBlock < code.sharedBytes)
    throw RuntimeError(fmt::format("kernel '{}' needs {} bytes of shared memory a block, and GPU {} ({}) has {}; build it with a schedule of narrower tiles or fewer stages", code.program,
                                   code.sharedBytes, ordinal, gpu.name, gpu.sharedBytesPerBlock));
  return {gpu.sms, gpu.l2Bytes};
}

void Module::launch(int ordinal, void *stream, int blocks, const std::byte *parameters, Words zeroed) const {
  const DriverLibrary &driver = requireDriver();
  const Current current(ordinal);
  Function function = places->at(ordinal).function.load(std::memory_order_acquire);
  if (!function)
    function = places->load(code, ordinal);
  if (zeroed.count)
    if (Result result = driver.setWords(zeroed.address, 0, zeroed.count, stream))
      check(result, "cuMemsetD32Async", fmt::format("zeroing the counters of kernel '{}'", code.program));
  void *arguments[] = {const_cast<std::byte *>(parameters)};
  if (Result result = driver.launch(function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(code.threads), 1, 1, static_cast<unsigned>(code.sharedBytes), stream, arguments, nullptr))
    check(result, "cuLaunchKernel", fmt::format("launching kernel '{}' on GPU {} with {} blocks of {} threads and {} bytes of shared memory", code.program, ordinal, blocks, code.threads, code.sharedBytes));
}

void Module::zero(int ordinal, void *stream, Words words) const {
  const DriverLibrary &driver = requireDriver();
  const Current current(ordinal);
  if (Result result = driver.setWords(words.address, 0, words.count, stream))
    check(result, "cuMemsetD32Async", fmt::format("zeroing what kernel '{}' adds to", code.program));
}

const device::EncodeMap &driverEncodeMap() {
  static const device::EncodeMap encode = encodeMap;
  return encode;
}

} // namespace tw::cuda
