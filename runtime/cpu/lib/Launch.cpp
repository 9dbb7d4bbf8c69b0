// Every thread has a frame in the caller's workspace: the arguments' addresses with its own coordinates and scratch.
#include "tilewright/cpu/Launch.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cpu/MemoryDescriptor.h"
#include <algorithm>
#include <limits>
#include <string>

namespace tw {
namespace {

constexpr std::size_t lineBytes = 64;   // a cache line, and the alignment of scratch

std::size_t roundUp(std::size_t bytes) { return (bytes + lineBytes - 1) / lineBytes * lineBytes; }

/// How one thread's part of the workspace is divided; every part begins a cache line.
struct Frame {
  std::size_t coordinates;   // i32 for each axis
  std::size_t descriptor;    // {allocated, aligned, offset, size, stride} of the scratch
  std::size_t scratch;
  std::size_t bytes;

  Frame(std::size_t arguments, std::size_t axes, std::int64_t scratchBytes)
      : coordinates(roundUp(arguments * sizeof(void *))),
        descriptor(coordinates + roundUp(axes * sizeof(std::int32_t))),
        scratch(descriptor + lineBytes),
        bytes(scratch + roundUp(static_cast<std::size_t>(std::max<std::int64_t>(scratchBytes, 0)))) {}
};

int seats(int threads) {
  int all = ThreadPool::shared().threads();
  return threads > 0 ? std::min(threads, all) : all;
}

std::int64_t count(const HostAxis &axis) { return (axis.extent + axis.step - 1) / axis.step; }

void check(const HostLaunch &launch, std::size_t needed) {
  auto inRange = [&](std::size_t index, const char *what) {
    if (index >= launch.arguments.size())
      throw RuntimeError(std::string(what) + " goes to argument #" + std::to_string(index) + " of a host function that takes " +
                         std::to_string(launch.arguments.size()));
  };
  for (const HostAxis &axis : launch.axes) {
    inRange(axis.argument, "an item's coordinate");
    if (axis.extent < 0 || axis.extent > std::numeric_limits<std::int32_t>::max() || axis.step < 1)
      throw RuntimeError("an axis of extent " + std::to_string(axis.extent) + " in steps of " + std::to_string(axis.step) +
                         " cannot be launched; extents go from 0 to 2147483647, steps from 1");
  }
  inRange(launch.scratchArgument, "the scratch");
  if (launch.workspaceBytes < needed)
    throw RuntimeError("the workspace has " + std::to_string(launch.workspaceBytes) + " bytes and this launch needs " +
                       std::to_string(needed) + "; ask workspaceBytes() with the same arguments and number of threads");
}

} // namespace

std::size_t hostWorkspaceBytes(std::size_t arguments, std::size_t axes, std::int64_t scratchBytes, int threads) {
  return Frame(arguments, axes, scratchBytes).bytes * static_cast<std::size_t>(seats(threads)) + lineBytes - 1;
}

void launchHost(const HostCode &code, const HostLaunch &launch) {
  const Frame frame(launch.arguments.size(), launch.axes.size(), launch.scratchBytes);
  const int threads = seats(launch.threads);
  check(launch, frame.bytes * static_cast<std::size_t>(threads) + lineBytes - 1);
  if (std::any_of(launch.axes.begin(), launch.axes.end(), [](const HostAxis &axis) { return axis.extent == 0; }))
    return;
  std::int64_t items = 1;
  for (const HostAxis &axis : launch.axes)
    if (__builtin_mul_overflow(items, count(axis), &items))
      throw RuntimeError("a launch of more than 2^63 items");

  auto start = reinterpret_cast<std::uintptr_t>(launch.workspace);
  std::byte *frames = launch.workspace + (roundUp(start) - start);
  auto argumentsOf = [&](int worker) { return reinterpret_cast<void **>(frames + static_cast<std::size_t>(worker) * frame.bytes); };
  auto coordinatesOf = [&](void **arguments) {
    return reinterpret_cast<std::int32_t *>(reinterpret_cast<std::byte *>(arguments) + frame.coordinates);
  };

  const int used = static_cast<int>(std::min<std::int64_t>(threads, items));
  for (int worker = 0; worker < used; ++worker) {
    void **arguments = argumentsOf(worker);
    std::copy(launch.arguments.begin(), launch.arguments.end(), arguments);
    for (std::size_t at = 0; at < launch.axes.size(); ++at)
      arguments[launch.axes[at].argument] = coordinatesOf(arguments) + at;
    std::byte *base = reinterpret_cast<std::byte *>(arguments);
    auto scratch = reinterpret_cast<std::int64_t>(base + frame.scratch);
    auto *descriptor = reinterpret_cast<std::int64_t *>(base + frame.descriptor);
    const std::int64_t words[] = {scratch, scratch, 0, launch.scratchBytes, 1};
    std::copy(std::begin(words), std::end(words), descriptor);
    arguments[launch.scratchArgument] = descriptor;
  }

  ThreadPool::shared().parallelFor(items, used, [&](int worker, std::int64_t item) {
    void **arguments = argumentsOf(worker);
    std::int32_t *coordinates = coordinatesOf(arguments);
    for (std::size_t at = launch.axes.size(); at-- > 0;) {
      const HostAxis &axis = launch.axes[at];
      std::int64_t tiles = count(axis), tile = item % tiles;
      item /= tiles;
      coordinates[at] = static_cast<std::int32_t>((axis.descending ? tiles - 1 - tile : tile) * axis.step);
    }
    code(arguments);
  });
}

} // namespace tw
