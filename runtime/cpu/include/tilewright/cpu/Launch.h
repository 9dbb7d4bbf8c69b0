// Runs a host function over all items of a problem, on all cores.
#pragma once
#include "tilewright/cpu/HostCode.h"
#include "tilewright/cpu/ThreadPool.h"
#include <cstddef>
#include <cstdint>
#include <span>

namespace tw {

/// An axis along which items differ: coordinates 0, step, 2·step, … below `extent`.
struct HostAxis {
  std::size_t argument = 0;     // index of the i32 argument that takes the item's coordinate
  std::int64_t extent = 0;      // the length of the axis; 0 means that there is nothing to do
  std::int64_t step = 1;        // 1, or the width of the block axis's tile
  bool descending = false;      // start with the last coordinate: the heaviest first where later tiles fold more
};

/// One launch of a host function. All that it points to must live until launchHost returns.
struct HostLaunch {
  std::span<void *const> arguments;   // what the function takes, in order; the items' coordinates and the scratch may be null
  std::span<const HostAxis> axes;     // the last one varies fastest
  std::size_t scratchArgument = 0;    // index of the argument that takes the descriptor of the item's scratch
  std::int64_t scratchBytes = 0;      // what one running item needs
  std::byte *workspace = nullptr;     // of at least hostWorkspaceBytes, of any alignment, this launch's own while it runs
  std::size_t workspaceBytes = 0;
  int threads = 0;                    // 0: all of the pool
};

/// Bytes of workspace for `threads` threads (as in HostLaunch, of the pool of the process) that run a function of
/// `arguments` arguments and `axes` item axes; does not depend on the number of items.
[[nodiscard]] std::size_t hostWorkspaceBytes(std::size_t arguments, std::size_t axes, std::int64_t scratchBytes, int threads);

/// Runs every item once and returns when all are done. Allocates nothing. Throws RuntimeError if the workspace is too small,
/// an argument's index is out of range, or an axis is longer than an i32 can count.
void launchHost(const HostCode &code, const HostLaunch &launch);

} // namespace tw
