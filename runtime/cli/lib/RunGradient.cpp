// `tilewright run --pass backward`: the gradients of a variant's inputs.
#include "RunGradient.h"
#include "Commands.h"
#include "tilewright/artifact/CompileError.h"
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace tw::cli {
namespace {

Json toJson(const Problem &problem, const BackwardReport &report, const std::vector<Comparison> &comparisons, const RunOptions &options) {
  const Shape &s = problem.shape;
  Json json = {{"variant", problem.variant}, {"dtype", name(problem.type)}, {"on", options.on}, {"pass", "backward"},
               {"shape", {{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}}}, {"seconds", report.backwardSeconds}};
  if (report.threads)
    json["threads"] = report.threads;
  if (!report.kernels.empty()) {
    if (report.settings.empty())
      json["forward_seconds"] = report.forwardSeconds;
    json["build_seconds"] = report.buildSeconds;
    json["workspace_bytes"] = report.workspaceBytes;
    json["kernels"] = report.kernels;
  }
  if (!report.gpu.empty()) {
    json["gpu"] = report.gpu;
    json["runs_timed_together"] = report.runsTimedTogether;
    json["differing"] = report.differing;
  }
  for (const SimulatedSetting &setting : report.settings)
    json["settings"].push_back(toJson(setting));
  for (const Comparison &c : comparisons)
    json["check"][c.tensor] = toJson(c);
  return json;
}

std::string timeLines(const BackwardReport &report, const RunOptions &options) {
  if (report.kernels.empty())
    return fmt::format("time      {:.3f} ms in float64, tiles of 64\n", report.backwardSeconds * 1e3);
  std::string text = fmt::format("built     in {:.1f} ms; {} bytes of workspace\n", report.buildSeconds * 1e3, report.workspaceBytes);
  if (!report.settings.empty())
    return text + fmt::format("simulated forward and backward, thread by thread: {:.2f} s for {} settings\n", report.backwardSeconds, report.settings.size());
  const int repeat = options.repeat.value_or(RunOptions::usualRepeat);
  if (!report.gpu.empty())
    return text + fmt::format("time      forward {:.4f} ms, backward {:.4f} ms (medians of {} times {}) on GPU 0, {}\n", report.forwardSeconds * 1e3, report.backwardSeconds * 1e3, repeat, report.runsTimedTogether,
                              report.gpu);
  return text + fmt::format("time      forward {:.3f} ms, backward {:.3f} ms (medians of {}) on {} thread{}\n", report.forwardSeconds * 1e3, report.backwardSeconds * 1e3, repeat, report.threads,
                            report.threads == 1 ? "" : "s");
}

std::string toText(const Problem &problem, const BackwardReport &report, const std::vector<Comparison> &comparisons, const RunOptions &options) {
  const Shape &s = problem.shape;
  std::string text = fmt::format("{} {} backward on {}: B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}\n", problem.variant, name(problem.type), options.on, s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv);
  for (const std::string &kernel : report.kernels)
    text += fmt::format("kernel    {}\n", kernel);
  text += timeLines(report, options);
  for (const SimulatedSetting &setting : report.settings)
    text += toText(setting);
  if (report.differing)
    text += fmt::format("WRONG     {} elements of gradients differ between runs on the same inputs\n", report.differing);
  for (const Comparison &c : comparisons)
    text += toText(c);
  return text;
}

BackwardReport runOn(const BackwardProblem &problem, const RunOptions &options) {
  if (options.on == "gpu")
    return backwardOnGpu(problem, options);
  if (options.on == "simulator")
    return backwardInSimulator(problem, options);
  return options.on == "cpu" ? backwardOnCpu(problem, options) : backwardByEvaluate(problem);
}

} // namespace

BuildOptions backwardOptions(const Problem &problem, const RunOptions &options) {
  if (options.on == "gpu")
    return buildOptionsOf(problem, options, targetOnGpu(options.target));
  if (options.on == "simulator")
    return buildOptionsOf(problem, options, options.target.empty() ? "h200" : options.target);
  return buildOptionsOf(problem, options, "host");
}

bool BackwardReport::isClean() const {
  return differing == 0 && std::all_of(settings.begin(), settings.end(), [](const SimulatedSetting &setting) { return setting.isClean(); });
}

int runBackward(const Problem &problem, const RunOptions &given) {
  RunOptions options = given;
  std::optional<BackwardProblem> backward(std::in_place, problem, backwardOptions(problem, options));
  BackwardReport report;
  try {
    report = runOn(*backward, options);
  } catch (const CompileError &) {   // as in buildGradient(): a step may do more than multiply and add
    if (std::exchange(options.deterministic, true))
      throw;
    backward.emplace(problem, backwardOptions(problem, options));
    report = runOn(*backward, options);
  }
  const std::vector<Comparison> comparisons = options.check ? checkGradients(*backward, report) : std::vector<Comparison>();
  if (options.json)
    printJson(toJson(problem, report, comparisons, options));
  else
    printText(toText(problem, report, comparisons, options));
  return report.isClean() && std::all_of(comparisons.begin(), comparisons.end(), [](const Comparison &c) { return c.isRight; }) ? right : failedCheck;
}

} // namespace tw::cli
