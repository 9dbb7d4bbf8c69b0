// What the places that run kernels share, and the CPU among them.
#include "Run.h"
#include "Watch.h"
#include "tilewright/cpu/ThreadPool.h"
#include <algorithm>
#include <cmath>
#include <new>

namespace tw::cli {
namespace {

struct Release {
  void operator()(std::byte *memory) const { ::operator delete(memory, std::align_val_t(64)); }
};

} // namespace

BuildOptions buildOptionsOf(const Problem &problem, const RunOptions &options, const std::string &target) {
  BuildOptions build;
  build.target = target;
  build.extents = {{"d", problem.shape.d}, {"e", problem.shape.dv}};
  build.useCache = !options.noCache;
  if (!options.schedule.empty())
    build.schedule = parseSchedule(options.schedule);
  build.sharedLimit = parseSharedLimit(options.sharedLimit);
  build.tune = parseTune(options.tune);
  for (const auto &tensor : tensorsOf(problem.program)) {
    const auto input = problem.inputs.tensors.find(tensor->name);
    build.shapes[tensor->name] = input != problem.inputs.tensors.end() ? input->second.shape : shapeOf(problem.shape, tensor->name);
  }
  build.deterministic = options.deterministic;
  return build;
}

Tune parseTune(const std::string &text) {
  checkChoice("--tune", text, {"never", "cached", "model", "measure"});
  return text == "never" ? Tune::never : text == "model" ? Tune::model : text == "measure" ? Tune::measure : Tune::cached;
}

Kernel buildFor(Report &report, const Program &program, const BuildOptions &options) {
  const Watch watch;
  const BuildCounts before = buildCounts();
  Kernel kernel = tw::build(program, options);
  report.buildSeconds = watch.seconds();
  report.origin = buildCounts().compiled > before.compiled ? "compiled" : buildCounts().loaded > before.loaded ? "loaded from the cache" : "found in memory";
  report.target = options.target;
  report.schedule = kernel.schedule();
  return kernel;
}

Arguments zeroInputs(Arguments arguments, void *zeros) {
  for (auto &[name, view] : arguments.tensors)
    if (name != "O" && name != "lse" && isFloat(view.type)) {
      view.data = zeros;
      view.strides.assign(view.shape.size(), 0);
      if (view.strides.size() > 1)
        view.strides.back() = 1;   // a GPU copies whole rows
    }
  return arguments;
}

bool canCountPairs(const Problem &problem) {
  // A row of a table may be longer than the row of zeros.
  return problem.facts.isSoftmax && problem.facts.hasLse && std::all_of(problem.facts.captures.begin(), problem.facts.captures.end(), [](const Capture &capture) {
    return !isFloat(capture.type) || capture.shape.size() == 1;
  });
}

std::optional<double> keptPairs(const Array &lse) {
  double pairs = 0;
  for (double row : lse.data)
    pairs += std::round(std::exp(row));
  return std::isfinite(pairs) ? std::optional(pairs) : std::nullopt;
}

std::int64_t countDiffering(const std::map<std::string, Array> &a, const std::map<std::string, Array> &b) {
  std::int64_t differing = 0;
  for (const auto &[name, array] : a) {
    const std::vector<double> &other = b.at(name).data;
    for (std::size_t i = 0; i < array.data.size(); ++i)
      differing += array.data[i] != other[i] && !(std::isnan(array.data[i]) && std::isnan(other[i]));
  }
  return differing;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Report runOnCpu(const Problem &problem, const RunOptions &options) {
  Report report;
  const Kernel kernel = buildFor(report, problem.program, buildOptionsOf(problem, options, "host"));
  report.threads = ThreadPool::shared().threads();

  Memory memory(problem);
  const std::size_t bytes = kernel.workspaceBytes(memory.arguments());
  std::unique_ptr<std::byte, Release> owner(static_cast<std::byte *>(::operator new(bytes, std::align_val_t(64))));
  const Workspace workspace{owner.get(), bytes};
  std::vector<std::byte> zeros(bytesOfZeros);
  kernel.launch(hostStream, canCountPairs(problem) ? zeroInputs(memory.arguments(), zeros.data()) : memory.arguments(), workspace);   // warms caches and threads too
  if (canCountPairs(problem))
    report.keptPairs = keptPairs(memory.read("lse"));
  std::vector<double> times;
  for (int i = 0; i < options.repeat.value_or(RunOptions::usualRepeat); ++i) {
    const Watch watch;
    kernel.launch(hostStream, memory.arguments(), workspace);
    times.push_back(watch.seconds());
  }
  report.seconds = median(times);
  report.outputs = memory.outputs();
  return report;
}

Report runByEvaluate(const Problem &problem) {
  Report report;
  report.threads = 1;
  const Watch watch;
  report.outputs = oracle(problem, 64);
  report.seconds = watch.seconds();
  return report;
}

} // namespace tw::cli
