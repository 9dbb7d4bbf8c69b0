// A problem with the derivatives of a loss, in memory; and where it runs without a GPU's kernels.
#include "RunGradient.h"
#include "Uniform.h"
#include "VariantLaunch.h"
#include "Watch.h"
#include "tilewright/cpu/ThreadPool.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/GradientKernels.h"
#include <algorithm>
#include <new>
#include <set>

namespace tw::cli {
namespace {

std::size_t points(const std::vector<std::int64_t> &shape) {
  std::size_t n = 1;
  for (std::int64_t length : shape)
    n *= std::size_t(length);
  return n;
}

struct Free {
  void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(256)); }
};

} // namespace

/// The derivatives of the loss are normal enough, and rounded to O's type.
BackwardProblem::BackwardProblem(const Problem &problem, const BuildOptions &build) : problem(problem), made(gradientFor(problem.program, build, gradientsByO())), inputs(problem.inputs) {
  Uniform uniform(0x6772);
  for (const auto &[output, name] : made.upstream) {
    Array array{cli::shapeOf(problem.shape, output), {}};
    for (std::size_t i = 0, n = points(array.shape); i < n; ++i)
      array.data.push_back(rounded(uniform() + uniform() + uniform(), problem.type));
    inputs.tensors[name] = std::move(array);
  }
}

std::vector<std::int64_t> BackwardProblem::shapeOf(const std::string &tensor) const {
  if (auto given = inputs.tensors.find(tensor); given != inputs.tensors.end())
    return given->second.shape;
  for (const auto &[input, name] : made.gradients)
    if (name == tensor)
      return inputs.tensors.count(input) ? inputs.tensors.at(input).shape : std::vector<std::int64_t>{1};
  return cli::shapeOf(problem.shape, tensor);
}

GradientMemory::GradientMemory(const BackwardProblem &problem) : problem(problem) {
  std::vector<const Program *> programs{&problem.made.forward};
  for (const Program &program : problem.made.backward)
    programs.push_back(&program);
  for (const Program *program : programs)
    for (const auto &tensor : tensorsOf(*program)) {
      const bool isBetween = std::any_of(problem.made.intermediates.begin(), problem.made.intermediates.end(), [&](const Intermediate &between) { return between.tensor.name() == tensor->name; });
      if (isBetween || memory.count(tensor->name))
        continue;
      const auto values = problem.inputs.tensors.find(tensor->name);
      add(tensor->name, tensor->type, problem.shapeOf(tensor->name), values == problem.inputs.tensors.end() ? nullptr : &values->second);
    }
  given.scalars = problem.inputs.scalars;
}

void GradientMemory::add(const std::string &name, Type type, const std::vector<std::int64_t> &shape, const Array *values) {
  auto &own = memory[name] = std::vector<std::byte>(points(shape) * std::size_t(tw::bytes(type)), std::byte(0xff));   // NaN: what is not written shows
  if (own.empty())
    own.reserve(16);   // an address of its own
  if (values)
    putElements(values->data, type, own.data());
  given.tensors[name] = {own.data(), type, shape, {}};
}

Arrays GradientMemory::gradients() const {
  Arrays all;
  for (const auto &[input, name] : problem.made.gradients) {
    const TensorView &view = given.tensors.at(name);
    all[input] = {view.shape, getElements(view.type, memory.at(name).data(), points(view.shape))};
  }
  return all;
}

Arrays inOrder(const Gradient &made, Arrays gradients) {
  std::set<std::string> added;
  for (const Program &program : made.backward) {
    const auto tensors = tensorsOf(program);
    const bool reads = std::any_of(tensors.begin(), tensors.end(), [&](const auto &tensor) { return added.contains(tensor->name); });
    for (const Store &store : program.stores)
      if (reads || (!foldsOf(program).empty() && addedBySteps(rolesOf(program), store)))
        added.insert(store.tensor.name());
  }
  for (const auto &[input, name] : made.gradients)
    if (added.contains(name))
      gradients.erase(input);
  return gradients;
}

BackwardReport backwardOnCpu(const BackwardProblem &problem, const RunOptions &options) {
  BackwardReport report;
  const Watch building;
  const GradientKernels kernels = buildGradient(problem.made, buildOptionsOf(problem.problem, options, "host"));
  report.buildSeconds = building.seconds();
  report.threads = ThreadPool::shared().threads();
  for (const Kernel &kernel : kernels.kernels())
    report.kernels.push_back(kernel.name() + ": " + print(kernel.schedule()));
  GradientMemory memory(problem);
  report.workspaceBytes = kernels.workspaceBytes(memory.arguments());
  const std::unique_ptr<std::byte, Free> owner(static_cast<std::byte *>(::operator new(report.workspaceBytes, std::align_val_t(256))));
  const Workspace workspace{owner.get(), report.workspaceBytes};
  std::vector<double> forward, backward;
  for (int i = 0; i <= options.repeat.value_or(RunOptions::usualRepeat); ++i) {   // the first warms caches and threads
    const Watch first;
    kernels.forward(hostStream, memory.arguments(), workspace);
    const double seconds = first.seconds();
    const Watch second;
    kernels.backward(hostStream, memory.arguments(), workspace);
    if (i == 0)
      continue;
    forward.push_back(seconds);
    backward.push_back(second.seconds());
  }
  report.forwardSeconds = median(forward);
  report.backwardSeconds = median(backward);
  report.gradients = memory.gradients();
  return report;
}

BackwardReport backwardByEvaluate(const BackwardProblem &problem) {
  BackwardReport report;
  Evaluation tiled = problem.inputs;
  tiled.foldTile = 64;
  const Watch watch;
  const Arrays stored = evaluateGradient(problem.made, tiled);
  report.backwardSeconds = watch.seconds();
  report.threads = 1;
  for (const auto &[input, name] : problem.made.gradients)
    report.gradients[input] = stored.at(name);
  return report;
}

} // namespace tw::cli
