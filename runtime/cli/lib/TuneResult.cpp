#include "TuneResult.h"
#include "TuneProgress.h"
#include "VariantLaunch.h"
#include "tilewright/tune/Choose.h"
#include "tilewright/tune/Records.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw::cli {
namespace {

constexpr std::size_t mostShown = 8;   // of the model's ranking

std::string head(const TuneTask &task) {
  return fmt::format("{} {} for {}{}: {}\n", task.program.name, task.dtype, task.build.target, task.isBackward ? ", forward and backward" : "", toText(task.shape));
}

std::string modelText(const TuneResult &result) {
  std::string text = fmt::format("model     nothing was measured: {}\n          predicted   bound          schedule\n", result.whyNotMeasured);
  for (const RankedSchedule &ranked : result.ranked)
    text += fmt::format("{:<9} {:>9}   {:<13}  {}\n", ranked.schedule == result.unchanged ? "default" : "", timeText(ranked.estimate.seconds),
                        name(ranked.estimate.bound), print(ranked.schedule));
  if (*result.choice == result.unchanged)
    return text + fmt::format("chosen    the default schedule: nothing is predicted to be faster by more than {:.0f}%\n", leastPredictedGain * 100);
  return text + fmt::format("chosen    {}; tune=model builds it\n", print(*result.choice));
}

std::string countsText(const TuningRun &run, double seconds) {
  const auto refused = std::count_if(run.tried.begin(), run.tried.end(), [](const ScheduleTiming &timing) { return !timing.refused.empty(); });
  return fmt::format("tried     {} schedules in {:.1f} s, {} refused", run.tried.size(), seconds, refused);
}

std::string toText(const TuneResult &result) {
  if (!result.record)
    return modelText(result);
  const TuningRecord &record = *result.record;
  const TuningRun &run = record.runs.back();
  std::string text = fmt::format("class     {}\n{} on {}{}{}\n", record.shapeClass, countsText(run, result.seconds), result.processor,
                                                record.runs.size() > 1 ? fmt::format("; with {} runs before", record.runs.size() - 1) : "",
                                                result.isInterrupted ? "; interrupted" : "");
  text += "            ratio  middle half    time        predicted   schedule\n";
  const auto standings = tuning::standings(record);
  for (const tuning::Standing &standing : standings)
    if (standing.rounds)
      text += fmt::format("{:<9} {:>7.3f}  {:.3f}…{:.3f}  {:>10}  {:>10}   {}\n", standing.schedule == result.unchanged ? "default" : "",
                          standing.ratio, standing.low, standing.high, timeText(standing.seconds),
                          standing.predictedSeconds > 0 ? timeText(standing.predictedSeconds) : "-", print(standing.schedule));
  for (const tuning::Standing &standing : standings)
    if (!standing.refused.empty())
      text += fmt::format("refused   {}: {}\n", print(standing.schedule), standing.refused);
  if (!result.choice)
    return text + "kept      nothing: the default schedule could not be timed, so that there is nothing to compare with\n";
  if (*result.choice == result.unchanged)
    return text + fmt::format("kept      the default schedule: nothing is faster by more than {:.0f}%\n", tuning::leastGain * 100);
  return text + fmt::format("kept      {}{}\n", print(*result.choice),
                            result.task->build.useCache ? "; build() finds it for these lengths" : "; but not on disk");
}

Json toJson(const TuneResult &result) {
  Json json{{"class", result.record ? result.record->shapeClass : shapeClass(result.program, launchShapeOf(result))},
            {"measured", result.record.has_value()},
            {"seconds", result.seconds},
            {"interrupted", result.isInterrupted},
            {"default", print(result.unchanged)},
            {"chosen", result.choice ? Json(print(*result.choice)) : Json()}};
  Json all = Json::array();
  if (result.record) {
    json["processor"] = result.processor;
    json["runs"] = result.record->runs.size();
    for (const tuning::Standing &standing : tuning::standings(*result.record)) {
      Json one{{"schedule", print(standing.schedule)}, {"predicted_seconds", standing.predictedSeconds}};
      if (standing.rounds)
        one.update(
            {{"seconds", standing.seconds}, {"ratio", standing.ratio}, {"low", standing.low}, {"high", standing.high}, {"rounds", standing.rounds}});
      else
        one["refused"] = standing.refused;
      all.push_back(std::move(one));
    }
  } else {
    json["why_not_measured"] = result.whyNotMeasured;
    for (const RankedSchedule &ranked : result.ranked)
      all.push_back({{"schedule", print(ranked.schedule)}, {"predicted_seconds", ranked.estimate.seconds}, {"bound", name(ranked.estimate.bound)}});
  }
  json["schedules"] = std::move(all);
  return json;
}

} // namespace

LaunchShape launchShapeOf(const TuneResult &result) {
  const BuildOptions &build = result.task->build;
  return result.gradient ? launchShapeOf(result, result.task->shape) : LaunchShape{build.shapes, {}, build.extents};
}

LaunchShape launchShapeOf(const TuneResult &result, const Shape &shape) {
  const LaunchShape forward = launchShape(result.task->variant, parseFloatType(result.task->dtype), shape);
  return result.gradient ? backwardShape(*result.gradient, forward) : forward;
}

std::string toText(const Shape &s) { return fmt::format("B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}", s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv); }

std::string toText(const TunedShape &tuned) {
  std::string text = head(*tuned.task);
  for (const TuneResult &kernel : tuned.kernels)
    text += (kernel.gradient ? fmt::format("\n{}\n", kernel.program.name) : "") + toText(kernel);
  for (const TunedShape::Form &form : tuned.forms)
    text += fmt::format("{}{} {}{}\n", &form == &tuned.forms.front() ? "\nbackward  " : "          ", fmt::join(form.kernels, ", "),
                        form.seconds ? "take " + timeText(*form.seconds) : "could not be timed", &form == &tuned.forms.front() && form.seconds ? "; builds take these" : "");
  return text;
}

Json toJson(const TunedShape &tuned) {
  const TuneTask &task = *tuned.task;
  const Shape &s = task.shape;
  Json json{{"variant", task.program.name}, {"dtype", task.dtype}, {"target", task.build.target}, {"shape", {s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv}}};
  if (!task.isBackward) {
    json.update(toJson(tuned.kernels.front()));
    return json;
  }
  json["pass"] = "backward";
  json["kernels"] = json["forms"] = Json::array();
  for (const TuneResult &kernel : tuned.kernels) {
    json["kernels"].push_back(toJson(kernel));
    json["kernels"].back()["program"] = kernel.program.name;
  }
  for (const TunedShape::Form &form : tuned.forms)
    json["forms"].push_back({{"kernels", form.kernels}, {"seconds", form.seconds ? Json(*form.seconds) : Json()}});
  return json;
}

std::string tableLine(const TuneResult &result) {
  if (!result.record || !result.choice || *result.choice == result.unchanged)
    return "";
  double before = 0, after = 0;
  for (const tuning::Standing &standing : tuning::standings(*result.record)) {
    if (standing.schedule == result.unchanged)
      before = standing.seconds;
    if (standing.schedule == *result.choice)
      after = standing.ratio;
  }
  const TuneTask &task = *result.task;
  return tuning::print(tuning::ShippedSchedule{task.build.target, task.variant, task.dtype, result.record->shapeClass, *result.choice, before * after, before});
}

} // namespace tw::cli
