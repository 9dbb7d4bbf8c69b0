// tune(): candidates by the cost model, built as any kernel is, launched where they are meant to run.
#include "TuneChain.h"
#include "AssembleDevice.h"
#include "BuildKey.h"
#include "ChooseSchedule.h"
#include "State.h"
#include "TuneCandidates.h"
#include "TuneCheck.h"
#include "TuneMachine.h"
#include "TuneProblem.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/tune/Tuner.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {
namespace {

/// After an idle GPU begins to work its clock comes down for some tenths of a second, and by then other schedules are the fastest: what takes less power.
constexpr double settlingSeconds = 0.6;

/// GPU `ordinal` must be what the target describes: elsewhere times say nothing.
void checkGpu(const Target &target, int ordinal) {
  if (!cuda::driverAbsence().empty())
    throw RuntimeError(
        fmt::format("schedules for {} are measured on such a GPU, and {}; Tune::model chooses without one", target.name, cuda::driverAbsence()));
  (void)gpuTarget(ordinal);
  const cuda::Gpu &gpu = cuda::gpus().at(std::size_t(ordinal));
  const double memory = double(gpu.memoryBytes) / double(target.dramBytes);
  if (!cuda::runs(gpu, target.arch) || gpu.sms != target.sms || memory < 0.85 || memory > 1.15)
    throw RuntimeError(fmt::format("schedules for {} are measured on such a GPU, and GPU {} is an {} with {} multiprocessors and {:.0f} GB; tune for "
                                   "target {}, or let Tune::model choose without a GPU",
                                   target.name, ordinal, gpu.name, gpu.sms, double(gpu.memoryBytes) * 1e-9, gpuTarget(ordinal)));
}

/// The candidate after which nothing could run.
const ScheduleTiming *stopping(const TuningRun &run) {
  const auto found = std::find_if(run.tried.begin(), run.tried.end(), [](const ScheduleTiming &timing) { return timing.stopped; });
  return found == run.tried.end() ? nullptr : &*found;
}

struct Tuned {
  TuningRecord heading;
  cache::Digest key;
  TuningRun run;
};

/// Of schedules that were tried before, those after which the processor could run nothing.
std::vector<Schedule> schedulesThatStop(const TuningRecord &record) {
  std::vector<Schedule> all;
  for (const TuningRun &run : record.runs)
    for (const ScheduleTiming &timing : run.tried)
      if (timing.stopped)
        all.push_back(timing.schedule);
  return all;
}

/// The processor that it runs on: a GPU's name, or that of the CPU's target.
std::string processorName(const Target &target, int ordinal) { return target.isHost() ? target.title : cuda::gpus().at(std::size_t(ordinal)).name; }

BuildOptions untuned(BuildOptions options) {
  options.schedule.reset();
  options.tune = Tune::never;
  return options;
}

/// What a tuning is for: the build that looks nothing up.
struct Subject {
  Subject(const Program &program, const BuildOptions &given)
      : program(program), options(untuned(given)), request(complete(program, options)), target(targetOf(request)), programText(print(program)) {}

  const Program &program;
  const BuildOptions options;
  const Request request;
  const Target target;
  const std::string programText;

