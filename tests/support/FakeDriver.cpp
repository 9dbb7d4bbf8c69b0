// A driver without a GPU, under the names of NVIDIA's: so that all that happens before a GPU runs can be tested anywhere. GPUs 0 and 1
// are of compute capability 9.0, GPU 2 is of 8.0. Memory is the host's; launches are noted and do nothing.
#include "FakeDriver.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace tw::tests;

namespace {

struct Block {
  std::size_t bytes;
  int ordinal;
  bool isDevice;
};
std::map<std::uint64_t, Block> &memory() {
  static auto *blocks = new std::map<std::uint64_t, Block>;
  return *blocks;
}

FakeState &state() {
  static auto *all = [] {
    auto *made = new FakeState;
    if (const char *lost = std::getenv("TILEWRIGHT_FAKE_LOST"))
      made->lostAt = std::strtoul(lost, nullptr, 10);
    return made;
  }();
  return *all;
}

struct Context {
  int ordinal;
};
Context contexts[] = {{0}, {1}, {2}};
thread_local std::vector<Context *> stack;

struct Module {
  int ordinal;
  std::string name;
};

/// What was queued on a stream while it was captured.
struct Graph {
  std::vector<FakeLaunch> launches;
  std::vector<std::pair<unsigned *, std::size_t>> zeroed;
};
std::map<void *, Graph> &captures() {
  static auto *all = new std::map<void *, Graph>;
  return *all;
}

/// Notes the call; the result to give.
int noted(const char *call) {
  ++state().calls[call];
  if (state().lostAt && state().launched >= state().lostAt && !std::string_view(call).starts_with("cuCtxP"))      // a thread's stack of contexts is its own
    return FakeState::loss;
  auto failure = state().failures.find(call);
  return failure == state().failures.end() ? 0 : failure->second;
}

} // namespace

#define NOTE(call)                                                                                                                                             \
  const std::lock_guard lock(state().mutex);                                                                                                                   \
  if (int result = noted(call))                                                                                                                                \
    return result;

