#include "Explanation.h"
#include "tilewright/dsl/Roles.h"
#include "tilewright/pipeline/Compile.h"
#include "tilewright/schedule/DefaultSchedule.h"
#include "tilewright/schedule/SecondSchedule.h"
#include "tilewright/schedule/SharedLimit.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace tw::cli {
namespace {

struct Term {
  const char *name;
  double Estimate::*seconds;
};
constexpr std::array<Term, 7> terms{{{"memory", &Estimate::memorySeconds}, {"L2", &Estimate::l2Seconds}, {"tensor", &Estimate::tensorSeconds}, {"exponentials", &Estimate::exponentialSeconds},
                                     {"arithmetic", &Estimate::arithmeticSeconds}, {"shared memory", &Estimate::sharedSeconds}, {"latency", &Estimate::latencySeconds}}};

std::string bytesOf(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes * 1e-9) : bytes >= 1e6 ? fmt::format("{:.1f} MB", bytes * 1e-6) : fmt::format("{:.1f} kB", bytes * 1e-3);
}
const char *yesNo(bool flag) { return flag ? "yes" : "no"; }

/// The fields in which two schedules differ, as the second has them.
std::string difference(const Schedule &from, const Schedule &to) {
  std::string text;
  auto add = [&](const std::string &name, const std::string &value) { text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value); };
  for (const auto &[axis, width] : to.widths)
    if (auto found = from.widths.find(axis); found == from.widths.end() || found->second != width)
      add(axis, std::to_string(width));
  for (auto [name, field] : {std::pair{"warpgroups", &Schedule::warpgroups}, {"stages", &Schedule::stages}, {"blockBuffers", &Schedule::blockBuffers}, {"blocksPerSM", &Schedule::blocksPerSM}, {"exchangeBuffers", &Schedule::exchangeBuffers}, {"outboxBuffers", &Schedule::outboxBuffers}})
    if (from.*field != to.*field)
      add(name, std::to_string(to.*field));
  for (auto [name, field] : {std::pair{"overlap", &Schedule::overlap}, {"turns", &Schedule::turns}, {"drawn", &Schedule::drawn}, {"stabilised", &Schedule::stabilised}, {"producer", &Schedule::producer}, {"delayed", &Schedule::delayed}, {"ahead", &Schedule::ahead}})
    if (from.*field != to.*field)
      add(name, yesNo(to.*field));
  return text;
}

/// Which terms the two differ in most: where the slower one is longer.
std::string reason(const Estimate &faster, const Estimate &slower, char sign) {
  std::vector<std::pair<double, std::string>> more;
  for (const Term &term : terms)
    more.emplace_back(slower.*term.seconds - faster.*term.seconds, term.name);
  more.emplace_back((1 / slower.balance - 1 / faster.balance) * slower.seconds * slower.balance, "waiting for the last items");
  std::sort(more.rbegin(), more.rend());
  std::string text;
  int shown = 0;
  for (const auto &[seconds, name] : more)
    if (seconds > 0.002 * faster.seconds && shown++ < 2)
      text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", name, sign, timeOf(seconds));
  return text.empty() ? "no term differs by much" : text;
}

/// What was measured of the schedule, and the fastest where that is another one.
std::string measuredText(const Explanation &x) {
  const Measurement &measured = *x.measured;
  const auto timed = std::count_if(measured.standings.begin(), measured.standings.end(), [](const tuning::Standing &standing) { return standing.rounds > 0; });
  const tuning::Standing *own = measured.of(x.schedule);
  std::string text = own ? fmt::format("{}, {:.2f} of what is predicted", timeOf(own->seconds), own->seconds / x.estimate.seconds) : "not this schedule";
  text += fmt::format("; {}", measured.where);
  if (timed && measured.standings.front().schedule == x.schedule)
    return text + fmt::format("; the fastest of {}", timed);
  if (timed)
    text += fmt::format("; the fastest of {}: {}: {}", timed, difference(x.schedule, measured.standings.front().schedule), timeOf(measured.standings.front().seconds));
  return text;
}

