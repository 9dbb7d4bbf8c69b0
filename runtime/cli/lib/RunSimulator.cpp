// `run --on simulator`: the kernel's own text, thread by thread, with nothing left to luck.
#include "Run.h"
#include "SimulatorCost.h"
#include "SimulatorLaunch.h"
#include "Watch.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/kernel/DeviceText.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/simulator/SimulateArtifact.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {
/// The arguments of a launch as the simulator takes them, each scalar in its parameter's type.
device::NamedProblem namedProblem(const Artifact &artifact, const Arguments &arguments) {
  device::NamedProblem problem;
  for (const auto &[name, view] : arguments.tensors)
    problem.tensors[name] = {reinterpret_cast<std::uint64_t>(view.data), view.shape, view.strides};
  for (const Parameter &parameter : artifact.parameters)
    if (parameter.kind == Parameter::Kind::scalar)
      putElement(arguments.scalars.at(parameter.name), *typeNamed(parameter.type), problem.scalars[parameter.name].element.data());
  return problem;
}

std::string settingName(std::size_t setting, const SimulatorOptions &options) { return setting == 0 ? "late" : setting == 1 ? "eager" : fmt::format("random {}", options.seed); }

Report runInSimulator(const Problem &problem, const RunOptions &options) {
  Report report;
  const BuildOptions build = buildOptionsOf(problem, options, options.target.empty() ? "h200" : options.target);
  Memory memory(problem);
  const Watch buildWatch;
  const Artifact artifact = launchedText(compileText(problem.program, build), problem.program, build, memory.arguments());
  const auto settings = simulatorSettings(options.settings.value_or(0), options.seed.empty() ? 1 : std::stoull(options.seed));
  const SimulatorCost cost = simulatorCost(artifact, problem.shape);
  checkPatience({&artifact, 1}, problem.shape, static_cast<int>(settings.size()), options.patience.value_or(RunOptions::usualPatience));
  const SimulatedKernel kernel = compileForSimulator(artifact.source, artifact.entry, codeFor(cost, static_cast<int>(settings.size())));
  report.buildSeconds = buildWatch.seconds();
  report.origin = "compiled";
  report.target = artifact.target;
  report.schedule = parseSchedule(artifact.schedule);

  const device::NamedProblem launch = namedProblem(artifact, memory.arguments());
  Progress progress("simulator");
  double expected = std::max(cost.products, 1.0);   // of one setting
  for (std::size_t i = 0; i < settings.size(); ++i) {
    SimulatorOptions setting = settings[i];
    setting.maximumSwitches = std::max(setting.maximumSwitches, mostSwitches(cost));
    setting.onProgress = [&](const SimulatorStatistics &done) { progress.show((double(i) + std::min(double(done.products) / expected, 1.0)) / double(settings.size())); };
    const SimulatedOutcome outcome = simulateArtifact(kernel, artifact, launch, setting);
    SimulatedSetting ran{settingName(i, setting), outcome.simulation, outcome.countersAreZero || !outcome.simulation.clean()};
    report.seconds += outcome.simulation.statistics.seconds;
    report.items = outcome.items;
    report.blocks = outcome.blocks;
    if (i == 0) {
      report.outputs = memory.outputs();
      expected = std::max(double(outcome.simulation.statistics.products), 1.0);
    } else if (ran.result.clean() && report.settings.front().result.clean())
      ran.differing = countDiffering(report.outputs, memory.outputs());
    report.settings.push_back(std::move(ran));
  }
  return report;
}

} // namespace tw::cli
