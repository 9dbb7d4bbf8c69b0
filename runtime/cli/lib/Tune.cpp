// `tilewright tune`: the fastest schedule of a variant for some shapes.
#include "Commands.h"
#include "Output.h"
#include "TuneOptions.h"
#include "TuneProgress.h"
#include "TuneReport.h"
#include "TuneResult.h"
#include "Plugin.h"
#include "VariantLaunch.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/TuneGradient.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/tune/Choose.h"
#include <algorithm>
#include <atomic>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace tw::cli {
namespace {

std::atomic<bool> isInterrupted = false;

/// Ctrl-C ends what is under way and keeps what is found; a second one ends the process.
class Interruptible {
public:
  Interruptible()
      : before(std::signal(SIGINT, [](int) {
          isInterrupted = true;
          std::signal(SIGINT, SIG_DFL);
        })) {}
  ~Interruptible() { std::signal(SIGINT, before); }
  Interruptible(const Interruptible &) = delete;

private:
  void (*before)(int);
};

Target targetOf(const TuneTask &task) {
  const Target &whole = findTarget(task.build.target);
  return task.build.sharedLimit ? withSharedLimit(whole, *task.build.sharedLimit) : whole;
}

/// By the model alone.
TuneResult modelled(const TuneTask &task, const Program &program, std::shared_ptr<const Gradient> gradient, const std::string &why, std::size_t most) {
  TuneResult result{.task = &task, .program = program, .gradient = std::move(gradient), .whyNotMeasured = why};
  const Target target = targetOf(task);
  const LaunchShape shape = launchShapeOf(result);
  result.ranked = rank(program, target, shape);
  result.unchanged = defaultSchedule(program, target, innerExtents(program, shape));
  result.choice = modelChoice(result.ranked, result.unchanged).schedule;
  // As of those that are measured, the default one is among them, wherever the model puts it.
  const auto isDefault = [&](const RankedSchedule &ranked) { return ranked.schedule == result.unchanged; };
  const auto found = std::find_if(result.ranked.begin(), result.ranked.end(), isDefault);
  if (most < result.ranked.size() && found >= result.ranked.begin() + std::ptrdiff_t(most) && found != result.ranked.end())
    std::swap(result.ranked[most - 1], *found);
  result.ranked.resize(std::min(most, result.ranked.size()));
  return result;
}

TunedShape modelled(const TuneTask &task, const std::string &why, std::size_t most) {
  TunedShape tuned{&task, {}, {}};
  if (!task.isBackward) {
    tuned.kernels.push_back(modelled(task, task.program, nullptr, why, most));
    return tuned;
  }
  const auto gradient = std::make_shared<const Gradient>(gradientFor(task.program, task.build, gradientsByO()));
  tuned.kernels.push_back(modelled(task, gradient->forward, gradient, why, most));
  for (const Program &program : gradient->backward)
    tuned.kernels.push_back(modelled(task, program, gradient, why, most));
  return tuned;
}

TuneResult resultOf(const TuneTask &task, const Program &program, std::shared_ptr<const Gradient> gradient, const std::string &processor, double seconds, TuningRecord record) {
  TuneResult result{.task = &task, .program = program, .gradient = std::move(gradient), .processor = processor, .seconds = seconds};
  result.isInterrupted = isInterrupted;
  const TuningRun &run = record.runs.back();
  if (!run.tried.empty())
    result.unchanged = run.tried.front().schedule;
  result.choice = tuning::choice(record);
  result.record = std::move(record);
  return result;
}

TunedShape measured(TuneTask &task, int gpu, const std::string &processor, TuneProgress &progress) {
  TunedShape tuned{&task, {}, {}};
  std::map<std::string, double> seconds;   // by program
  task.how.gpu = gpu;
  const std::string name = fmt::format("{}, {}", toText(task.shape), processor);
  task.how.onProgress = [&](const TuningProgress &now) {
    seconds[now.program] = now.seconds;
    progress.show(task.isBackward ? fmt::format("{}, {}", now.program, name) : name, now);
  };
  task.how.stop = [] { return isInterrupted.load(); };
  if (!task.isBackward) {
    TuningRecord record = tune(task.program, task.build, task.how);
    tuned.kernels.push_back(resultOf(task, task.program, nullptr, processor, seconds[task.program.name], std::move(record)));
    return tuned;
  }
  std::set<std::string> known;   // forms share kernels
  for (TunedGradient &form : tuneGradient(task.program, task.build, task.how, gradientsByO())) {
    const auto gradient = std::make_shared<const Gradient>(std::move(form.programs));
    TunedShape::Form &told = tuned.forms.emplace_back();
    told.seconds = form.seconds;
    for (std::size_t i = 0; i <= gradient->backward.size(); ++i) {
      const Program &program = i ? gradient->backward[i - 1] : gradient->forward;
      if (i)
        told.kernels.push_back(program.name);
      if (i < form.records.size() && known.insert(print(program)).second)
        tuned.kernels.push_back(resultOf(task, program, gradient, processor, seconds[program.name], std::move(form.records[i])));
    }
  }
  return tuned;
}

/// What was found, and why there is no more.
struct Measured {
  std::vector<TunedShape> shapes;
  std::exception_ptr failure;
};

/// Each GPU takes the next task as soon as it is done with one. Behind a task that fails no other begins.
Measured measuredAll(std::vector<TuneTask> &tasks, const TunePlace &place) {
  std::vector<TunedShape> results(tasks.size());
  std::vector<int> gpus = place.gpus;
  if (gpus.empty())
    gpus.push_back(-1);   // the CPU
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  TuneProgress progress;
  auto work = [&](int gpu) {
    const std::string processor = gpu < 0 ? "the CPU" : fmt::format("GPU {}, {}", gpu, cuda::gpus().at(std::size_t(gpu)).name);
    for (std::size_t i = next++; i < tasks.size() && !isInterrupted; i = next++)
      try {
        results[i] = measured(tasks[i], std::max(gpu, 0), processor, progress);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure)
          failure = std::current_exception();
        next = tasks.size();
      }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(gpus.size(), tasks.size()); ++i)
    threads.emplace_back(work, gpus[i]);
  work(gpus[0]);
  for (std::thread &thread : threads)
    thread.join();
  std::erase_if(results, [](const TunedShape &result) { return !result.task; });   // that were not begun, or failed
  return {std::move(results), failure};
}

