#include "tilewright/kernel/GradientKernels.h"
#include "GradientForms.h"
#include "GradientState.h"
#include "LayOut.h"
#include "Listed.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/TuneGradient.h"
#include "tilewright/tune/Choose.h"
#include "tilewright/artifact/CompileError.h"
#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tw {
namespace {

using State = GradientKernels::State;

/// An address that is no tensor's, where only sizes are asked for.
constexpr std::uintptr_t nowhere = std::uintptr_t(1) << 62;
constexpr std::size_t alignment = 256;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// Where nothing owns the tiles that a gradient runs along, there is none.
void refuseWithoutFold(const Gradient &made) {
  for (const Program &program : made.backward)
    if (!hasKernel(program))
      throw std::invalid_argument(fmt::format("'{}' is no sum, and no kernel that is asked for has its tiles at hand; ask for the gradients of the tensors that dots multiply by GradientOptions::inputs too, or "
                                              "use evaluateGradient()",
                                              program.stores[0].tensor.name()));
}

State::Step stepOf(const Gradient &made, const Program &program, Kernel kernel) {
  State::Step step{std::move(kernel), {}, {}};
  for (const auto &tensor : tensorsOf(program)) {
    const auto between = std::find_if(made.intermediates.begin(), made.intermediates.end(), [&](const Intermediate &each) { return each.tensor.name() == tensor->name; });
    step.tensors.push_back({tensor->name, between == made.intermediates.end() ? std::nullopt : std::optional(std::size_t(between - made.intermediates.begin()))});
  }
  for (const Tile &scalar : scalarsOf(program))
    step.scalars.push_back(scalar.node().label);
  return step;
}

/// Each kernel with the schedule of the same place, where one is given. All at the same time, but where what else runs would be measured too.
GradientKernels buildAll(Gradient programs, const BuildOptions &options, const std::vector<std::optional<Schedule>> &schedules) {
  std::vector<std::future<Kernel>> builds;
  auto add = [&](const Program &program) {
    BuildOptions own = optionsOfKernel(programs, program, options);
    if (!own.schedule && builds.size() < schedules.size())
      own.schedule = schedules[builds.size()];
    builds.push_back(std::async(options.tune == Tune::measure ? std::launch::deferred : std::launch::async, [&program, own = std::move(own)] { return build(program, own); }));
  };
  add(programs.forward);
  for (const Program &program : programs.backward)
    add(program);
  Kernel forward = builds.front().get();
  std::vector<Kernel> kernels;
  for (std::size_t i = 1; i < builds.size(); ++i)
    kernels.push_back(builds[i].get());
  return GradientKernels(std::move(programs), std::move(forward), std::move(kernels));
}

/// With what was just found. What was not reached has its default schedule.
GradientKernels buildTuned(TunedGradient tuned, BuildOptions options) {
  options.tune = Tune::cached;
  if (options.useCache)
    return buildAll(std::move(tuned.programs), options, {});
  std::vector<std::optional<Schedule>> schedules;
  for (const TuningRecord &record : tuned.records) {
    schedules.push_back(tuning::choice(record));
    if (schedules.back() && *schedules.back() == record.runs.back().tried.front().schedule)
      schedules.back().reset();   // the default one, with all that a build makes of it
  }
  return buildAll(std::move(tuned.programs), options, schedules);
}

/// Where Tune::measure asks for it and nothing is known of the form: what `tune` finds. Of threads that ask at once, one measures.
template <class TuneIt> std::optional<TunedGradient> measured(const Gradient &form, const BuildOptions &options, TuneIt tune) {
  if (options.tune != Tune::measure || options.shapes.empty())
    return std::nullopt;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return knownSeconds(form, options) ? std::nullopt : std::optional<TunedGradient>(tune());
}

void sortOut(std::vector<std::string> &names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

/// What is given is known to a program, and given once.
template <class Each> void checkNames(const State &state, const std::vector<std::string> &known, std::span<const Each> given, const char *what) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!std::binary_search(known.begin(), known.end(), given[i].name))
      throw ArgumentError(fmt::format("{} '{}' is no {} of the gradient of program '{}', which has {}; leave it out", what, given[i].name, what, state.programs.forward.name,
                                      known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
    for (std::size_t j = 0; j < i; ++j)
      if (given[i].name == given[j].name)
        throw ArgumentError(fmt::format("{} '{}' is given twice", what, given[i].name));
  }
}

void checkNames(const State &state, const Given &given) {
  checkNames(state, state.tensors, given.tensors, "tensor");
  checkNames(state, state.scalars, given.scalars, "scalar");
}

/// What of a launch one kernel is given. One a thread, so that launches allocate nothing.
struct OfStep {
  Places places;
  std::vector<GivenTensor> tensors;
  std::vector<GivenScalar> scalars;

