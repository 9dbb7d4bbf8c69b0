// `run --pass backward --on gpu`: the kernels of a gradient on GPU 0 of this machine.
#include "RunGradient.h"
#include "Watch.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/kernel/GradientKernels.h"

namespace tw::cli {
namespace {

constexpr int ordinal = 0;

} // namespace

BackwardReport backwardOnGpu(const BackwardProblem &problem, const RunOptions &options) {
  BackwardReport report;
  report.gpu = cuda::gpus().at(ordinal).name;
  const Watch building;
  const GradientKernels kernels = buildGradient(problem.made, backwardOptions(problem.problem, options));
  report.buildSeconds = building.seconds();
  for (const Kernel &kernel : kernels.kernels())
    report.kernels.push_back(kernel.name() + ": " + print(kernel.schedule()));

  GradientMemory memory(problem);
  Arguments given = memory.arguments();
  std::map<std::string, cuda::Buffer> buffers;
  for (auto &[name, view] : given.tensors) {
    cuda::Buffer &buffer = buffers[name] = cuda::Buffer(ordinal, memory.bytesOf(name));
    buffer.write(view.data);
    view.data = buffer.data();
  }
  report.workspaceBytes = kernels.workspaceBytes(given);
  cuda::Buffer space(ordinal, report.workspaceBytes);
  space.write(std::vector<std::byte>(report.workspaceBytes, std::byte(0xff)).data());   // NaN: whoever reads what nobody wrote shows
  const Workspace workspace{space.data(), report.workspaceBytes};
  auto gradients = [&] {
    for (const auto &[input, name] : problem.made.gradients)
      buffers.at(name).read(memory.arguments().tensors.at(name).data);
    return memory.gradients();
  };
  auto secondsOf = [&](bool isForward, int runs) {
    const Watch watch;
    for (int i = 0; i < runs; ++i)
      isForward ? kernels.forward({}, given, workspace) : kernels.backward({}, given, workspace);
    cuda::synchronise(ordinal, nullptr);
    return watch.seconds();
  };
  (void)secondsOf(true, 1);    // loads the code too
  (void)secondsOf(false, 1);
  report.gradients = gradients();

  report.runsTimedTogether = launchesTogether(secondsOf(false, 1));
  std::vector<double> forward, backward;
  for (int i = 0; i < options.repeat.value_or(RunOptions::usualRepeat); ++i) {
    forward.push_back(secondsOf(true, report.runsTimedTogether) / report.runsTimedTogether);
    backward.push_back(secondsOf(false, report.runsTimedTogether) / report.runsTimedTogether);
  }
  report.forwardSeconds = median(forward);
  report.backwardSeconds = median(backward);
  report.differing = countDiffering(inOrder(problem.made, report.gradients), gradients());
  return report;
}

} // namespace tw::cli
