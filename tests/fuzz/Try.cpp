// Runs of one recipe: on the CPU, in the simulator, on a GPU.
#include "Try.h"
#include "tilewright/cuda/Buffer.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "unit/kernel/Launched.h"
#include <optional>

namespace tw::fuzz {
namespace {

/// Whether a refusal names a cure.
bool namesCure(const std::string &text) {
  static const char *const cures[] = {
      "; take ", ": take ", ": give ", "; make the schedule's ", "run on the CPU (target host)", "apply everything else to the fold's result", ": make axis"};
  return std::any_of(std::begin(cures), std::end(cures), [&](const char *cure) { return text.find(cure) != text.npos; });
}

BuildOptions buildOptions(const tests::Held &held, const Schedule &schedule, const std::string &target) {
  BuildOptions options;
  options.target = target;
  options.schedule = schedule;
  options.extents = held.inner;
  options.useCache = false;
  return options;
}

std::map<std::string, Array> outputsOf(const tests::Held &held, const tests::Tensors &tensors) {
  std::map<std::string, Array> outputs;
  for (const auto &[name, shape] : held.stored)
    outputs[name] = tensors.read(name);
  return outputs;
}

std::string faultOnHost(const tests::Held &held, const Schedule &schedule) {
  const tests::Tensors tensors(held.program, held.inputs, held.stored);
  build(held.program, buildOptions(held, schedule, "host")).launch(tensors.arguments);
  return tests::differences(held, outputsOf(held, tensors), tests::meaningOf(held));
}

/// On GPU 0, twice: the second time all bits are as the first time.
std::string faultOnGpu(const tests::Held &held, const Schedule &schedule, const std::string &target) {
  constexpr int ordinal = 0;
  tests::Tensors tensors(held.program, held.inputs, held.stored);
  const Kernel kernel = build(held.program, buildOptions(held, schedule, target));
  std::map<std::string, cuda::Buffer> buffers;
  Arguments given = tensors.arguments;
  auto bytesOf = [](const TensorView &view) {
    std::size_t count = static_cast<std::size_t>(bytes(view.type));
    for (std::int64_t length : view.shape)
      count *= static_cast<std::size_t>(length);
    return count;
  };
  for (auto &[name, view] : given.tensors) {
    const std::size_t count = bytesOf(view);
    buffers[name] = cuda::Buffer(ordinal, std::max<std::size_t>(count, 1));
    if (count)
      buffers[name].write(view.data);
    view.data = buffers[name].data();
  }
  std::map<std::string, Array> first;
  const auto meaning = tests::meaningOf(held);
  for (int run = 0; run < 2; ++run) {
    kernel.launch(given);
    for (const auto &[name, shape] : held.stored)
      if (bytesOf(given.tensors.at(name)))
        buffers.at(name).read(tensors.arguments.tensors.at(name).data);
    auto outputs = outputsOf(held, tensors);
    if (std::string fault = tests::differences(held, outputs, meaning); !fault.empty())
      return fault;
    for (const auto &[name, array] : outputs)
      if (run && first.at(name).data != array.data)
        return name + " differs from run to run\n";
    first = std::move(outputs);
  }
  return "";
}

/// The program, or nothing where a smaller recipe makes none: a sum over an axis that its terms no longer have.
std::optional<tests::Held> programOf(const Recipe &recipe) {
  try {
    return build(recipe);
  } catch (const ProgramError &) {
    return {};
  }
}

}   // namespace

Outcome tried(const Recipe &recipe, const Attempt &attempt) {
  const std::optional<tests::Held> held = programOf(recipe);
  if (!held)
    return {};
  const Target &target = findTarget(recipe.target);
  try {
    const Schedule schedule = tests::changed(defaultSchedule(held->program, target, held->inner), recipe.schedule);
    const std::string fault = attempt.where == Where::host  ? faultOnHost(*held, schedule)
                              : attempt.where == Where::gpu ? faultOnGpu(*held, schedule, target.name)
                                                            : tests::faultOf(*held, schedule, target, 1);
    if (fault.empty() && attempt.assembles && attempt.where == Where::simulator)
      (void)build(held->program, buildOptions(*held, schedule, target.name));
    return {fault.empty() ? Outcome::right : Outcome::wrong, fault};
  } catch (const std::exception &error) {
    return {namesCure(error.what()) ? Outcome::refused : Outcome::unexplained, error.what()};
  }
}

bool takesWork() {
  try {
    cuda::Buffer buffer(0, 1);
    const std::byte byte{};
    buffer.write(&byte);
    return true;
  } catch (const std::exception &) {
    return false;
  }
}

std::pair<Recipe, Outcome> minimised(Recipe recipe, Outcome outcome, int attempts, const Attempt &attempt) {
  for (bool found = true; found;) {
    found = false;
    for (const Recipe &candidate : smaller(recipe)) {
      if (attempts-- <= 0)
        return {recipe, outcome};
      Outcome next = tried(candidate, attempt);
      if (next.is != outcome.is)
        continue;
      recipe = candidate;
      outcome = std::move(next);
      found = true;
      break;
    }
  }
  return {recipe, outcome};
}

}   // namespace tw::fuzz