/// Whether there is a choice of what was asked for.
bool isKnown(const TunedShape &tuned) {
  if (!tuned.forms.empty())
    return tuned.forms.front().seconds.has_value();
  return std::all_of(tuned.kernels.begin(), tuned.kernels.end(), [](const TuneResult &kernel) { return kernel.choice.has_value(); });
}

int tuneVariant(const TuneCommand &command) {
  if (command.candidates < 2)
    throw std::invalid_argument(
        fmt::format("--candidates {}: expected a whole number from 2, as the default schedule is one of them", command.candidates));
  checkChoice("--pass", command.pass, {"forward", "backward"});
  const bool isBackward = command.pass == "backward";
  if (isBackward && !command.table.empty())
    throw std::invalid_argument(fmt::format("--table {} --pass backward: shipped tables are of the variants' own kernels; leave one of the two out", command.table));
  if (!isBackward && command.deterministic)
    throw std::invalid_argument("--deterministic goes with --pass backward; a forward pass is deterministic: leave it out");
  if (!command.table.empty() && isVariantFile(trimmed(command.variant)))
    throw std::invalid_argument(fmt::format("--table {}: shipped tables are of the gallery's variants, and {} is none; leave it out", command.table, command.variant));
  BuildOptions build;
  build.deterministic = command.deterministic;
  build.useCache = !command.noCache;
  build.sharedLimit = parseSharedLimit(command.sharedLimit);
  const double budget = parseSeconds("--budget", command.budget);
  const TunePlace place = tunePlace(command.target, command.gpus, command.offline);
  build.target = place.target;
  std::vector<TuneTask> tasks;
  for (const std::string &shape : command.shapes) {
    tasks.push_back(taskFor(command, shape, build));
    tasks.back().how.candidates = std::size_t(command.candidates);
    tasks.back().how.budgetSeconds = budget;
  }
  for (const std::string &file : {command.report, command.table})
    if (!file.empty())
      checkWritable(file);

  const Interruptible interruptible;
  std::vector<TunedShape> results;
  std::exception_ptr failure;
  if (place.whyNoGpu.empty()) {
    Measured found = measuredAll(tasks, place);
    results = std::move(found.shapes);
    failure = found.failure;
  } else
    for (const TuneTask &task : tasks)
      results.push_back(modelled(task, place.whyNoGpu, std::size_t(command.candidates)));
  if (failure && results.empty())
    std::rethrow_exception(failure);

  std::vector<TuneResult> kernels;
  for (const TunedShape &result : results)
    kernels.insert(kernels.end(), result.kernels.begin(), result.kernels.end());
  std::vector<FileContent> files;
  if (!command.report.empty())
    files.push_back({command.report, tuneReport(kernels)});
  if (!command.table.empty()) {
    std::string lines;
    for (const TuneResult &kernel : kernels)
      lines += tableLine(kernel);
    files.push_back({command.table, lines});
  }
  writeFiles(files);
  Json json = Json::array();
  bool isRight = !results.empty() || isInterrupted;
  for (std::size_t i = 0; i < results.size(); ++i) {
    json.push_back(toJson(results[i]));
    isRight &= isInterrupted || isKnown(results[i]);
    if (!command.json)
      printText((i ? "\n" : "") + toText(results[i]));
  }
  if (command.json)
    printJson(json);
  if (failure)   // what was found before it is told all the same
    std::rethrow_exception(failure);
  return isRight ? right : failedCheck;
}

} // namespace

