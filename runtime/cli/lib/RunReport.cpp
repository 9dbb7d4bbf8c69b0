// The report of `run`, for a person and as JSON.
#include "Run.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {
namespace {

/// 10^9 float operations a second: 2 D for a score and 2 Dv for its weight's share of the output, for each pair that the mask keeps.
double gflops(const Problem &problem, const Report &report) {
  return report.seconds > 0 ? *report.keptPairs * 2.0 * double(problem.shape.d + problem.shape.dv) / report.seconds * 1e-9 : 0;
}

std::string plural(std::int64_t count, const char *what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

/// The line that says how long it took.
std::string timeLine(const Problem &problem, const Report &report, const RunOptions &options) {
  if (!report.settings.empty())
    return fmt::format("simulated {} in {}, thread by thread: {:.2f} s for {}\n", plural(report.items, "item"), plural(report.blocks, "block"), report.seconds, plural(std::int64_t(report.settings.size()), "setting"));
  if (report.target.empty())
    return fmt::format("time      {:.3f} ms in float64, tiles of 64 keys\n", report.seconds * 1e3);
  const int repeat = options.repeat.value_or(RunOptions::usualRepeat);
  std::string text = report.gpu.empty() ? fmt::format("time      {:.3f} ms (median of {}) on {}", report.seconds * 1e3, repeat, plural(report.threads, "thread"))
                                        : fmt::format("time      {:.4f} ms (median of {} times {}) on GPU 0, {}", report.seconds * 1e3, repeat, report.launchesTimedTogether, report.gpu);
  if (!report.keptPairs)
    return text + "; no GFLOP/s: no lse with all scores 0 tells how many pairs the mask keeps\n";
  const double rate = gflops(problem, report);
  return text + fmt::format(", {}: 2 D + 2 Dv operations for each of {:.0f} pairs of query and key that the mask keeps\n",
                            report.gpu.empty() ? fmt::format("{:.1f} GFLOP/s", rate) : fmt::format("{:.1f} TFLOP/s", rate * 1e-3), *report.keptPairs);
}

/// Which heads were checked, where that is not all.
std::string sampleLine(const Verdict &verdict) {
  if (verdict.heads.empty())
    return "";
  std::vector<std::string> heads;
  for (auto [b, h] : verdict.heads)
    heads.push_back(fmt::format("({}, {})", b, h));
  return fmt::format("checked   {} of {} pairs (b, h): {}; in float64, by a kernel for the CPU\n", verdict.heads.size(), verdict.pairs, fmt::join(heads, ", "));
}

} // namespace

Json toJson(const SimulatedSetting &setting) {
  Json reports = Json::array();
  for (const SimulatorReport &report : setting.result.reports)
    reports.push_back({{"code", report.code}, {"text", report.text}, {"line", report.line}, {"source", report.source}});
  return {{"name", setting.name}, {"right", setting.isClean()}, {"seconds", setting.result.statistics.seconds}, {"switches", setting.result.statistics.switches}, {"products", setting.result.statistics.products}, {"found", setting.result.found}, {"reports", reports},
          {"counters_are_zero", setting.countersAreZero}, {"differing", setting.differing}};
}

std::string toText(const SimulatedSetting &setting) {
  std::string text = fmt::format("{:<9} {} in {:.2f} s", setting.name, setting.isClean() ? "right" : "WRONG", setting.result.statistics.seconds);
  if (setting.differing)
    text += fmt::format("; {} elements of what is stored are not as in the first setting: the result depends on what happens when", setting.differing);
  if (!setting.countersAreZero)
    text += "; the counters are not 0 again: another launch would go wrong";
  if (setting.result.found)
    text += fmt::format("; {} report{}{}", setting.result.found, setting.result.found == 1 ? "" : "s",
                        setting.result.found > static_cast<int>(setting.result.reports.size()) ? fmt::format(", the first {}:", setting.result.reports.size()) : ":");
  text += "\n";
  for (const SimulatorReport &report : setting.result.reports)
    text += fmt::format("          {} {}\n{}", report.code, report.text, report.line ? fmt::format("            line {}: {}\n", report.line, report.source) : "");
  return text;
}

Json toJson(const Comparison &c) {
  Json json = {{"right", c.isRight}, {"max_error", c.maxError}, {"rms_error", c.rmsError}, {"worst", c.worst}, {"result", c.result}, {"expected", c.expected},
               {"tolerance", c.tolerance}, {"share_of_tolerance", c.largestShare}, {"nans_in_both", c.nans}, {"limited", c.limited}};
  if (!c.wrong.empty())
    json["wrong"] = c.wrong;
  return json;
}

std::string toText(const Comparison &c) {
  std::string text = fmt::format("{:<9} {}: ", c.tensor, c.isRight ? "right" : "WRONG");
  if (!c.wrong.empty())
    text += fmt::format("{}\n          ", c.wrong);
  if (!c.wrong.empty() && c.worst.empty())
    return text + "no element is finite in both\n";
  text += fmt::format("{}max error {:.3g}, RMS {:.3g}", c.wrong.empty() ? "" : "where both are finite: ", c.maxError, c.rmsError);
  if (!c.worst.empty())
    text += fmt::format("; worst at [{}]: {:.6g}, expected {:.6g}, {:.2g} of the tolerance {:.2g}", fmt::join(c.worst, ", "), c.result, c.expected, c.largestShare, c.tolerance);
  if (c.nans)
    text += fmt::format("; {} NaN in both", c.nans);
  if (c.limited)
    text += fmt::format("; {} held to 5% of the largest |V|, though rounding of scores that large may explain more", c.limited);
  return text + "\n";
}

bool Report::isClean() const {
  return differing == 0 && std::all_of(settings.begin(), settings.end(), [](const SimulatedSetting &setting) { return setting.isClean(); });
}

Json toJson(const Problem &problem, const Report &report, const Verdict &verdict, const RunOptions &options) {
  const Shape &s = problem.shape;
  Json json = {{"variant", problem.variant}, {"dtype", name(problem.type)}, {"on", options.on}, {"shape", {{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}}}};
  if (report.threads)
    json["threads"] = report.threads;
  json["seconds"] = report.seconds;
  if (!report.target.empty()) {
    json["target"] = report.target;
    json["schedule"] = print(report.schedule);
    json["build"] = {{"kernel", report.origin}, {"seconds", report.buildSeconds}, {"kernels_per_launch", kernelsPerLaunch}};
  }
  if (!report.gpu.empty()) {
    json["gpu"] = report.gpu;
    json["launches_timed_together"] = report.launchesTimedTogether;
    json["differing"] = report.differing;
  }
  if (!report.settings.empty()) {
    json["items"] = report.items;
    json["blocks"] = report.blocks;
    for (const SimulatedSetting &setting : report.settings)
      json["settings"].push_back(toJson(setting));
  } else if (!report.target.empty()) {
    json["kept_pairs"] = report.keptPairs ? Json(*report.keptPairs) : Json();
    json["gflops"] = report.keptPairs ? Json(gflops(problem, report)) : Json();
  }
  for (auto [b, h] : verdict.heads)
    json["checked_heads"].push_back({b, h});
  for (const Comparison &c : verdict.comparisons)
    json["check"][c.tensor] = toJson(c);
  return json;
}

std::string toText(const Problem &problem, const Report &report, const Verdict &verdict, const RunOptions &options) {
  const Shape &s = problem.shape;
  std::string text = fmt::format("{} {} on {}: B {}, H {}, Hkv {}, Sq {}, Skv {}, D {}, Dv {}\n", problem.variant, name(problem.type), options.on, s.b, s.h, s.hkv, s.sq, s.skv, s.d, s.dv);
  if (!report.target.empty())
    text += fmt::format("kernel    {}{} in {:.1f} ms; {} a launch; {}\n", report.origin, report.target == "host" ? "" : " for " + report.target, report.buildSeconds * 1e3, kernelsPerLaunch, print(report.schedule));
  text += timeLine(problem, report, options);
  for (const SimulatedSetting &setting : report.settings)
    text += toText(setting);
  if (report.differing)
    text += fmt::format("WRONG     {} elements of O and lse differ between launches on the same inputs\n", report.differing);
  text += sampleLine(verdict);
  for (const Comparison &c : verdict.comparisons)
    text += toText(c);
  return text;
}

} // namespace tw::cli