  Given take(const State &state, const State::Step &step, const Given &given, std::byte *data) {
    tensors.clear();
    scalars.clear();
    for (const State::Source &source : step.tensors)
      if (source.between) {
        const Places::Place &place = places.places[*source.between];
        tensors.push_back({source.name, data + place.offset, state.programs.intermediates[*source.between].tensor.type(), place.shape, place.strides});
      } else if (const GivenTensor *tensor = findTensor(given, source.name))
        tensors.push_back(*tensor);
    for (const std::string &name : step.scalars)
      if (auto found = std::find_if(given.scalars.begin(), given.scalars.end(), [&](const GivenScalar &scalar) { return scalar.name == name; }); found != given.scalars.end())
        scalars.push_back(*found);
    return {tensors, scalars};
  }
};

void run(const State &state, std::span<const State::Step> steps, Stream stream, const Given &given, Workspace workspace) {
  thread_local OfStep own;
  checkNames(state, given);
  layOut(state.programs, given, own.places);
  const std::size_t between = own.places.bytes;
  if (workspace.bytes < between || (between && !workspace.data))
    throw ArgumentError(fmt::format("the workspace has {} bytes, and {} lie between the kernels of '{}'; ask workspaceBytes() with the same arguments", workspace.data ? workspace.bytes : 0, between,
                                    state.programs.forward.name));
  auto *data = static_cast<std::byte *>(workspace.data);
  for (const State::Step &step : steps)
    launch(stateOf(step.kernel), stream, own.take(state, step, given, data), {data ? data + between : nullptr, workspace.bytes - between, false});
}

} // namespace

std::size_t workspaceBytes(const State &state, const Given &given) {
  checkNames(state, given);
  OfStep own;
  layOut(state.programs, given, own.places);
  // Derivatives and gradients lie as their outputs and inputs do, wherever that will be.
  std::uintptr_t elsewhere = nowhere + own.places.bytes;
  std::vector<GivenTensor> all(given.tensors.begin(), given.tensors.end());
  static constexpr std::int64_t one[] = {1};
  auto stand = [&](const std::string &name, const std::string &as) {
    if (findTensor({all, {}}, name))
      return;
    const GivenTensor *like = findTensor(given, as);
    GivenTensor tensor = like ? GivenTensor{name, nullptr, like->type, like->shape, {}} : GivenTensor{name, nullptr, Type::f32, one, {}};
    std::size_t bytes = std::size_t(tw::bytes(tensor.type));
    for (std::int64_t length : tensor.shape)
      bytes *= std::size_t(std::max<std::int64_t>(length, 1));
    tensor.data = reinterpret_cast<void *>(elsewhere);
    elsewhere += aligned(bytes);
    all.push_back(tensor);
  };
  for (const auto &[output, name] : state.programs.upstream)
    stand(name, output);
  for (const auto &[input, name] : state.programs.gradients)
    stand(name, input);
  std::size_t most = 0;
  auto count = [&](const State::Step &step) {
    most = std::max(most, workspaceBytes(stateOf(step.kernel), own.take(state, step, {all, given.scalars}, reinterpret_cast<std::byte *>(nowhere))));
  };
  count(state.forward);
  for (const State::Step &step : state.backward)
    count(step);
  return own.places.bytes + most;
}

void forward(const State &state, Stream stream, const Given &given, Workspace workspace) { run(state, {&state.forward, 1}, stream, given, workspace); }
void backward(const State &state, Stream stream, const Given &given, Workspace workspace) { run(state, state.backward, stream, given, workspace); }

GradientKernels::GradientKernels(Gradient programs, Kernel forward, std::vector<Kernel> backward) {
  State::Step first = stepOf(programs, programs.forward, std::move(forward));
  auto made = std::make_shared<State>(State{std::move(programs), std::move(first), {}, {}, {}});
  for (std::size_t i = 0; i < backward.size(); ++i)
    made->backward.push_back(stepOf(made->programs, made->programs.backward[i], std::move(backward[i])));
  auto tell = [&](const State::Step &step) {
    for (const State::Source &source : step.tensors)
      if (!source.between)
        made->tensors.push_back(source.name);
    made->scalars.insert(made->scalars.end(), step.scalars.begin(), step.scalars.end());
  };
  tell(made->forward);
  for (const State::Step &step : made->backward)
    tell(step);
  sortOut(made->tensors);
  sortOut(made->scalars);
  state = std::move(made);
}

const Gradient &GradientKernels::programs() const { return state->programs; }

std::vector<Kernel> GradientKernels::kernels() const {
  std::vector<Kernel> all{state->forward.kernel};
  for (const State::Step &step : state->backward)
    all.push_back(step.kernel);
  return all;
}

std::size_t GradientKernels::workspaceBytes(const Arguments &arguments) const { return tw::workspaceBytes(*state, Listed(arguments)); }
void GradientKernels::forward(Stream stream, const Arguments &arguments, Workspace workspace) const { tw::forward(*state, stream, Listed(arguments), workspace); }
void GradientKernels::backward(Stream stream, const Arguments &arguments, Workspace workspace) const { tw::backward(*state, stream, Listed(arguments), workspace); }

GradientKernels buildGradient(const Program &program, const BuildOptions &options, const GradientOptions &wanted) {
  if (options.tune == Tune::measure)
    if (auto tuned = measured(formsFor(program, options, wanted).front(), options, [&] { return tuneGradient(program, options, {}, wanted).front(); }))
      return buildTuned(std::move(*tuned), options);
  Gradient made = gradientFor(program, options, wanted);
  if (!addsToMemory(made))
    return buildGradient(std::move(made), options);
  try {
    return buildGradient(std::move(made), options);
  } catch (const CompileError &) {     // a step that does more than multiply and add
    BuildOptions ordered = options;
    ordered.deterministic = true;
    return buildGradient(gradientFor(program, ordered, wanted), options);
  }
}

GradientKernels buildGradient(Gradient programs, const BuildOptions &options) {
  refuseWithoutFold(programs);
  if (auto tuned = measured(programs, options, [&] { return tuneGradient(programs, options); }))
    return buildTuned(std::move(*tuned), options);
  return buildAll(std::move(programs), options, {});
}

} // namespace tw