bool hasOtherTiles(const Schedule &a, const Schedule &b) { return a.widths != b.widths || a.stages != b.stages || a.warpgroups != b.warpgroups || a.blocksPerSM != b.blocksPerSM || a.producer != b.producer; }

Json estimateJson(const Estimate &e) {
  Json seconds;
  for (const Term &term : terms)
    seconds[term.name] = e.*term.seconds;
  return {{"seconds", e.seconds}, {"bound", name(e.bound)}, {"terms", seconds}, {"dram_bytes", e.dramBytes}, {"compulsory_bytes", e.compulsoryBytes}, {"l2_bytes", e.l2Bytes}, {"flop", e.flop},
          {"exponentials", e.exponentials}, {"items", e.items}, {"slots", e.slots}, {"waves", e.waves}, {"balance", e.balance}, {"visited", e.visited}, {"partial", e.partial}, {"shared_bytes", e.sharedBytes},
          {"registers", e.registersPerThread}, {"registers_available", e.registersAvailable}, {"spilled_bytes", e.spilledBytes}, {"occupancy", e.occupancy}, {"intensity", e.intensity}, {"ridge", e.ridge},
          {"flop_per_second", e.flopPerSecond}, {"roofline_flop_per_second", e.rooflineFlopPerSecond}};
}

std::string ordinal(std::size_t n) {
  const char *ending = n % 100 / 10 == 1 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  return fmt::format("{}{}", n, ending);
}

} // namespace

Explanation explain(const Program &program, const Target &target, const LaunchShape &shape, const std::optional<Schedule> &given, const std::optional<std::int64_t> &sharedLimit) {
  Explanation x;
  x.program = program.name;
  x.lengths = axisLengths(program, shape);
  const auto inner = innerExtents(program, shape);
  const Schedule unchanged = defaultSchedule(program, target, inner);
  if (given)
    checkSchedule(program, *given, target, inner);
  x.schedule = given ? *given : unchanged;
  x.isDefault = x.schedule == unchanged;
  x.measured = measurementOf(program, {.target = target.name, .extents = inner, .shapes = shape.tensors, .sharedLimit = sharedLimit}, unchanged);
  const Roles roles = rolesOf(program, x.schedule.block);
  x.block = roles.block().name();
  x.fold = roles.fold->axis.name();
  x.estimate = estimate(program, x.schedule, target, shape);
  if (const auto most = target.sharedBytesOfBlock(x.schedule.blocksPerSM); given && x.estimate.sharedBytes > most)
    throw std::invalid_argument(fmt::format("the schedule's tiles need {} bytes of shared memory, a block has {}; make them smaller or its stages fewer. The schedule: {}", x.estimate.sharedBytes, most, print(x.schedule)));
  if (auto second = given ? std::nullopt : secondSchedule(program, target, inner, x.schedule)) {
    x.second = RankedSchedule{*second, estimate(program, *second, target, shape)};
    x.takesSecond = prefersSecond(program, target, x.schedule, *second, shape);
  }
  x.ranked = rank(program, target, shape);
  for (std::size_t i = 0; i < x.ranked.size(); ++i) {
    const Schedule &schedule = x.ranked[i].schedule;
    if (schedule == x.schedule)
      x.place = i + 1;
    // One for each choice of tiles: the best of its orders.
    const bool isNew = hasOtherTiles(schedule, x.schedule) && std::all_of(x.next.begin(), x.next.end(), [&](const RankedSchedule &other) { return hasOtherTiles(schedule, other.schedule); });
    if (isNew && x.next.size() < 3)
      x.next.push_back(x.ranked[i]);
  }
  return x;
}

