// `tilewright bench`: a variant's default schedule beside the one that build() takes.
#include "Commands.h"
#include "Output.h"
#include "TuneOptions.h"
#include "TuneProgress.h"
#include "TuneResult.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/tune/Choose.h"
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// One schedule's times.
Json toJson(const ScheduleTiming &timing, const ScheduleTiming &base) {
  const std::vector<double> ratios = tuning::ratios(timing, base);
  return {{"schedule", print(timing.schedule)},
          {"seconds", tuning::median(timing.seconds)},
          {"low", tuning::quantile(timing.seconds, 0.25)},
          {"high", tuning::quantile(timing.seconds, 0.75)},
          {"rounds", timing.seconds.size()},
          {"ratio", tuning::median(ratios)}};
}

std::string toText(const std::string &what, const ScheduleTiming &timing, const ScheduleTiming &base) {
  return fmt::format("{:<9} {} (middle half {} … {}), {:.3f} of the default's; {}\n", what, timeText(tuning::median(timing.seconds)),
                     timeText(tuning::quantile(timing.seconds, 0.25)), timeText(tuning::quantile(timing.seconds, 0.75)),
                     tuning::median(tuning::ratios(timing, base)), print(timing.schedule));
}

int benchVariant(const TuneCommand &command) {
  BuildOptions build;
  build.useCache = !command.noCache;
  build.sharedLimit = parseSharedLimit(command.sharedLimit);
  const double budget = parseSeconds("--budget", command.budget);
  const TunePlace place = tunePlace(command.target, command.gpus, false);
  if (!place.whyNoGpu.empty())
    throw std::invalid_argument(fmt::format("nothing can be timed for {}: {}; `tilewright tune` asks the cost model", place.target, place.whyNoGpu));
  build.target = place.target;
  TuneTask task = taskFor(command, command.shapes.at(0), build, "--shape");
  const ScheduleChoice choice = chosenSchedule(task.program, task.build);
  task.how.candidates = 1;
  task.how.budgetSeconds = budget;
  task.how.also = {choice.schedule};
  task.how.gpu = place.gpus.empty() ? 0 : place.gpus.front();
  const TuningRecord record = tune(task.program, task.build, task.how);
  const TuningRun &run = record.runs.back();
  const ScheduleTiming &base = run.tried.at(0);
  if (base.seconds.empty()) {
    printText(fmt::format("the default schedule could not be timed: {}\n",
                          base.refused.empty() ? "there was no time for it; give a longer --budget" : base.refused));
    return failedCheck;
  }
  if (command.json) {
    Json timings{{"default", toJson(base, base)}};
    if (run.tried.size() > 1 && !run.tried[1].seconds.empty())
      timings["chosen"] = toJson(run.tried[1], base);
    printJson({{"variant", task.program.name},
               {"dtype", task.dtype},
               {"target", task.build.target},
               {"processor", run.processor},
               {"class", record.shapeClass},
               {"origin", text(choice.origin)},
               {"timings", timings}});
    return right;
  }
  std::string report = fmt::format("{} {} for {} on {}: {}\n{}", task.program.name, task.dtype, task.build.target, run.processor, toText(task.shape),
                                   toText("default", base, base));
  if (run.tried.size() < 2)
    report += "          nothing faster is known for these lengths; `tilewright tune` looks for it\n";
  else if (run.tried[1].seconds.empty())
    report += fmt::format("{:<9} refused: {}\n", "chosen", run.tried[1].refused);
  else
    report += toText("chosen", run.tried[1], base) + fmt::format("          {}\n", text(choice.origin));
  printText(report);
  return right;
}

} // namespace

Command bench(CLI::App &program) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App *app = program.add_subcommand("bench", "Time a variant: the default schedule, and the one that a build takes for these lengths");
  addVariant(*app, options->variant);
  app->add_option("--shape", options->shapes, "the lengths")->required()->expected(1)->type_name(shapeForm);
  app->add_option("--target", options->target,
                  "the processor: host, gpu, or a GPU of `tilewright list --targets` that is here; what GPU 0 is if left out, else the CPU")
      ->type_name("NAME");
  addDtype(*app, options->dtype);
  app->add_option("--budget", options->budget, "how long it may take; 30s if left out")->type_name("TIME");
  app->add_option("--gpus", options->gpus, "which GPU; the first one of the target if left out")->type_name("N");
  addSharedLimit(*app, options->sharedLimit);
  addCompiler(*app);
  app->add_flag("--no-cache", options->noCache, "compile anew, and keep neither kernels nor times");
  app->add_flag("--json", options->json, "report as JSON");
  refuseEmpty(*app);
  app->footer(
      "Both are timed in turn, round by round, on a GPU with its level-2 cache emptied before each row of launches (docs/tuning.md). Times are medians. Example:\n"
      "  tilewright bench causal --shape 4,32,8,4096,4096,128");
  return {app, [options] { return benchVariant(*options); }};
}

} // namespace tw::cli
