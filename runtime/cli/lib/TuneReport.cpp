#include "TuneReport.h"
#include "Plot.h"
#include "TuneProgress.h"
#include "VariantLaunch.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/schedule/IoAnalysis.h"
#include "tilewright/schedule/SharedLimit.h"
#include "tilewright/tune/Choose.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace tw::cli {
namespace {

/// A schedule with what is known of it.
struct Known {
  Schedule schedule;
  Estimate estimate;
  double measured = 0;   // seconds; 0: not measured
  std::string name;      // default, chosen, or empty
};

Target targetOf(const TuneTask &task) {
  const Target &whole = findTarget(task.build.target);
  return task.build.sharedLimit ? withSharedLimit(whole, *task.build.sharedLimit) : whole;
}

std::string nameOf(const TuneResult &result, const Schedule &schedule) {
  const bool isChosen = result.choice == schedule, isDefault = result.unchanged == schedule;
  return isChosen && isDefault ? "default, chosen" : isChosen ? "chosen" : isDefault ? "default" : "";
}

std::vector<Known> knownOf(const TuneResult &result) {
  const TuneTask &task = *result.task;
  const Target target = targetOf(task);
  const LaunchShape shape = launchShapeOf(result);
  std::vector<Known> all;
  auto add = [&](const Schedule &schedule, double measured) {
    if (std::any_of(all.begin(), all.end(), [&](const Known &known) { return known.schedule == schedule; }))
      return;
    all.push_back({schedule, target.isHost() ? Estimate() : estimate(result.program, schedule, target, shape), measured, nameOf(result, schedule)});
  };
  if (result.record)
    for (const tuning::Standing &standing : tuning::standings(*result.record))
      if (standing.rounds)
        add(standing.schedule, standing.seconds);
  for (const RankedSchedule &ranked : result.ranked)
    add(ranked.schedule, 0);
  if (!result.record)
    add(result.unchanged, 0);
  return all;
}

std::string tipOf(const Known &known) {
  return fmt::format("{}{}\n{}{}", known.name.empty() ? "" : known.name + ": ", print(known.schedule),
                     known.estimate.seconds > 0 ? "predicted " + timeText(known.estimate.seconds) + " " : "",
                     known.measured > 0 ? "measured " + timeText(known.measured) : "");
}

/// Of a tick: `400 us`, `10 ms`.
std::string microseconds(double seconds) {
  const double unit = seconds < 1e-3 ? 1e-6 : seconds < 1 ? 1e-3 : 1;
  return fmt::format("{:.3g} {}", seconds / unit, unit == 1 ? "s" : unit == 1e-3 ? "ms" : "us");
}

/// Points with their styles: the chosen one, the default one, the others.
std::vector<PlotSeries> byName(const std::vector<Known> &all, const std::function<PlotPoint(const Known &)> &place) {
  std::vector<PlotSeries> series{{"candidates", "a", {}}, {"default", "b", {}}, {"chosen", "c", {}}};
  for (const Known &known : all) {
    PlotPoint point = place(known);
    point.tip = tipOf(known);
    series[known.name.empty() ? 0 : known.name == "default" ? 1 : 2].points.push_back(std::move(point));
  }
  std::erase_if(series, [](const PlotSeries &each) { return each.points.empty(); });
  return series;
}

Plot candidatesPlot(const TuneResult &result, const std::vector<Known> &all) {
  Plot plot;
  double place = 0;
  if (targetOf(*result.task).isHost()) {
    plot.title = "Candidates: measured";
    plot.x = {"place", false, {}, {}};
    plot.y = {"measured time", true, microseconds, {}};
    plot.series = byName(all, [&](const Known &known) { return PlotPoint{++place, known.measured, ""}; });
    plot.note = "The medians of all rounds. There is no cost model of the CPU.";
    return plot;
  }
  if (result.record) {
    plot.title = "Candidates: predicted and measured";
    plot.x = {"predicted time", true, microseconds, {}};
    plot.y = {"measured time", true, microseconds, {}};
    plot.series = byName(all, [](const Known &known) { return PlotPoint{known.estimate.seconds, known.measured, ""}; });
    double low = 1e30, high = 0;
    for (const Known &known : all)
      if (known.measured > 0) {
        low = std::min({low, known.measured, known.estimate.seconds});
        high = std::max({high, known.measured, known.estimate.seconds});
      }
    plot.series.push_back({"as predicted", "roof", {{low, low, ""}, {high, high, ""}}, true, false});
    plot.note = "The medians of all rounds. On the dashed line the cost model is right.";
    return plot;
  }
  plot.title = "Candidates: predicted";
  plot.x = {"place in the model's order", false, {}, {}};
  plot.y = {"predicted time", true, microseconds, {}};
  plot.series = byName(all, [&](const Known &known) { return PlotPoint{++place, known.estimate.seconds, ""}; });
  plot.note = "Nothing was measured: " + result.whyNotMeasured + ".";
  return plot;
}

std::string tera(double value) { return value >= 10e12 ? fmt::format("{:.0f}", value * 1e-12) : fmt::format("{:g}", value * 1e-12); }

std::optional<Plot> rooflinePlot(const TuneResult &result, const std::vector<Known> &all) {
  const Target target = targetOf(*result.task);
  if (target.tensorFlopsF16 <= 0 || target.dramBytesPerSecond <= 0)
    return std::nullopt;   // nobody states them of this machine's CPU
  Plot plot;
  plot.title = "Roofline";
  plot.x = {"operations for each byte of memory", true, {}, {}};
  plot.y = {"TFLOP/s", true, tera, {}};
  double low = 1e30, high = 0;
  for (const Known &known : all)
    if (std::isfinite(known.estimate.intensity) && known.estimate.intensity > 0) {
      low = std::min(low, known.estimate.intensity);
      high = std::max(high, known.estimate.intensity);
    }
  const double ridge = target.tensorFlopsF16 / target.dramBytesPerSecond;
  low = std::min(low, ridge) / 4;
  high = std::max(high, ridge) * 4;
  plot.series.push_back({"roof",
                         "roof",
                         {{low, low * target.dramBytesPerSecond, ""}, {ridge, target.tensorFlopsF16, ""}, {high, target.tensorFlopsF16, ""}},
                         true,
                         false});
  for (PlotSeries &series : byName(all, [&](const Known &known) {
         const double seconds = known.measured > 0 ? known.measured : result.record ? 0 : known.estimate.seconds;
         return PlotPoint{known.estimate.intensity, seconds > 0 ? known.estimate.flop / seconds : 0, ""};
       }))
    plot.series.push_back(std::move(series));
  plot.note = fmt::format("{}: {:.0f} TFLOP/s of tensor cores, {:.2f} TB/s of memory. Operations are those of the tiles that are visited, bytes as "
                          "the model counts them; rates are {}.",
                          target.title, target.tensorFlopsF16 * 1e-12, target.dramBytesPerSecond * 1e-12, result.record ? "measured" : "predicted");
  return plot;
}

std::string lengthText(double length) { return length >= 1024 ? fmt::format("{:g}k", length / 1024) : fmt::format("{:g}", length); }

Plot lengthsPlot(const std::vector<TuneResult> &results, const TuneResult &result) {
  const TuneTask &task = *result.task;
  const Target target = targetOf(task);
  Plot plot;
  plot.title = "Time over length";
  plot.x = {"keys", true, lengthText, {}};
  plot.y = {"time", true, microseconds, {}};
  // Queries keep their share of the keys.
  const double share = double(task.shape.sq) / double(task.shape.skv);
  PlotSeries unchanged{"default, predicted", "b", {}, true, false}, chosen{"chosen, predicted", "c", {}, true, false}, measured{"measured", "a", {}};
  for (std::int64_t keys = 256; keys <= 65536; keys *= 2) {
    plot.x.ticks.push_back(double(keys));
    Shape shape = task.shape;
    shape.skv = keys;
    shape.sq = std::max<std::int64_t>(1, std::llround(share * double(keys)));
    if (target.isHost())
      continue; // of which there is no model
    try {
      const LaunchShape launch = launchShapeOf(result, shape);
      unchanged.points.push_back({double(keys), estimate(result.program, result.unchanged, target, launch).seconds, ""});
      if (result.choice && *result.choice != result.unchanged)
        chosen.points.push_back({double(keys), estimate(result.program, *result.choice, target, launch).seconds, ""});
    } catch (const std::invalid_argument &) {   // a table's length contradicts this one
    }
  }
  for (const TuneResult &other : results) {
    const Shape &a = other.task->shape, &b = task.shape;
    if (!other.record || other.program.name != result.program.name || a.b != b.b || a.h != b.h || a.hkv != b.hkv || a.d != b.d || a.dv != b.dv || double(a.sq) / double(a.skv) != share)
      continue;
    for (const tuning::Standing &standing : tuning::standings(*other.record))
      if (standing.rounds && (standing.schedule == other.unchanged || other.choice == standing.schedule))
        measured.points.push_back({double(a.skv), standing.seconds, nameOf(other, standing.schedule) + ": " + timeText(standing.seconds)});
  }
  plot.series = {unchanged, chosen, measured};
  std::erase_if(plot.series, [](const PlotSeries &series) { return series.points.empty(); });
  plot.note = share == 1 ? "Batch and heads as in this tuning, as many queries as keys." : fmt::format("Batch and heads as in this tuning, {:.3g} queries for each key.", share);
  return plot;
}

std::optional<Plot> memoryPlot(const TuneResult &result) {
  const TuneTask &task = *result.task;
  const Target target = findTarget(task.build.target);
  if (target.isHost())
    return std::nullopt;   // its tiles lie in caches
  const Roles roles = rolesOf(result.program);
  const std::string block = roles.block().name(), fold = roles.fold->axis.name();
  PlotSeries blocks{fmt::format("rows of a block ({})", block), "a", {}, true, true, true},
      folds{fmt::format("width of a step ({})", fold), "b", {}, true, true, true}, stages{"stages × 16", "d", {}, true, true, true};
  Plot plot;
  plot.title = "Chosen tile over shared memory";
  plot.x = {"shared memory of a block, KiB", false, {}, {48, 64, 99, 128, 163, 192, 227}};
  plot.y = {"elements", false, {}, {}};
  for (std::int64_t kib : {48, 56, 64, 80, 99, 112, 128, 144, 163, 180, 192, 208, 227}) {
    if (kib * 1024 > target.sharedBytesPerBlock)
      break;
    try {
      const RankedSchedule best = rank(result.program, withSharedLimit(target, kib * 1024), launchShapeOf(result), 1).front();
      const std::string tip = fmt::format("{} KiB: {}\npredicted {}", kib, print(best.schedule), timeText(best.estimate.seconds));
      blocks.points.push_back({double(kib), double(best.schedule.widths.at(block)), tip});
      folds.points.push_back({double(kib), double(best.schedule.widths.at(fold)), tip});
      stages.points.push_back({double(kib), double(best.schedule.stages) * 16, tip});
    } catch (const std::invalid_argument &) {   // nothing fits so little
    }
  }
  plot.series = {blocks, folds, stages};
  plot.note = "The cost model's first choice, were a block allowed no more than that.";
  return plot;
}

std::string megabytes(double bytes) { return bytes >= 1e9 ? fmt::format("{:g} GB", bytes * 1e-9) : fmt::format("{:g} MB", bytes * 1e-6); }

/// What no cache behind it would save: with everything that an item holds in so much memory, tiles as wide as they fit.
std::optional<Plot> trafficPlot(const TuneResult &result) {
  const TuneTask &task = *result.task;
  if (findTarget(task.build.target).isHost())
    return std::nullopt;
  PlotSeries moved{"moved beyond each tensor once", "a", {}};
  for (std::int64_t kib : {16, 24, 32, 48, 64, 99, 128, 163, 192, 227, 320, 512}) {
    const IoPoint point = leastTraffic(result.program, launchShapeOf(result), kib * 1024);
    if (point.blockWidth > 0 && point.bytes > point.compulsory)
      moved.points.push_back({double(kib), point.bytes - point.compulsory,
                              fmt::format("{} KiB: tiles of {} x {}\n{} moved in all", kib, point.blockWidth, point.foldWidth, megabytes(point.bytes))});
  }
  if (moved.points.empty())
    return std::nullopt;
  Plot plot;
  plot.title = "Memory traffic over on-chip memory";
  plot.x = {"memory for an item, KiB", true, {}, {16, 32, 64, 128, 227, 512}};
  plot.y = {"bytes moved", true, megabytes, {}};
  const PlotPoint &first = moved.points.front(), &last = moved.points.back();
  plot.series = {moved, {"as 1 / memory", "roof", {{first.x, first.y, ""}, {last.x, first.y * first.x / last.x, ""}}, true, false}};
  plot.note = "The IO analysis, without a level-2 cache: twice the memory, half the bytes, until a tensor fits as a whole.";
  return plot;
}

std::string tableOf(const TuneResult &result, const std::vector<Known> &all) {
  std::string out = "<table><thead><tr><th></th><th>measured</th><th>predicted</th><th>bound by</th><th>memory traffic</th><th>shared "
                    "memory</th><th>schedule</th></tr></thead><tbody>\n";
  for (const Known &known : all)
    out +=
        fmt::format("<tr class='{}'><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} MB</td><td>{:.1f} KiB</td><td><code>{}</code></td></tr>\n",
                    known.name.find("chosen") != std::string::npos ? "chosen" : "", known.name, known.measured > 0 ? timeText(known.measured) : "–",
                    known.estimate.seconds > 0 ? timeText(known.estimate.seconds) : "–", known.estimate.seconds > 0 ? name(known.estimate.bound) : "–", known.estimate.dramBytes * 1e-6,
                    double(known.estimate.sharedBytes) / 1024, escapedMarkup(print(known.schedule)));
  out += "</tbody></table>\n";
  std::string refused;
  if (result.record)
    for (const tuning::Standing &standing : tuning::standings(*result.record))
      if (!standing.refused.empty())
        refused += fmt::format("<li><code>{}</code>: {}</li>\n", escapedMarkup(print(standing.schedule)), escapedMarkup(standing.refused));
  return refused.empty() ? out : out + "<details><summary>Refused</summary><ul>" + refused + "</ul></details>\n";
}

std::string sentenceOf(const TuneResult &result) {
  if (!result.record)
    return fmt::format("Chosen by the cost model alone: {}.", result.whyNotMeasured);
  if (!result.choice)
    return "The default schedule could not be timed, so that nothing can be chosen.";
  if (*result.choice == result.unchanged)
    return fmt::format("The default schedule stays: nothing was faster by more than {:.0f}%.", tuning::leastGain * 100);
  for (const tuning::Standing &standing : tuning::standings(*result.record))
    if (standing.schedule == *result.choice)
      return fmt::format("The chosen schedule takes {:.3f} of the default one's time (middle half of {} rounds: {:.3f} to {:.3f}).", standing.ratio,
                         standing.rounds, standing.low, standing.high);
  return "";
}

std::string sectionOf(const std::vector<TuneResult> &results, const TuneResult &result) {
  const TuneTask &task = *result.task;
  const std::vector<Known> all = knownOf(result);
  std::string out =
      fmt::format("<section><h2>{}</h2>\n<p>{}{}</p>\n<div class='plots'>\n", escapedMarkup((result.gradient ? result.program.name + ": " : "") + toText(task.shape)),
                  result.record ? fmt::format("{} schedules on {}. ", result.record->runs.back().tried.size(), escapedMarkup(result.processor)) : "",
                  escapedMarkup(sentenceOf(result)));
  out += svgOf(candidatesPlot(result, all));
  for (const auto &plot : {rooflinePlot(result, all), std::optional(lengthsPlot(results, result)), memoryPlot(result), trafficPlot(result)})
    if (plot)
      out += svgOf(*plot);
  return out + "</div>\n" + tableOf(result, all) + "</section>\n";
}

constexpr const char *style = R"css(
:root { --ink: #1d2430; --faint: #6b7585; --rule: #e1e5ec; --card: #ffffff; --page: #f5f7fa; --mark: #e4f5ec; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --faint: #97a1b3; --rule: #323947; --card: #1c212b; --page: #14181f; --mark: #1d3a2c; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 24px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 28px 0 4px; }
p { margin: 4px 0 12px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 16px; margin-bottom: 16px; }
table { border-collapse: collapse; width: 100%; background: var(--card); border: 1px solid var(--rule); font-size: 13px; }
th, td { text-align: left; padding: 5px 10px; border-bottom: 1px solid var(--rule); vertical-align: top; white-space: nowrap; }
td:last-child { white-space: normal; } th { color: var(--faint); font-weight: 600; }
tr.chosen td { background: var(--mark); }
code { font: 12px/1.4 ui-monospace, monospace; }
details { margin-top: 10px; font-size: 13px; }
)css";

} // namespace

std::string tuneReport(const std::vector<TuneResult> &results) {
  std::string title = "Tilewright: nothing was tuned", sections;
  if (!results.empty()) {
    const TuneTask &task = *results.front().task;
    title = fmt::format("{} {} on {}", task.program.name, task.dtype, findTarget(task.build.target).title);
  }
  for (const TuneResult &result : results)
    sections += sectionOf(results, result);
  return fmt::format("<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
                     "content='width=device-width'><title>{0}</title><link rel='icon' href='data:,'><style>{1}{2}</style></head>\n"
                     "<body><main><h1>{0}</h1>\n<p>Tuned by Tilewright {3}. A schedule says how wide tiles are and how a block's work is arranged; "
                     "rest the pointer on a dot to see which one it is.</p>\n{4}</main></body></html>\n",
                     escapedMarkup(title), style, plotStyle(), TILEWRIGHT_VERSION, sections);
}

} // namespace tw::cli
