#include "tilewright/cuda/Stopwatch.h"
#include "DriverLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Gpu.h"
#include <fmt/format.h>

namespace tw::cuda {

Stopwatch::Stopwatch(int ordinal, void *stream) : ordinal(ordinal), stream(stream) {
  const DriverLibrary &driver = requireDriver();
  const Current current(ordinal);
  check(driver.createEvent(&marks[0], 0), "cuEventCreate", fmt::format("making a mark on GPU {}", ordinal));
  if (const Result result = driver.createEvent(&marks[1], 0)) {
    (void)driver.destroyEvent(marks[0]);
    check(result, "cuEventCreate", fmt::format("making a mark on GPU {}", ordinal));
  }
}

Stopwatch::~Stopwatch() {
  try {
    const Current current(ordinal);
    for (void *mark : marks)
      (void)driverLibrary().destroyEvent(mark);
  } catch (const RuntimeError &) {   // the driver is gone, and the marks with it
  }
}

void Stopwatch::start() {
  const Current current(ordinal);
  check(driverLibrary().recordEvent(marks[0], stream), "cuEventRecord", fmt::format("marking a stream of GPU {}", ordinal));
}

void Stopwatch::stop() {
  const Current current(ordinal);
  check(driverLibrary().recordEvent(marks[1], stream), "cuEventRecord", fmt::format("marking a stream of GPU {}", ordinal));
}

double Stopwatch::seconds() const {
  const Current current(ordinal);
  check(driverLibrary().synchroniseEvent(marks[1]), "cuEventSynchronize", fmt::format("waiting for GPU {}", ordinal));
  float milliseconds = 0;
  check(driverLibrary().elapsed(&milliseconds, marks[0], marks[1]), "cuEventElapsedTime", fmt::format("reading the time of GPU {}", ordinal));
  return double(milliseconds) * 1e-3;
}

CacheFlush::CacheFlush(int ordinal) : ordinal(ordinal) {
  (void)requireDriver();
  filler = Buffer(ordinal, static_cast<std::size_t>(2 * gpus().at(static_cast<std::size_t>(ordinal)).l2Bytes));
}

void CacheFlush::run(void *stream) const {
  const Current current(ordinal);
  check(driverLibrary().setWords(filler.address(), 0, filler.bytes() / 4, stream), "cuMemsetD32Async",
        fmt::format("emptying the cache of GPU {}", ordinal));
}

} // namespace tw::cuda