Command tune(CLI::App &program) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App *app = program.add_subcommand("tune", "Find the fastest schedule of a variant for some shapes, and keep it for every later build");
  addVariant(*app, options->variant);
  app->add_option("--shapes", options->shapes, "the shapes to tune for; several, one after the other")
      ->required()
      ->type_name(shapeForm);
  app->add_option("--target", options->target,
                  "the processor: host, gpu, or a GPU of `tilewright list --targets`; what GPU 0 is if left out, else the CPU. For a GPU that is not "
                  "here the cost model answers alone")
      ->type_name("NAME");
  addDtype(*app, options->dtype);
  app->add_option("--pass", options->pass, "forward, or backward: every kernel of the gradients of all inputs, and which of them a build takes where there is a choice; forward if left out")->type_name("PASS");
  app->add_flag("--deterministic", options->deterministic, "with --pass backward: sums in a fixed order alone, as BuildOptions::deterministic asks for");
  app->add_option("--candidates", options->candidates, "schedules to compile for each shape (and kernel), the default one among them; 12 if left out")
      ->type_name("N");
  app->add_option("--budget", options->budget, "how long to tune for each shape (and kernel): 30s if left out")->type_name("TIME");
  app->add_option("--gpus", options->gpus, "GPUs that tune side by side, each its own shapes: 0,1 or all; the first one of the target if left out")
      ->type_name("N,...");
  app->add_flag("--offline", options->offline, "ask the cost model alone, whatever GPUs there are");
  addSharedLimit(*app, options->sharedLimit);
  app->add_option("--report", options->report, "write a page with plots there: one file, that needs no network")->type_name("FILE.html");
  app->add_option("--table", options->table, "write lines of a shipped table there, of what is faster than the default schedules")->type_name("FILE");
  addCompiler(*app);
  app->add_flag("--no-cache", options->noCache, "keep neither kernels nor what was found");
  app->add_flag("--json", options->json, "report as JSON");
  refuseEmpty(*app);
  app->footer("Ctrl-C keeps what is found by then. Examples:\n"
              "  tilewright tune causal --shapes 4,32,8,4096,4096,128 1,16,16,16384,16384,128\n"
              "  tilewright tune causal --shapes 4,16,16,4096,4096,128 --pass backward\n"
              "  tilewright tune causal --target a100 --shapes 4,32,8,4096,4096,128 --report causal.html");
  return {app, [options] { return tuneVariant(*options); }};
}

} // namespace tw::cli
