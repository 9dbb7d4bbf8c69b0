// A launch that is made again and again.
#pragma once
#include "tilewright/cuda/Module.h"
#include <memory>

namespace tw::cuda {

/// A launch as a graph of the driver, which queues it for a third of what it costs otherwise, counters zeroed and all. Parameters are copied into it. One
/// thread at a time may use it; launches of it run one after the other.
class Recording {
public:
  /// Of the launch that Module::launch would queue. Throws RuntimeError as the driver refuses. The module is to be there whenever it is
  /// launched.
  Recording(const Module &module, int ordinal, int blocks, const std::byte *parameters, Words zeroed);

  /// Queues it on `stream` of the same GPU. False, and nothing is queued, where the stream is being captured: a graph cannot be launched into another.
  [[nodiscard]] bool launch(void *stream) const;

private:
  struct Graph;
  std::shared_ptr<const Graph> graph;
};

} // namespace tw::cuda
