// `run --pass backward --on simulator`: the text of every kernel of a gradient, one after the other, thread by thread.
#include "RunGradient.h"
#include "SimulatorCost.h"
#include "SimulatorLaunch.h"
#include "Watch.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/DeviceText.h"
#include "tilewright/simulator/SimulateArtifact.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// What of the arguments a kernel takes.
Arguments argumentsOf(const Artifact &artifact, const Arguments &all) {
  Arguments own;
  for (const Parameter &parameter : artifact.parameters)
    if (parameter.kind == Parameter::Kind::tensor)
      own.tensors[parameter.name] = all.tensors.at(parameter.name);
    else if (parameter.kind == Parameter::Kind::scalar)
      own.scalars[parameter.name] = all.scalars.at(parameter.name);
  return own;
}

/// Takes a launch into what is known of its setting.
void add(SimulatedSetting &setting, const std::string &kernel, SimulatedOutcome outcome) {
  SimulationResult &whole = setting.result, &part = outcome.simulation;
  for (SimulatorReport &report : part.reports) {
    report.text = kernel + ": " + report.text;
    whole.reports.push_back(std::move(report));
  }
  setting.countersAreZero = setting.countersAreZero && (outcome.countersAreZero || !part.clean());
  whole.found += part.found;
  whole.statistics.switches += part.statistics.switches;
  whole.statistics.products += part.statistics.products;
  whole.statistics.loads += part.statistics.loads;
  whole.statistics.stores += part.statistics.stores;
  whole.statistics.seconds += part.statistics.seconds;
}

} // namespace

BackwardReport backwardInSimulator(const BackwardProblem &problem, const RunOptions &options) {
  BackwardReport report;
  const Problem &given = problem.problem;
  const BuildOptions build = backwardOptions(given, options);
  GradientMemory memory(problem);
  Arguments all = memory.arguments();
  report.workspaceBytes = layOut(problem.made, all, nullptr).bytes;
  std::vector<std::byte> between(report.workspaceBytes + 256);
  std::size_t room = between.size();
  void *start = between.data();
  start = std::align(256, report.workspaceBytes, start, room);
  for (auto &[name, view] : layOut(problem.made, all, start).tensors)
    all.tensors[name] = view;
  const Watch buildWatch;
  std::vector<Artifact> artifacts;
  auto compile = [&](const Program &program) {
    const BuildOptions own = optionsFor(program, build);
    Artifact text = compileText(program, own);
    const Arguments arguments = argumentsOf(text, all);
    artifacts.push_back(launchedText(std::move(text), program, own, arguments));
  };
  compile(problem.made.forward);
  for (const Program &program : problem.made.backward)
    compile(program);
  const auto settings = simulatorSettings(options.settings.value_or(0), options.seed.empty() ? 1 : std::stoull(options.seed));
  checkPatience(artifacts, given.shape, static_cast<int>(settings.size()), options.patience.value_or(RunOptions::usualPatience));
  std::vector<SimulatedKernel> kernels;
  for (const Artifact &artifact : artifacts) {
    kernels.push_back(compileForSimulator(artifact.source, artifact.entry, codeFor(simulatorCost(artifact, given.shape), static_cast<int>(settings.size()))));
    report.kernels.push_back(artifact.program + ": " + artifact.schedule);
  }
  report.buildSeconds = buildWatch.seconds();

  Progress progress("simulator");
  for (std::size_t i = 0; i < settings.size(); ++i) {
    SimulatedSetting ran{settingName(i, settings[i]), {}};
    std::fill(between.begin(), between.end(), std::byte(0xff));   // NaN: whoever reads what nobody wrote shows
    for (std::size_t step = 0; step < kernels.size() && ran.result.clean(); ++step) {
      SimulatorOptions setting = settings[i];
      setting.maximumSwitches = std::max(setting.maximumSwitches, mostSwitches(simulatorCost(artifacts[step], given.shape)));
      add(ran, artifacts[step].program, simulateArtifact(kernels[step], artifacts[step], namedProblem(artifacts[step], argumentsOf(artifacts[step], all)), setting));
      progress.show((double(i) + double(step + 1) / double(kernels.size())) / double(settings.size()));
    }
    report.backwardSeconds += ran.result.statistics.seconds;
    if (i == 0)
      report.gradients = memory.gradients();
    else if (ran.result.clean() && report.settings.front().result.clean())
      ran.differing = countDiffering(inOrder(problem.made, report.gradients), memory.gradients());
    report.settings.push_back(std::move(ran));
  }
  return report;
}

} // namespace tw::cli