std::string explanationText(const Explanation &x, const Target &target) {
  const Estimate &e = x.estimate;
  std::string text;
  auto line = [&](const char *what, const std::string &value) { text += fmt::format("{:<10}{}\n", what, value); };
  line("schedule", fmt::format("{}; {}{}", print(x.schedule), x.isDefault ? "the default one" : "as given", x.place ? fmt::format(", {} of {} by prediction", ordinal(x.place), x.ranked.size()) : ""));
  line("tile", fmt::format("{} of {} × {} of {}, {} {}, {} block buffer{}", x.schedule.widths.at(x.block), x.block, x.schedule.widths.at(x.fold), x.fold, x.schedule.stages, x.schedule.stages == 1 ? "stage" : "stages",
                           x.schedule.blockBuffers, x.schedule.blockBuffers == 1 ? "" : "s"));
  line("takes", fmt::format("{:.1f} of {:.1f} KiB of shared memory, {} of {} registers a thread{}; {} block{} a multiprocessor, occupancy {:.1f}%", double(e.sharedBytes) / 1024,
                            target.sharedBytesOfBlock(x.schedule.blocksPerSM) / 1024.0, e.registersPerThread, e.registersAvailable, e.spilledBytes ? fmt::format(" ({} bytes spilled)", e.spilledBytes) : "",
                            x.schedule.blocksPerSM, x.schedule.blocksPerSM == 1 ? "" : "s", 100 * e.occupancy));
  if (e.items == 0) {
    line("items", "none: a length is 0, nothing runs");
    return text;
  }
  line("items", fmt::format("{} in {} slots, {:.2f} waves, {:.1f}% of the slots' time used; {:.1f}% of the tiles visited, {:.1f}% of these under a mask or an end", e.items, e.slots, e.waves, 100 * e.balance,
                            100 * e.visited, 100 * e.partial));
  line("memory", fmt::format("{} moved, {:.2f} of the compulsory {}; {} asked of the level-2 cache", bytesOf(e.dramBytes), e.dramBytes / e.compulsoryBytes, bytesOf(e.compulsoryBytes), bytesOf(e.l2Bytes)));
  line("roofline", e.flop == 0 ? "no dots: memory is all there is" : fmt::format("{:.0f} FLOP a byte, {} the ridge at {:.0f}; {:.0f} TFLOP/s predicted of {:.0f}", e.intensity, e.intensity < e.ridge ? "left of" : "right of", e.ridge, e.flopPerSecond * 1e-12,
                               e.rooflineFlopPerSecond * 1e-12));
  line("time", fmt::format("{} predicted, bound by {}", timeOf(e.seconds), name(e.bound)));
  if (x.measured)
    line("measured", measuredText(x));
  std::string parts;
  for (const Term &term : terms)
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", term.name, timeOf(e.*term.seconds));
  line("terms", parts);
  if (x.second)
    line("second", fmt::format("{}: {} predicted; this launch takes {}", difference(x.schedule, x.second->schedule), timeOf(x.second->estimate.seconds), x.takesSecond ? "this kernel" : "the first kernel"));
  for (std::size_t i = 0; i < x.next.size(); ++i) {
    const RankedSchedule &other = x.next[i];
    const double ratio = other.estimate.seconds / e.seconds;
    const tuning::Standing *timed = x.measured ? x.measured->of(other.schedule) : nullptr;
    line(i == 0 ? "next" : "", fmt::format("{}: {} predicted, {:+.1f}%; {}{}", difference(x.schedule, other.schedule), timeOf(other.estimate.seconds), 100 * (ratio - 1),
                                          ratio >= 1 ? reason(e, other.estimate, '+') : reason(other.estimate, e, '-'), timed ? fmt::format("; measured {}", timeOf(timed->seconds)) : ""));
  }
  return text;
}

