#include "TuneMachine.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/cuda/Stopwatch.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

namespace tw {
namespace {

using Clock = std::chrono::steady_clock;

/// One launch by the host's clock. Its caches hold what the launch before left there, which was another candidate's on the same tensors.
class Host : public TuneMachine {
public:
  void launchAndWait(const Kernel &kernel, const TuneProblem &problem) override {
    const std::size_t bytes = kernel.workspaceBytes(problem.arguments());
    if (workspaceBytes < bytes) {
      workspace.reset(static_cast<std::byte *>(::operator new(bytes, std::align_val_t(64))));
      workspaceBytes = bytes;
    }
    kernel.launch(hostStream, problem.arguments(), {workspace.get(), workspaceBytes});
  }
  double seconds(const Kernel &kernel, const TuneProblem &problem) override {
    const Clock::time_point start = Clock::now();
    launchAndWait(kernel, problem);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  struct Release {
    void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Release> workspace;
  std::size_t workspaceBytes = 0;
};

/// Launches in a row, as a program makes them, by the GPU's clock. They begin with an empty level-2 cache and take turns with several copies of the
/// tensors, so that none finds there what the one before has left.
class Device : public TuneMachine {
public:
  Device(int ordinal, const Program &program, const TuningInputs &inputs, const SharedTensors &shared, const TuneProblem &problem)
      : ordinal(ordinal), flush(ordinal), watch(ordinal, nullptr) {
    constexpr double most = 64;   // of small tensors
    const double wanted = double(flush.bytes()) / double(std::max<std::size_t>(problem.bytes(), 1));
    for (int i = 1; i < int(std::min(std::ceil(wanted), most)); ++i)
      copies.push_back(std::make_unique<TuneProblem>(program, inputs, ordinal, shared));
  }
  void launchAndWait(const Kernel &kernel, const TuneProblem &problem) override {
    queue(kernel, problem);
    cuda::synchronise(ordinal, nullptr);
  }
  double seconds(const Kernel &kernel, const TuneProblem &problem) override {
    double &one = known[&kernel];
    if (one == 0)
      one = batch(kernel, problem, 1);
    // Where queuing takes longer than running, what is queued while the cache is emptied is all that follows without a gap.
    const bool isShort = one < shortest;
    return batch(kernel, problem, isShort ? inARowOfShort : int(std::clamp(std::ceil(batchSeconds / one), 1.0, 100.0)));
  }

private:
  static constexpr double batchSeconds = 2e-3, shortest = 15e-6;
  static constexpr int inARowOfShort = 3;

  double batch(const Kernel &kernel, const TuneProblem &problem, int launches) {
    flush.run(nullptr);
    watch.start();
    for (int i = 0; i < launches; ++i) {
      const std::size_t which = next++ % (copies.size() + 1);
      queue(kernel, which ? *copies[which - 1] : problem);
    }
    watch.stop();
    return watch.seconds() / launches;
  }

  void queue(const Kernel &kernel, const TuneProblem &problem) {
    const std::size_t bytes = kernel.workspaceBytes(problem.arguments());
    if (workspace.bytes() < bytes) {
      workspace = cuda::Buffer(ordinal, bytes);
      workspace.write(std::vector<std::byte>(bytes).data());
    }
    kernel.launch({}, problem.arguments(), {workspace.data(), workspace.bytes(), true});
  }

  int ordinal;
  cuda::CacheFlush flush;
  cuda::Stopwatch watch;
  cuda::Buffer workspace;
  std::vector<std::unique_ptr<TuneProblem>> copies;
  std::size_t next = 0;
  std::map<const Kernel *, double> known;   // seconds of its first launch
};

} // namespace

std::unique_ptr<TuneMachine> hostToTuneOn() { return std::make_unique<Host>(); }

std::unique_ptr<TuneMachine> gpuToTuneOn(int ordinal, const Program &program, const TuningInputs &inputs, const SharedTensors &shared, const TuneProblem &problem) {
  return std::make_unique<Device>(ordinal, program, inputs, shared, problem);
}

} // namespace tw
