// `run --on gpu`: GPU 0 of this machine, through the driver alone.
#include "Run.h"
#include "Watch.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {
namespace {

constexpr int ordinal = 0;

/// The tensors of a problem on the GPU.
class OnGpu {
public:
  explicit OnGpu(Memory &memory) : memory(memory), given(memory.arguments()) {
    for (auto &[name, view] : given.tensors) {
      cuda::Buffer &buffer = buffers[name] = cuda::Buffer(ordinal, memory.bytesOf(name));
      buffer.write(view.data);
      view.data = buffer.data();
    }
  }
  [[nodiscard]] const Arguments &arguments() const { return given; }
  /// The stored tensors, copied back, as numbers.
  [[nodiscard]] std::map<std::string, Array> outputs() const {
    for (const auto &[name, _] : memory.outputs())
      buffers.at(name).read(memory.arguments().tensors.at(name).data);
    return memory.outputs();
  }

private:
  Memory &memory;
  std::map<std::string, cuda::Buffer> buffers;
  Arguments given;
};

} // namespace

std::string targetOnGpu(const std::string &asked) {
  if (!cuda::driverAbsence().empty())
    throw RuntimeError(fmt::format("--on gpu: {}; --on simulator runs the same kernel without a GPU, --on cpu one for the CPU", cuda::driverAbsence()));
  const std::string found = asked.empty() ? gpuTarget(ordinal) : asked;
  const Target &target = findTarget(found);
  const cuda::Gpu &gpu = cuda::gpus().at(ordinal);
  if (target.isHost())
    throw std::invalid_argument("--on gpu --target host: that is this machine's CPU; leave --target out, or take --on cpu");
  if (!cuda::runs(gpu, target.arch))
    throw std::invalid_argument(fmt::format("--on gpu --target {}: GPU {} is an {} of compute capability {}.{}, which does not run {} code; leave --target out, or take --on simulator", target.name,
                                            ordinal, gpu.name, gpu.major, gpu.minor, target.arch));
  return target.name;
}

/// So many that queueing and waiting, some 10 us together, do not count.
int launchesTogether(double seconds) {
  constexpr double batchSeconds = 0.02;
  return static_cast<int>(std::clamp(std::ceil(batchSeconds / std::max(seconds, 1e-6)), 1.0, 2000.0));
}

Report runOnGpu(const Problem &problem, const RunOptions &options) {
  const std::string target = targetOnGpu(options.target);
  Report report;
  report.gpu = cuda::gpus().at(ordinal).name;
  const Kernel kernel = buildFor(report, problem.program, buildOptionsOf(problem, options, target));

  Memory memory(problem);
  const std::size_t bytes = kernel.workspaceBytes(memory.arguments());
  const OnGpu tensors(memory);
  cuda::Buffer counters(ordinal, bytes), zeros(ordinal, bytesOfZeros);
  zeros.write(std::vector<std::byte>(bytesOfZeros).data());
  counters.write(std::vector<std::byte>(bytes).data());
  const Workspace workspace{counters.data(), bytes, true};   // every launch leaves it zeroed
  auto secondsOf = [&](int launches) {
    const Watch watch;
    for (int i = 0; i < launches; ++i)
      kernel.launch({}, tensors.arguments(), workspace);
    cuda::synchronise(ordinal, nullptr);
    return watch.seconds();
  };
  kernel.launch({}, canCountPairs(problem) ? zeroInputs(tensors.arguments(), zeros.data()) : tensors.arguments(), workspace);   // loads the code too
  cuda::synchronise(ordinal, nullptr);
  if (canCountPairs(problem))
    report.keptPairs = keptPairs(tensors.outputs().at("lse"));
  (void)secondsOf(1);
  report.outputs = tensors.outputs();

  const int launches = launchesTogether(secondsOf(1));
  std::vector<double> times;
  for (int i = 0; i < options.repeat.value_or(RunOptions::usualRepeat); ++i)
    times.push_back(secondsOf(launches) / launches);
  report.seconds = median(times);
  report.launchesTimedTogether = launches;
  report.differing = countDiffering(report.outputs, tensors.outputs());
  return report;
}

} // namespace tw::cli
