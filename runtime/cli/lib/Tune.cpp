// `tilewright tune`: the fastest schedule of a variant for some shapes.
#include "Commands.h"
#include "Output.h"
#include "TuneOptions.h"
#include "TuneProgress.h"
#include "TuneReport.h"
#include "TuneResult.h"
#include "Watch.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/tune/Choose.h"
#include <atomic>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <mutex>
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
TuneResult modelled(const TuneTask &task, const std::string &why, std::size_t most) {
  TuneResult result;
  result.task = &task;
  result.whyNotMeasured = why;
  const Target target = targetOf(task);
  result.ranked = rank(task.program, target, launchShapeOf(task), most);
  result.unchanged = defaultSchedule(task.program, target, task.build.extents);
  result.choice = result.ranked.front().schedule;
  return result;
}

TuneResult measured(TuneTask &task, int gpu, const std::string &processor, TuneProgress &progress) {
  const Watch watch;
  TuneResult result;
  result.task = &task;
  result.processor = processor;
  task.how.gpu = gpu;
  const std::string name = fmt::format("{}, {}", toText(task.shape), processor);
  task.how.onProgress = [&](const TuningProgress &now) { progress.show(name, now); };
  task.how.stop = [] { return isInterrupted.load(); };
  result.record = tune(task.program, task.build, task.how);
  result.seconds = watch.seconds();
  result.isInterrupted = isInterrupted;
  const TuningRun &run = result.record->runs.back();
  if (!run.tried.empty())
    result.unchanged = run.tried.front().schedule;
  result.choice = tuning::choice(*result.record);
  return result;
}

/// Each GPU takes the next task as soon as it is done with one. A task that fails fails all, once those under way are done.
std::vector<TuneResult> measuredAll(std::vector<TuneTask> &tasks, const TunePlace &place) {
  std::vector<TuneResult> results(tasks.size());
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
  if (failure)
    std::rethrow_exception(failure);
  std::erase_if(results, [](const TuneResult &result) { return !result.task; });   // that were not begun
  return results;
}

int tuneVariant(const TuneCommand &command) {
  if (command.candidates < 2)
    throw std::invalid_argument(
        fmt::format("--candidates {}: expected a whole number from 2, as the default schedule is one of them", command.candidates));
  BuildOptions build;
  build.useCache = !command.noCache;
  build.sharedLimit = parseSharedLimit(command.sharedLimit);
  const double budget = parseSeconds("--budget", command.budget);
  const TunePlace place = tunePlace(command.target, command.gpus, command.offline);
  build.target = place.target;
  std::vector<TuneTask> tasks;
  for (const std::string &shape : command.shapes) {
    tasks.push_back(taskFor(command.variant, command.dtype, shape, build));
    tasks.back().how.candidates = std::size_t(command.candidates);
    tasks.back().how.budgetSeconds = budget;
  }
  for (const std::string &file : {command.report, command.table})
    if (!file.empty())
      checkWritable(file);

  const Interruptible interruptible;
  std::vector<TuneResult> results;
  if (place.whyNoGpu.empty())
    results = measuredAll(tasks, place);
  else
    for (const TuneTask &task : tasks)
      results.push_back(modelled(task, place.whyNoGpu, std::size_t(command.candidates)));

  std::vector<FileContent> files;
  if (!command.report.empty())
    files.push_back({command.report, tuneReport(results)});
  if (!command.table.empty()) {
    std::string lines;
    for (const TuneResult &result : results)
      lines += tableLine(result);
    files.push_back({command.table, lines});
  }
  writeFiles(files);
  Json json = Json::array();
  bool isRight = !results.empty() || isInterrupted;
  for (std::size_t i = 0; i < results.size(); ++i) {
    json.push_back(toJson(results[i]));
    isRight &= results[i].choice.has_value() || results[i].isInterrupted;
    if (!command.json)
      printText((i ? "\n" : "") + toText(results[i]));
  }
  if (command.json)
    printJson(json);
  return isRight ? right : failedCheck;
}

} // namespace

Command tune(CLI::App &program) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App *app = program.add_subcommand("tune", "Find the fastest schedule of a variant for some shapes, and keep it for every later build");
  app->add_option("variant", options->variant, "a variant of the gallery, or several by +")->required()->type_name("VARIANT");
  app->add_option("--shapes", options->shapes, "the shapes to tune for; several, one after the other")
      ->required()
      ->type_name("B,H,Hkv,Sq,Skv,D[,Dv] ...");
  app->add_option("--target", options->target,
                  "the processor: host, gpu, or a GPU of `tilewright list --targets`; what GPU 0 is if left out, else the CPU. For a GPU that is not "
                  "here the cost model answers alone")
      ->type_name("NAME");
  app->add_option("--dtype", options->dtype, "f16, bf16, f32 or f64: the type of Q, K, V and O; bf16 if left out")->type_name("TYPE");
  app->add_option("--candidates", options->candidates, "schedules to compile for each shape, the default one among them; 12 if left out")
      ->type_name("N");
  app->add_option("--budget", options->budget, "how long to tune for each shape: 30s if left out")->type_name("TIME");
  app->add_option("--gpus", options->gpus, "GPUs that tune side by side, each its own shapes: 0,1 or all; the first one of the target if left out")
      ->type_name("N,...");
  app->add_flag("--offline", options->offline, "ask the cost model alone, whatever GPUs there are");
  app->add_option("--shared-limit", options->sharedLimit, sharedLimitHelp)->type_name("SIZE");
  app->add_option("--report", options->report, "write a page with plots there: one file, that needs no network")->type_name("FILE.html");
  app->add_option("--table", options->table, "write lines of a shipped table there, of what is faster than the default schedules")->type_name("FILE");
  app->add_flag("--no-cache", options->noCache, "keep neither kernels nor what was found");
  app->add_flag("--json", options->json, "report as JSON");
  refuseEmpty(*app);
  app->footer("Ctrl-C keeps what is found by then. Examples:\n"
              "  tilewright tune causal --shapes 4,32,8,4096,4096,128 1,16,16,16384,16384,128\n"
              "  tilewright tune causal --target a100 --shapes 4,32,8,4096,4096,128 --report causal.html");
  return {app, [options] { return tuneVariant(*options); }};
}

} // namespace tw::cli