extern "C" {

FakeState *fakeState() { return &state(); }

int cuInit(unsigned) {
  NOTE("cuInit")
  return 0;
}
int cuDriverGetVersion(int *version) {
  *version = 13000;
  return 0;
}
int cuGetErrorName(int result, const char **name) {
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : result == 209 ? "CUDA_ERROR_NO_BINARY_FOR_GPU" : result == 400 ? "CUDA_ERROR_INVALID_HANDLE" : result == 715 ? "CUDA_ERROR_ILLEGAL_INSTRUCTION" : nullptr;
  return *name ? 0 : 1;
}
int cuGetErrorString(int result, const char **text) {
  *text = result == 2 ? "out of memory" : result == 209 ? "no kernel image is available for execution on the device" : result == 400 ? "invalid resource handle" : result == 715 ? "an illegal instruction was encountered" : nullptr;
  return *text ? 0 : 1;
}
int cuDeviceGetCount(int *count) {
  *count = 3;
  return 0;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetName(char *name, int length, int device) {
  std::strncpy(name, device < 2 ? "Fake H200" : "Fake A100", static_cast<std::size_t>(length));
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t *bytes, int) {
  *bytes = std::size_t(141) << 30;
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
  case 16: *value = device < 2 ? 132 : 108; return 0;
  case 38: *value = 50 << 20; return 0;
  case 39: *value = 2048; return 0;
  case 75: *value = device < 2 ? 9 : 8; return 0;
  case 76: *value = 0; return 0;
  case 81: *value = 228 << 10; return 0;
  case 82: *value = 65536; return 0;
  case 97: *value = 227 << 10; return 0;
  default: return 1;
  }
}
int cuDevicePrimaryCtxRetain(Context **context, int device) {
  NOTE("cuDevicePrimaryCtxRetain")
  *context = &contexts[device];
  return 0;
}
int cuCtxGetCurrent(Context **context) {
  *context = stack.empty() ? nullptr : stack.back();
  return 0;
}
int cuCtxPushCurrent_v2(Context *context) {
  NOTE("cuCtxPushCurrent")
  stack.push_back(context);
  ++state().contexts;
  return 0;
}
int cuCtxPopCurrent_v2(Context **context) {
  NOTE("cuCtxPopCurrent")
  *context = stack.back();
  stack.pop_back();
  --state().contexts;
  return 0;
}
int cuCtxSynchronize() {
  NOTE("cuCtxSynchronize")
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
  static thread_local int present = 0;
  std::swap(*mode, present);
  return 0;
}
int cuModuleLoadData(Module **module, const void *image) {
  NOTE("cuModuleLoadData")
  if (stack.empty() || std::memcmp(image, "\x7f" "ELF", 4) != 0)
    return 200;
  ++state().loaded;
  *module = new Module{stack.back()->ordinal, ""};
  return 0;
}
int cuModuleUnload(Module *module) {
  NOTE("cuModuleUnload")
  --state().loaded;
  delete module;
  return 0;
}
int cuModuleGetFunction(Module **function, Module *module, const char *name) {
  NOTE("cuModuleGetFunction")
  module->name = name;
  *function = module;
  return 0;
}
int cuFuncSetAttribute(Module *, int, int) {
  NOTE("cuFuncSetAttribute")
  return 0;
}
int cuLaunchKernel(Module *function, unsigned gridX, unsigned, unsigned, unsigned blockX, unsigned, unsigned, unsigned sharedBytes, void *stream, void **parameters, void **) {
  NOTE("cuLaunchKernel")
  if (stack.empty() || stack.back()->ordinal != function->ordinal)
    return 400;
  ++state().launched;
  const auto *bytes = static_cast<const std::byte *>(parameters[0]);
  auto capture = captures().find(stream);
  (capture == captures().end() ? state().launches : capture->second.launches).push_back({function->ordinal, function->name, gridX, blockX, sharedBytes, stream, {bytes, bytes + state().parameterBytes}});
  return 0;
}
int cuPointerGetAttributes(unsigned count, int *attributes, void **values, std::uint64_t address) {
  NOTE("cuPointerGetAttributes")
  auto next = memory().upper_bound(address);
  const Block *block = next == memory().begin() ? nullptr : &std::prev(next)->second;
  if (block && address >= std::prev(next)->first + block->bytes)
    block = nullptr;
  auto &pinned = state().pinned;
  auto after = pinned.upper_bound(address);
  const Block ofHost{0, 0, false};
  if (after != pinned.begin() && address < std::prev(after)->first + std::prev(after)->second)
    block = &ofHost;
  for (unsigned i = 0; i < count; ++i)
    *static_cast<int *>(values[i]) = !block ? 0 : attributes[i] == 9 ? block->ordinal : block->isDevice ? 2 : 1;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t *address, std::size_t bytes) {
  NOTE("cuMemAlloc")
  if (stack.empty())
    return 201;
  *address = reinterpret_cast<std::uint64_t>(std::aligned_alloc(512, (bytes + 511) / 512 * 512));
  std::memset(reinterpret_cast<void *>(*address), 0xff, bytes);
  memory()[*address] = {bytes, stack.back()->ordinal, true};
  return 0;
}
int cuMemFree_v2(std::uint64_t address) {
  NOTE("cuMemFree")
  memory().erase(address);
  std::free(reinterpret_cast<void *>(address));
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void *from, std::size_t bytes) {
  NOTE("cuMemcpyHtoD")
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, std::uint64_t from, std::size_t bytes) {
  NOTE("cuMemcpyDtoH")
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
int cuMemsetD32Async(std::uint64_t to, unsigned value, std::size_t count, void *stream) {
  NOTE("cuMemsetD32Async")
  if (auto capture = captures().find(stream); capture != captures().end()) {
    capture->second.zeroed.emplace_back(reinterpret_cast<unsigned *>(to), count);
    return 0;
  }
  for (std::size_t i = 0; i < count; ++i)
    reinterpret_cast<unsigned *>(to)[i] = value;
  return 0;
}
int cuStreamSynchronize(void *) {
  NOTE("cuStreamSynchronize")
  return 0;
}
int cuStreamCreate(void **stream, unsigned) {
  NOTE("cuStreamCreate")
  *stream = new char;
  return 0;
}
int cuStreamDestroy_v2(void *stream) {
  NOTE("cuStreamDestroy")
  delete static_cast<char *>(stream);
  return 0;
}
int cuStreamBeginCapture_v2(void *stream, int) {
  NOTE("cuStreamBeginCapture")
  captures()[stream];
  return 0;
}
int cuStreamEndCapture(void *stream, Graph **graph) {
  NOTE("cuStreamEndCapture")
  *graph = new Graph(captures().at(stream));
  captures().erase(stream);
  ++state().graphs;
  return 0;
}
int cuStreamIsCapturing(void *stream, int *status) {
  NOTE("cuStreamIsCapturing")
  *status = captures().count(stream) ? 1 : 0;
  return 0;
}
int cuGraphInstantiateWithFlags(Graph **runnable, Graph *graph, unsigned long long) {
  NOTE("cuGraphInstantiate")
  *runnable = new Graph(*graph);
  ++state().graphs;
  return 0;
}
int cuGraphLaunch(Graph *graph, void *stream) {
  NOTE("cuGraphLaunch")
  for (auto [words, count] : graph->zeroed)
    std::fill_n(words, count, 0u);
  for (FakeLaunch launch : graph->launches) {
    if (stack.empty() || stack.back()->ordinal != launch.ordinal)
      return 400;
    launch.stream = stream;
    ++state().launched;
    state().launches.push_back(launch);
  }
  return 0;
}
int cuGraphExecDestroy(Graph *graph) {
  NOTE("cuGraphExecDestroy")
  --state().graphs;
  delete graph;
  return 0;
}
int cuGraphDestroy(Graph *graph) {
  NOTE("cuGraphDestroy")
  --state().graphs;
  delete graph;
  return 0;
}
int cuEventCreate(void **event, unsigned) {
  NOTE("cuEventCreate")
  *event = new char;
  return 0;
}
int cuEventDestroy_v2(void *event) {
  NOTE("cuEventDestroy")
  delete static_cast<char *>(event);
  return 0;
}
int cuEventRecord(void *, void *) {
  NOTE("cuEventRecord")
  return 0;
}
int cuEventSynchronize(void *) {
  NOTE("cuEventSynchronize")
  return 0;
}
int cuEventElapsedTime(float *milliseconds, void *, void *) {
  NOTE("cuEventElapsedTime")
  *milliseconds = 0.5f;
  return 0;
}
int cuTensorMapEncodeTiled(void *map, int type, std::uint32_t rank, void *address, const std::uint64_t *sizes, const std::uint64_t *strides, const std::uint32_t *box, const std::uint32_t *,
                           int, int swizzle, int, int) {
  NOTE("cuTensorMapEncodeTiled")
  // As strict as the real one.
  if (stack.empty())
    return 201;
  if (rank < 1 || rank > 5 || reinterpret_cast<std::uint64_t>(address) % 16 || !address)
    return 1;
  for (std::uint32_t d = 0; d < rank; ++d)
    if (sizes[d] < 1 || sizes[d] > std::uint64_t(1) << 32 || box[d] < 1 || box[d] > 256 || (d > 0 && (strides[d - 1] % 16 || strides[d - 1] >= std::uint64_t(1) << 40)))
      return 1;
  std::memset(map, 0, 128);
  std::memcpy(map, &address, 8);
  std::memcpy(static_cast<char *>(map) + 8, sizes, 8 * rank);
  static_cast<unsigned char *>(map)[126] = static_cast<unsigned char>(type);
  static_cast<unsigned char *>(map)[127] = static_cast<unsigned char>(swizzle);
  return 0;
}

} // extern "C"
