#include "TuneOptions.h"
#include "Problem.h"
#include "Variant.h"
#include "VariantLaunch.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/kernel/Elements.h"
#include "tilewright/kernel/Machine.h"
#include "tilewright/schedule/Target.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// The check's lengths: some tiles, none of them whole; what the shape has less of stays.
Shape smallShape(const Shape &shape) {
  Shape small = shape;
  const std::int64_t group = shape.hkv > 0 ? shape.h / shape.hkv : 1;
  small.b = std::min<std::int64_t>(shape.b, 1);
  small.hkv = std::min<std::int64_t>(shape.hkv, group > 1 ? 1 : 2);
  small.h = small.hkv * std::min<std::int64_t>(group, 2);
  small.sq = std::min<std::int64_t>(shape.sq, 269);
  small.skv = std::min<std::int64_t>(shape.skv, shape.sq == shape.skv ? 269 : 523);
  return small;
}

std::map<std::string, std::vector<std::int64_t>> shapesFor(const Program &program, const VariantFacts &facts, const Shape &shape) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto &tensor : tensorsOf(program))
    if (std::none_of(facts.captures.begin(), facts.captures.end(), [&](const Capture &capture) { return capture.name == tensor->name; }))
      shapes[tensor->name] = shapeOf(shape, tensor->name);
  return shapes;
}

TuningInputs inputsFor(const Program &program, const VariantFacts &facts, const Shape &shape) {
  TuningInputs inputs{shapesFor(program, facts, shape), {}};
  for (const Capture &capture : facts.captures) {
    std::mt19937_64 random(std::hash<std::string>()(capture.name));
    Array array = capture.make(variantShape(shape), random);
    for (double &value : array.data)
      value = rounded(value, capture.type);
    inputs.shapes[capture.name] = array.shape;
    inputs.values.tensors[capture.name] = std::move(array);
  }
  return inputs;
}

/// Whether GPU `gpu` is what the target describes.
bool is(const cuda::Gpu &gpu, const Target &target) {
  const double memory = double(gpu.memoryBytes) / double(target.dramBytes);
  return cuda::runs(gpu, target.arch) && gpu.sms == target.sms && memory > 0.85 && memory < 1.15;
}

} // namespace

double parseSeconds(std::string_view option, const std::string &text) {
  const std::string trimmedText = trimmed(text);
  double number = 0;
  const auto [stop, error] = std::from_chars(trimmedText.data(), trimmedText.data() + trimmedText.size(), number);
  const std::string unit(stop, trimmedText.data() + trimmedText.size());
  const double factor = unit == "ms" ? 1e-3 : unit == "s" || unit.empty() ? 1 : unit == "m" || unit == "min" ? 60 : 0;
  if (error != std::errc() || factor == 0 || !(number > 0) || number * factor > 1e6)
    throw std::invalid_argument(fmt::format("{} {}: expected a time, such as 30s, 500ms or 2m", option, text));
  return number * factor;
}

TuneTask taskFor(const TuneCommand &command, const std::string &shapeText, const BuildOptions &build, std::string_view option) {
  const Type type = parseFloatType(command.dtype);
  const Shape shape = parseShape(shapeText, option);
  for (std::int64_t length : {shape.b, shape.h, shape.hkv, shape.sq, shape.skv})
    if (length < 1)
      throw std::invalid_argument(fmt::format("{} {}: a launch without work takes no time; lengths are 1 or more here", option, shapeText));
  const std::string variant = trimmed(command.variant);
  TuneTask task{programOf(variant, {.type = type, .lse = true}), variant, command.dtype, shape, command.pass == "backward", build, {}};
  checkMultiplied(task.program, findTarget(build.target));
  const VariantFacts facts = factsFor(variant, type);
  task.build.extents = {{"d", shape.d}, {"e", shape.dv}};
  TuningInputs timed = inputsFor(task.program, facts, shape);
  task.build.shapes = std::move(timed.shapes);
  checkShapes(task.program, task.build);
  task.how.values = std::move(timed.values);
  task.how.check = inputsFor(task.program, facts, smallShape(shape));
  return task;
}

TunePlace tunePlace(const std::string &asked, const std::string &wanted, bool offline) {
  const bool hasDriver = cuda::driverAbsence().empty();
  TunePlace place{asked, {}, ""};
  if (asked.empty() || asked == "gpu")
    place.target = hasDriver || asked == "gpu" ? gpuTarget() : "host";
  const Target &target = findTarget(place.target);
  if (target.isHost()) {
    if (!wanted.empty() || offline)
      throw std::invalid_argument(fmt::format("{} goes with the target of a GPU, not with host; leave it out", offline ? "--offline" : "--gpus"));
    return place;
  }
  if (offline) {
    if (!wanted.empty())
      throw std::invalid_argument(fmt::format("--gpus {} --offline: the model is asked alone, and no GPU measures; leave one of the two out", wanted));
    place.whyNoGpu = "--offline asks for the model alone";
    return place;
  }
  if (!hasDriver) {
    place.whyNoGpu = cuda::driverAbsence();
    return place;
  }
  std::vector<std::int64_t> ordinals;
  if (!wanted.empty() && wanted != "all")
    ordinals = parseNumbers("--gpus", wanted, "ordinals such as 0,1, or all");
  for (const cuda::Gpu &gpu : cuda::gpus())
    if (is(gpu, target) &&
        (wanted == "all" || (wanted.empty() && place.gpus.empty()) || std::find(ordinals.begin(), ordinals.end(), gpu.ordinal) != ordinals.end()))
      place.gpus.push_back(gpu.ordinal);
  for (std::int64_t ordinal : ordinals)
    if (std::find(place.gpus.begin(), place.gpus.end(), int(ordinal)) == place.gpus.end())
      throw std::invalid_argument(
          fmt::format("--gpus {}: GPU {} is not there, or is no {}; `tilewright doctor` shows what there is", wanted, ordinal, target.title));
  if (place.gpus.empty())
    place.whyNoGpu = fmt::format("no GPU of this machine is an {}; GPU 0 is an {}", target.title, cuda::gpus().at(0).name);
  return place;
}

} // namespace tw::cli
