#include "ChooseSchedule.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/CostModel.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/tune/Choose.h"
#include <fmt/format.h>
#include <mutex>
#include <stdexcept>

namespace tw {
namespace {

std::optional<ScheduleChoice> tunedHere(const ScheduleWanted &wanted, const tuning::RecordKey &key) {
  if (!wanted.options.useCache)
    return std::nullopt;
  const auto record = tuning::sharedRecords()->find(tuning::digestOf(key));
  if (auto schedule = record ? tuning::choice(*record) : std::nullopt)
    return ScheduleChoice{*schedule, ScheduleOrigin::tuned};
  return std::nullopt;
}

std::optional<ScheduleChoice> shipped(const tuning::RecordKey &key) {
  if (key.sharedLimit)
    return std::nullopt;
  if (const tuning::ShippedSchedule *found = tuning::findShipped(key.target, key.program, key.shapeClass))
    return ScheduleChoice{found->schedule, ScheduleOrigin::shipped};
  return std::nullopt;
}

/// Of threads that ask for the same at once, one measures.
std::optional<ScheduleChoice> measured(const ScheduleWanted &wanted, const tuning::RecordKey &key) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto known = tunedHere(wanted, key))
    return known;
  if (auto schedule = tuning::choice(tune(wanted.program, wanted.options)))
    return ScheduleChoice{*schedule, ScheduleOrigin::tuned};
  return std::nullopt;
}

} // namespace

std::string text(ScheduleOrigin origin) {
  switch (origin) {
  case ScheduleOrigin::given:
    return "given";
  case ScheduleOrigin::rules:
    return "the default one";
  case ScheduleOrigin::tuned:
    return "tuned here";
  case ScheduleOrigin::shipped:
    return "from a shipped table";
  case ScheduleOrigin::model:
    return "by the cost model";
  }
  return "";
}

LaunchShape launchShapeOf(const ScheduleWanted &wanted) { return {wanted.options.shapes, {}, wanted.inner}; }

tuning::RecordKey recordKeyOf(const ScheduleWanted &wanted) {
  return {wanted.programText, wanted.target.name, shapeClass(wanted.program, launchShapeOf(wanted)),
          wanted.sharedLimit, wanted.assembler,   std::string(compilerDigest())};
}

std::optional<ScheduleChoice> betterSchedule(const ScheduleWanted &wanted) {
  const Tune how = wanted.options.tune;
  if (how == Tune::never)
    return std::nullopt;
  if (wanted.options.shapes.empty()) {
    if (how == Tune::cached)
      return std::nullopt;
    throw std::invalid_argument(fmt::format(
        "BuildOptions::tune is {}, and nothing says for which shapes; give those of the tensors in BuildOptions::shapes, or take Tune::cached",
        how == Tune::model ? "model" : "measure"));
  }
  const tuning::RecordKey key = recordKeyOf(wanted);
  if (auto known = tunedHere(wanted, key))
    return known;
  if (how == Tune::measure)
    return measured(wanted, key);
  if (auto known = shipped(key))
    return known;
  if (how == Tune::cached || wanted.target.isHost()) // there is no model of the CPU
    return std::nullopt;
  const Schedule unchanged = defaultSchedule(wanted.program, wanted.target, wanted.inner);
  const std::vector<RankedSchedule> ranked = rank(wanted.program, wanted.target, launchShapeOf(wanted));
  const Schedule &chosen = modelChoice(ranked, unchanged).schedule;
  return chosen == unchanged ? std::nullopt : std::optional(ScheduleChoice{chosen, ScheduleOrigin::model});
}

} // namespace tw
