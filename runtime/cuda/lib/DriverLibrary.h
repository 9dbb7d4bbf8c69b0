// The functions of NVIDIA's driver that we call, declared by us. Numbers and layouts are those of its ABI, which it keeps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace tw::cuda {

using Result = int;                    // 0: done
using Device = int;
using Address = std::uint64_t;
using Context = struct ContextTag *;
using ModuleHandle = struct ModuleTag *;
using Function = struct FunctionTag *;
using StreamHandle = void *;
using GraphHandle = struct GraphTag *;
using RunnableGraph = struct RunnableGraphTag *;

enum class DeviceAttribute : int {
  multiprocessors = 16,
  l2Bytes = 38,
  threadsPerSM = 39,
  capabilityMajor = 75,
  capabilityMinor = 76,
  sharedBytesPerSM = 81,
  registersPerSM = 82,
  sharedBytesPerBlock = 97   // opt-in
};
enum class FunctionAttribute : int { dynamicSharedBytes = 8 };
enum class PointerAttribute : int { memoryType = 2, deviceOrdinal = 9 };
enum class CaptureMode : int { relaxed = 2 };
enum class CaptureStatus : int { none = 0 };
enum class StreamFlags : unsigned { nonBlocking = 1 };   // apart from the legacy default stream

/// Where a function is null, the driver is too old to have it; only required ones are never null.
struct DriverLibrary {
  Result (*init)(unsigned flags) = nullptr;
  Result (*driverVersion)(int *version) = nullptr;
  Result (*errorName)(Result, const char **) = nullptr;
  Result (*errorString)(Result, const char **) = nullptr;
  Result (*deviceCount)(int *count) = nullptr;
  Result (*deviceGet)(Device *, int ordinal) = nullptr;
  Result (*deviceName)(char *, int length, Device) = nullptr;
  Result (*deviceMemory)(std::size_t *bytes, Device) = nullptr;
  Result (*deviceAttribute)(int *value, DeviceAttribute, Device) = nullptr;
  Result (*retainPrimary)(Context *, Device) = nullptr;
  Result (*currentContext)(Context *) = nullptr;
  Result (*pushContext)(Context) = nullptr;
  Result (*popContext)(Context *) = nullptr;
  Result (*synchroniseContext)() = nullptr;
  Result (*exchangeCaptureMode)(CaptureMode *) = nullptr;
  Result (*loadModule)(ModuleHandle *, const void *image) = nullptr;
  Result (*unloadModule)(ModuleHandle) = nullptr;
  Result (*getFunction)(Function *, ModuleHandle, const char *name) = nullptr;
  Result (*setFunctionAttribute)(Function, FunctionAttribute, int value) = nullptr;
  Result (*launch)(Function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, StreamHandle,
                   void **parameters, void **extra) = nullptr;
  Result (*pointerAttributes)(unsigned count, PointerAttribute *, void **values, Address) = nullptr;
  Result (*allocate)(Address *, std::size_t) = nullptr;
  Result (*release)(Address) = nullptr;
  Result (*copyIn)(Address to, const void *from, std::size_t) = nullptr;
  Result (*copyOut)(void *to, Address from, std::size_t) = nullptr;
  Result (*setWords)(Address, unsigned value, std::size_t count, StreamHandle) = nullptr;
  Result (*synchronise)(StreamHandle) = nullptr;
  Result (*createStream)(StreamHandle *, StreamFlags) = nullptr;
  Result (*destroyStream)(StreamHandle) = nullptr;
  Result (*beginCapture)(StreamHandle, CaptureMode) = nullptr;
  Result (*endCapture)(StreamHandle, GraphHandle *) = nullptr;
  Result (*isCapturing)(StreamHandle, CaptureStatus *) = nullptr;
  Result (*instantiate)(RunnableGraph *, GraphHandle, unsigned long long flags) = nullptr;
  Result (*launchGraph)(RunnableGraph, StreamHandle) = nullptr;
  Result (*destroyRunnable)(RunnableGraph) = nullptr;
  Result (*destroyGraph)(GraphHandle) = nullptr;
  Result (*createEvent)(void **event, unsigned flags) = nullptr;
  Result (*destroyEvent)(void *event) = nullptr;
  Result (*recordEvent)(void *event, StreamHandle) = nullptr;
  Result (*synchroniseEvent)(void *event) = nullptr;
  Result (*elapsed)(float *milliseconds, void *from, void *to) = nullptr;
  Result (*encodeTiled)(void *map, int type, std::uint32_t rank, void *address, const std::uint64_t *sizes, const std::uint64_t *strides, const std::uint32_t *box,
                        const std::uint32_t *steps, int interleave, int swizzle, int promotion, int fill) = nullptr;

  int version = 0;       // 13000: CUDA 13.0
  int devices = 0;
  std::string absence;   // empty: usable; else why not, and the cure
};

/// The driver of this process, opened and started at first use.
[[nodiscard]] const DriverLibrary &driverLibrary();

/// The driver, or RuntimeError saying why there is none.
[[nodiscard]] const DriverLibrary &requireDriver();

/// Throws RuntimeError where `result` is not 0: what was done (`"loading kernel 'x'"`), the driver's name and text for it, the cure.
void check(Result result, const char *call, const std::string &doing);

/// Makes the primary context of a device current for as long as it lives, unless it is so already.
class Current {
public:
  explicit Current(int ordinal);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  bool pushed = false;
};

/// Lets this thread allocate and load while another one captures a stream, which is forbidden unless we say that it does not matter to it.
class OutsideCaptures {
public:
  OutsideCaptures() { (void)driverLibrary().exchangeCaptureMode(&mode); }
  ~OutsideCaptures() { (void)driverLibrary().exchangeCaptureMode(&mode); }
  OutsideCaptures(const OutsideCaptures &) = delete;
  OutsideCaptures &operator=(const OutsideCaptures &) = delete;

private:
  CaptureMode mode = CaptureMode::relaxed;
};

} // namespace tw::cuda