  [[nodiscard]] ScheduleWanted wanted() const { return {program, programText, target, request.sharedLimit, request.inner, request.assembler, options}; }
};

Tuned measure(const Program &program, const BuildOptions &given, const TuneOptions &how, TuneChain *chain) {
  const Subject subject(program, given);
  const BuildOptions &options = subject.options;
  const Request &request = subject.request;
  const Target &target = subject.target;
  const ScheduleWanted wanted = subject.wanted();
  const tuning::RecordKey recordKey = recordKeyOf(wanted);
  const std::optional<int> ordinal = target.isHost() ? std::nullopt : std::optional(how.gpu);
  if (ordinal)
    checkGpu(target, how.gpu);

  const std::optional<TuningRecord> known = options.useCache ? tuning::sharedRecords()->find(tuning::digestOf(recordKey)) : std::nullopt;
  const std::vector<tuning::Candidate> candidates = candidatesFor(wanted, request.schedule, how, known ? schedulesThatStop(*known) : std::vector<Schedule>());
  std::vector<std::optional<Kernel>> kernels(candidates.size());
  const TuningInputs whole{allShapes(program, options.shapes, request.inner), how.values};
  const SharedTensors shared = chain ? chain->shared : SharedTensors();
  TuneProblem timed(program, whole, ordinal, shared);
  const std::unique_ptr<TuneMachine> machine = ordinal ? gpuToTuneOn(*ordinal, program, whole, shared, timed) : hostToTuneOn();
  TuneCheck check(program, timed, [&](const Kernel &kernel, const TuneProblem &problem) { machine->launchAndWait(kernel, problem); }, shared);

  // Of an error that all later launches meet too, the candidate is told apart that was launched when it arose: every launch is waited for.
  const auto guarded = [&](auto work) {
    try {
      return work();
    } catch (const RuntimeError &error) {
      if (ordinal && !cuda::gpuLoss(*ordinal).empty())
        throw tuning::ProcessorLost(error.what());
      throw;
    }
  };
  tuning::Bench bench;
  bench.compile = [&](std::size_t i) {
    BuildOptions one = options;
    if (i > 0)
      one.schedule = candidates[i].schedule;
    kernels[i].emplace(build(program, one));
    return kernels[i]->schedule();
  };
  bench.check = [&](std::size_t i) {
    if (i == 0) {
      if (chain && chain->hasBegun)
        check.useSmall(chain->small ? std::vector{partOf(program, *chain->small)} : std::vector<TuningInputs>(), ordinal);
      else
        check.useSmall(how.check ? std::vector{TuningInputs{allShapes(program, how.check->shapes, request.inner), how.check->values}}
                                 : smallProblems(stateOf(*kernels[0]).artifact, whole),
                       ordinal);
      if (chain)
        chain->takeSmall(check.smallProblem());
    }
    return guarded([&] { return check.check(*kernels[i]); });
  };
  bench.measure = [&](std::size_t i) { return guarded([&] { return machine->seconds(*kernels[i], timed); }); };

  tuning::TunerOptions tuner;
  tuner.budgetSeconds = how.budgetSeconds;
  tuner.settlingSeconds = ordinal ? settlingSeconds : 0;
  tuner.mostCompiled = std::max(how.candidates, 1 + how.also.size());
  if (how.onProgress)
    tuner.onProgress = [&](TuningProgress now) {
      now.program = program.name;
      how.onProgress(now);
    };
  tuner.stop = how.stop;
  Tuned tuned{{program.name, target.name, recordKey.shapeClass, {}}, tuning::digestOf(recordKey), {}};
  tuned.run = {processorName(target, how.gpu), target.isHost() ? "" : cuda::driverVersion(), request.assembler, TILEWRIGHT_VERSION,
               shapesText(whole.shapes),       tuning::tune(candidates, bench, tuner)};
  if (chain && isTimed(tuned.run) && !stopping(tuned.run)) {
    machine->launchAndWait(*kernels[0], timed);
    chain->takeStored(timed);
  }
  return tuned;
}

} // namespace

bool isTimed(const TuningRun &run) { return !run.tried.empty() && !run.tried.front().seconds.empty(); }

TuningRecord tune(const Program &program, const BuildOptions &options, const TuneOptions &how, TuneChain *chain) {
  if (options.shapes.empty())
    throw std::invalid_argument("nothing says for which shapes to tune; give those of the tensors in BuildOptions::shapes");
  checkShapes(program, options);
  Tuned tuned = measure(program, options, how, chain);
  TuningRecord record = tuned.heading;
  record.runs.push_back(tuned.run);
  const ScheduleTiming *stopped = stopping(tuned.run);
  // Where the default schedule was not timed, nothing is known of the others either, but for one that must not be tried again.
  if (options.useCache && (stopped || isTimed(tuned.run))) {
    const auto records = tuning::sharedRecords();
    records->add(tuned.key, tuned.heading, tuned.run);
    record = records->find(tuned.key).value_or(record);
  }
  if (stopped)
    throw RuntimeError(fmt::format("tuning '{}' ends here: after a launch of its schedule '{}' GPU {} can run nothing more in this process ({}). What was found before is kept; start the process again{}",
                                   program.name, print(stopped->schedule), how.gpu, stopped->refused,
                                   stopped == &tuned.run.tried.front() ? ", and give another schedule: this is the default one" : options.useCache ? ", and the tuning leaves this schedule out" : ""));
  return record;
}

TuningRecord tune(const Program &program, const BuildOptions &options, const TuneOptions &how) { return tune(program, options, how, nullptr); }

cache::Digest recordDigest(const Program &program, const BuildOptions &options) { return tuning::digestOf(recordKeyOf(Subject(program, options).wanted())); }

std::optional<TuningRecord> findRecord(const Program &program, const BuildOptions &given) {
  if (given.shapes.empty() || !given.useCache)
    return std::nullopt;
  return tuning::sharedRecords()->find(recordDigest(program, given));
}

ScheduleChoice chosenSchedule(const Program &program, const BuildOptions &options) {
  BuildOptions asked = options;
  if (asked.tune == Tune::measure)
    asked.tune = Tune::cached;
  const Request request = complete(program, asked);
  return {request.schedule, request.origin};
}

} // namespace tw
