// Times of work on a GPU by the GPU's own clock, and an emptied level-2 cache to begin with.
#pragma once
#include "tilewright/cuda/Buffer.h"

namespace tw::cuda {

/// Two marks on one stream of GPU `ordinal`. Throws RuntimeError where the driver refuses.
class Stopwatch {
public:
  Stopwatch(int ordinal, void *stream);
  ~Stopwatch();
  Stopwatch(const Stopwatch &) = delete;
  Stopwatch &operator=(const Stopwatch &) = delete;

  /// Marks the stream: neither waits.
  void start();
  void stop();
  /// Waits for the second mark. From the first to the second; the clock counts half microseconds.
  [[nodiscard]] double seconds() const;

private:
  int ordinal;
  void *stream;
  void *marks[2] = {};
};

/// Empties the level-2 cache of a GPU by writing twice as much as it holds.
class CacheFlush {
public:
  explicit CacheFlush(int ordinal);
  /// Queues it.
  void run(void *stream) const;
  /// Twice what it holds.
  [[nodiscard]] std::size_t bytes() const { return filler.bytes(); }

private:
  int ordinal;
  Buffer filler;
};

} // namespace tw::cuda