Json explanationJson(const Explanation &x, bool all) {
  auto ranked = [](const std::vector<RankedSchedule> &list) {
    Json json = Json::array();
    for (const RankedSchedule &each : list)
      json.push_back({{"schedule", print(each.schedule)}, {"estimate", estimateJson(each.estimate)}});
    return json;
  };
  Json next = ranked(x.next);
  for (std::size_t i = 0; i < x.next.size(); ++i)
    next[i]["why"] = x.next[i].estimate.seconds >= x.estimate.seconds ? reason(x.estimate, x.next[i].estimate, '+') : reason(x.next[i].estimate, x.estimate, '-');
  Json json{{"program", x.program}, {"lengths", x.lengths}, {"schedule", print(x.schedule)}, {"is_default", x.isDefault}, {"place", x.place}, {"search_space", x.ranked.size()}, {"estimate", estimateJson(x.estimate)},
            {"next", next}};
  if (x.second)
    json["second"] = {{"schedule", print(x.second->schedule)}, {"estimate", estimateJson(x.second->estimate)}, {"taken", x.takesSecond}};
  if (x.measured)
    json["measured"] = measurementJson(*x.measured);
  if (all)
    json["all"] = ranked(x.ranked);
  return json;
}

std::vector<SramPoint> sweepSram(const Program &program, const Target &target, const LaunchShape &shape) {
  std::vector<SramPoint> points;
  const Roles roles = rolesOf(program);
  for (std::int64_t size : {16, 32, 48, 64, 99, 128, 163, 192, 227}) {
    SramPoint point{roles.block().name(), roles.fold->axis.name(), leastTraffic(program, shape, size * 1024), {}, {}, {}};
    if (size * 1024 <= target.sharedBytesPerBlock)
      try {
        const Target limited = withSharedLimit(target, size * 1024);
        point.schedule = defaultSchedule(program, limited, innerExtents(program, shape));
        point.estimate = estimate(program, *point.schedule, limited, shape);
      } catch (const std::invalid_argument &error) {
        point.refusal = error.what();
      }
    points.push_back(std::move(point));
  }
  return points;
}

std::string sweepText(const std::vector<SramPoint> &points) {
  std::string text = fmt::format("All that an item holds in so much memory, without a cache behind it | the default schedule within so much shared memory\n"
                                 "{:>8}  {:<12}{:>10}{:>20}  | {:<12}{:>10}{:>12}{:>12}\n",
                                 "KiB", "tile", "moved", "beyond compulsory", "tile", "L2", "memory", "predicted");
  for (const SramPoint &p : points) {
    const bool fits = p.io.blockWidth > 0;
    text += fmt::format("{:>8}  {:<12}{:>10}{:>20}  | ", p.io.sramBytes / 1024, fits ? fmt::format("{} x {}", p.io.blockWidth, p.io.foldWidth) : "none fits", fits ? bytesOf(p.io.bytes) : "",
                        fits ? bytesOf(p.io.bytes - p.io.compulsory) : "");
    if (p.schedule)
      text += fmt::format("{:<12}{:>10}{:>12}{:>12}\n", fmt::format("{} x {}", p.schedule->widths.at(p.block), p.schedule->widths.at(p.fold)), bytesOf(p.estimate->l2Bytes), bytesOf(p.estimate->dramBytes),
                          timeOf(p.estimate->seconds));
    else
      text += p.refusal.empty() ? "more than a block may have\n" : "none fits\n";
  }
  return text;
}

Json sweepJson(const std::vector<SramPoint> &points) {
  Json list = Json::array();
  for (const SramPoint &p : points) {
    Json json{{"sram_bytes", p.io.sramBytes}, {"least", {{"block", p.io.blockWidth}, {"fold", p.io.foldWidth}, {"bytes", p.io.bytes}, {"compulsory_bytes", p.io.compulsory}}}};
    if (p.schedule) {
      json["schedule"] = print(*p.schedule);
      json["estimate"] = estimateJson(*p.estimate);
    } else if (!p.refusal.empty()) {
      json["refusal"] = p.refusal;
    }
    list.push_back(std::move(json));
  }
  return list;
}

} // namespace tw::cli
