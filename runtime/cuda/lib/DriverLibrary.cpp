// The driver is opened once; what it lacks is told where it is missed.
#include "DriverLibrary.h"
#include "SharedLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Driver.h"
#include <array>
#include <atomic>
#include <cstdlib>
#include <fmt/format.h>

namespace tw::cuda {
namespace {

std::string libraryName() {
  const char *other = std::getenv("TILEWRIGHT_CUDA_DRIVER");
  return other && *other ? other : "libcuda.so.1";
}

/// Fills one function; false where the library lacks it.
template <class F> bool take(const SharedLibrary &library, F &function, const char *symbol) {
  function = reinterpret_cast<F>(library.find(symbol));
  return function != nullptr;
}

/// The symbol that is missing, or nothing.
const char *takeAll(const SharedLibrary &library, DriverLibrary &d) {
#define TAKE(member, symbol)                                                                                                                                   \
  if (!take(library, d.member, symbol))                                                                                                                        \
    return symbol;
  TAKE(init, "cuInit")
  TAKE(driverVersion, "cuDriverGetVersion")
  TAKE(errorName, "cuGetErrorName")
  TAKE(errorString, "cuGetErrorString")
  TAKE(deviceCount, "cuDeviceGetCount")
  TAKE(deviceGet, "cuDeviceGet")
  TAKE(deviceName, "cuDeviceGetName")
  TAKE(deviceMemory, "cuDeviceTotalMem_v2")
  TAKE(deviceAttribute, "cuDeviceGetAttribute")
  TAKE(retainPrimary, "cuDevicePrimaryCtxRetain")
  TAKE(currentContext, "cuCtxGetCurrent")
  TAKE(pushContext, "cuCtxPushCurrent_v2")
  TAKE(popContext, "cuCtxPopCurrent_v2")
  TAKE(synchroniseContext, "cuCtxSynchronize")
  TAKE(exchangeCaptureMode, "cuThreadExchangeStreamCaptureMode")
  TAKE(loadModule, "cuModuleLoadData")
  TAKE(unloadModule, "cuModuleUnload")
  TAKE(getFunction, "cuModuleGetFunction")
  TAKE(setFunctionAttribute, "cuFuncSetAttribute")
  TAKE(launch, "cuLaunchKernel")
  TAKE(pointerAttributes, "cuPointerGetAttributes")
  TAKE(allocate, "cuMemAlloc_v2")
  TAKE(release, "cuMemFree_v2")
  TAKE(copyIn, "cuMemcpyHtoD_v2")
  TAKE(copyOut, "cuMemcpyDtoH_v2")
  TAKE(setWords, "cuMemsetD32Async")
  TAKE(synchronise, "cuStreamSynchronize")
  TAKE(createStream, "cuStreamCreate")
  TAKE(destroyStream, "cuStreamDestroy_v2")
  TAKE(beginCapture, "cuStreamBeginCapture_v2")
  TAKE(endCapture, "cuStreamEndCapture")
  TAKE(isCapturing, "cuStreamIsCapturing")
  TAKE(instantiate, "cuGraphInstantiateWithFlags")
  TAKE(launchGraph, "cuGraphLaunch")
  TAKE(destroyRunnable, "cuGraphExecDestroy")
  TAKE(destroyGraph, "cuGraphDestroy")
  TAKE(createEvent, "cuEventCreate")
  TAKE(destroyEvent, "cuEventDestroy_v2")
  TAKE(recordEvent, "cuEventRecord")
  TAKE(synchroniseEvent, "cuEventSynchronize")
  TAKE(elapsed, "cuEventElapsedTime")
#undef TAKE
  (void)take(library, d.encodeTiled, "cuTensorMapEncodeTiled");   // CUDA 12
  return nullptr;
}

/// What a person can do about a result of the driver; empty where its own text says it.
const char *cure(Result result) {
  switch (result) {
  case 1: return "this is a mistake of tilewright's, or a tensor's address is not valid any more";
  case 2: return "free memory of the device, or make the problem smaller";
  case 4: return "the process is ending: launch before main returns";
  case 34:
  case 35: return "update NVIDIA's driver";
  case 100:
  case 101: return "see what `nvidia-smi` lists and what CUDA_VISIBLE_DEVICES lets through";
  case 209: return "build for the target that this GPU is; `tilewright list --targets` names them";
  case 400: return "the stream must be of the primary context of the device on which the tensors are";
  case 700:
  case 714:
  case 715:
  case 716:
  case 717:
  case 718:
  case 719: return "a kernel launched earlier failed; run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer to see which";
  case 701: return "the kernel asks for more registers or shared memory than this GPU has; build for its target";
  case 802: return "the machine is not ready for CUDA: start nvidia-fabricmanager";
  case 803: return "NVIDIA's kernel module and libcuda are of different versions: reboot, or reinstall the driver";
  case 900:
  case 901: return "launch the kernel once before capturing the stream";
  default: return nullptr;
  }
}

std::string text(const DriverLibrary &driver, Result result) {
  const char *name = nullptr, *sentence = nullptr;
  (void)driver.errorName(result, &name);
  (void)driver.errorString(result, &sentence);
  return fmt::format("{} ({})", name ? name : fmt::format("error {}", result).c_str(), sentence ? sentence : "unknown to this driver");
}

DriverLibrary open() {
  DriverLibrary driver;
  const SharedLibrary library = openFirst({libraryName()});
  if (!library.handle) {
    driver.absence = fmt::format("there is no NVIDIA driver here: {} cannot be opened{}; install the driver, or run on the CPU (target host)", libraryName(),
                                 library.trouble.empty() ? "" : ": " + library.trouble);
    return driver;
  }
  if (const char *missing = takeAll(library, driver)) {
    driver.absence = fmt::format("{} lacks the function {}; update NVIDIA's driver to one for CUDA 12 or later", library.name, missing);
    return driver;
  }
  if (Result result = driver.init(0)) {
    driver.absence = fmt::format("NVIDIA's driver does not start: {}{}{}", text(driver, result), cure(result) ? "; " : "", cure(result) ? cure(result) : "");
    return driver;
  }
  (void)driver.driverVersion(&driver.version);
  (void)driver.deviceCount(&driver.devices);
  if (driver.devices == 0)
    driver.absence = "NVIDIA's driver shows no GPU; see what `nvidia-smi` lists and what CUDA_VISIBLE_DEVICES lets through";
  else if (!driver.encodeTiled)
    driver.absence = fmt::format("NVIDIA's driver is for CUDA {}.{} and has no tensor maps; update it to one for CUDA 12 or later", driver.version / 1000, driver.version % 1000 / 10);
  return driver;
}

constexpr int mostDevices = 64;

/// The primary context of a device, retained once and kept: whoever else uses it has the same one.
Context primaryContext(const DriverLibrary &driver, int ordinal) {
  static std::array<std::atomic<Context>, mostDevices> contexts{};
  if (ordinal < 0 || ordinal >= std::min(driver.devices, mostDevices))
    throw RuntimeError(fmt::format("there is no GPU {}; this process sees {}", ordinal, driver.devices));
  auto &slot = contexts[static_cast<std::size_t>(ordinal)];
  if (Context known = slot.load(std::memory_order_acquire))
    return known;
  Device device = 0;
  check(driver.deviceGet(&device, ordinal), "cuDeviceGet", fmt::format("looking for GPU {}", ordinal));
  Context context = nullptr;
  check(driver.retainPrimary(&context, device), "cuDevicePrimaryCtxRetain", fmt::format("starting GPU {}", ordinal));
  slot.store(context, std::memory_order_release);   // two threads get the same; the second count does no harm
  return context;
}

} // namespace

const DriverLibrary &driverLibrary() {
  static const DriverLibrary *driver = new DriverLibrary(open());   // never destroyed: kernels may outlive main
  return *driver;
}

const DriverLibrary &requireDriver() {
  const DriverLibrary &driver = driverLibrary();
  if (!driver.absence.empty())
    throw RuntimeError(driver.absence);
  return driver;
}

void check(Result result, const char *call, const std::string &doing) {
  if (result == 0)
    return;
  throw RuntimeError(fmt::format("{}: {} failed with {}{}{}", doing, call, text(driverLibrary(), result), cure(result) ? "; " : "", cure(result) ? cure(result) : ""));
}

std::string gpuLoss(int ordinal) {
  try {
    const Current current(ordinal);
    const Result result = driverLibrary().synchroniseContext();
    return result ? text(driverLibrary(), result) : "";
  } catch (const RuntimeError &error) {   // not even its context can be taken up
    return error.what();
  }
}

Current::Current(int ordinal) {
  const DriverLibrary &driver = requireDriver();
  Context wanted = primaryContext(driver, ordinal), current = nullptr;
  if (driver.currentContext(&current) == 0 && current == wanted)
    return;
  check(driver.pushContext(wanted), "cuCtxPushCurrent", "taking up a GPU");
  pushed = true;
}

Current::~Current() {
  Context context = nullptr;
  if (pushed)
    (void)driverLibrary().popContext(&context);
}

} // namespace tw::cuda
