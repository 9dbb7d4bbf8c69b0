// Recorded from a stream of its own, so that there is one text for what a launch queues.
#include "tilewright/cuda/Recording.h"
#include "DriverLibrary.h"
#include "tilewright/artifact/RuntimeError.h"
#include <fmt/format.h>

namespace tw::cuda {

struct Recording::Graph {
  int ordinal = 0;
  std::string doing;
  RunnableGraph runnable = nullptr;

  // What runs at present is freed when it ends. At the end of a process the driver may be gone already.
  ~Graph() {
    if (runnable)
      (void)driverLibrary().destroyRunnable(runnable);
  }
};

namespace {

/// A stream that records what is queued on it.
class Recorder {
public:
  explicit Recorder(const std::string &doing) : doing(doing) {
    check(driver.createStream(&stream, StreamFlags::nonBlocking), "cuStreamCreate", doing);
    if (Result result = driver.beginCapture(stream, CaptureMode::relaxed)) {
      (void)driver.destroyStream(stream);
      check(result, "cuStreamBeginCapture", doing);
    }
  }
  ~Recorder() {
    if (!graph)
      (void)driver.endCapture(stream, &graph);
    if (graph)
      (void)driver.destroyGraph(graph);
    (void)driver.destroyStream(stream);
  }
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  [[nodiscard]] StreamHandle handle() const { return stream; }
  RunnableGraph finish() {
    check(driver.endCapture(stream, &graph), "cuStreamEndCapture", doing);
    RunnableGraph runnable = nullptr;
    check(driver.instantiate(&runnable, graph, 0), "cuGraphInstantiate", doing);
    return runnable;
  }

private:
  const DriverLibrary &driver = requireDriver();
  const std::string &doing;
  StreamHandle stream = nullptr;
  GraphHandle graph = nullptr;
};

} // namespace

Recording::Recording(const Module &module, int ordinal, int blocks, const std::byte *parameters, Words zeroed) {
  auto made = std::make_shared<Graph>();
  made->ordinal = ordinal;
  made->doing = fmt::format("launching kernel '{}' on GPU {} again", module.image().program, ordinal);
  const Current current(ordinal);
  const OutsideCaptures outside;
  Recorder recorder(made->doing);
  module.launch(ordinal, recorder.handle(), blocks, parameters, zeroed);
  made->runnable = recorder.finish();
  graph = std::move(made);
}

bool Recording::launch(void *stream) const {
  const DriverLibrary &driver = driverLibrary();
  const Current current(graph->ordinal);
  CaptureStatus status = CaptureStatus::none;
  if (driver.isCapturing(stream, &status) || status != CaptureStatus::none)
    return false;
  check(driver.launchGraph(graph->runnable, stream), "cuGraphLaunch", graph->doing);
  return true;
}

} // namespace tw::cuda
