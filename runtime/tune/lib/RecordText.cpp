// A line is a word and the rest; what may hold an end of line is written with it escaped.
#include "tilewright/tune/RecordText.h"
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace tw::tuning {
namespace {

constexpr std::string_view title = "tilewright tuning 1";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text)
    out += c == '\\' ? "\\\\" : c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\\' || i + 1 == text.size())
      out += text[i];
    else
      out += text[++i] == 'n' ? '\n' : text[i];
  return out;
}

void line(std::string &text, std::string_view word, std::string_view rest) {
  if (!rest.empty())
    text += fmt::format("{} {}\n", word, escaped(rest));
}

std::vector<double> numbers(std::string_view text) {
  std::vector<double> all;
  const char *at = text.data(), *const end = text.data() + text.size();
  while (at != end) {
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc() || !(number > 0))
      throw std::invalid_argument("no time");
    all.push_back(number);
    at = stop == end ? end : stop + 1;
  }
  return all;
}

/// Puts one line into the record. Throws std::invalid_argument where it has no place there.
void take(TuningRecord &record, std::string_view word, const std::string &rest) {
  const auto run = [&]() -> TuningRun & { return record.runs.empty() ? throw std::invalid_argument("no run") : record.runs.back(); };
  const auto timing = [&]() -> ScheduleTiming & { return run().tried.empty() ? throw std::invalid_argument("no schedule") : run().tried.back(); };
  if (word == "program")
    record.program = rest;
  else if (word == "target")
    record.target = rest;
  else if (word == "class")
    record.shapeClass = rest;
  else if (word == "run")
    record.runs.emplace_back();
  else if (word == "processor")
    run().processor = rest;
  else if (word == "driver")
    run().driver = rest;
  else if (word == "assembler")
    run().assembler = rest;
  else if (word == "version")
    run().version = rest;
  else if (word == "shapes")
    run().shapes = rest;
  else if (word == "schedule")
    run().tried.push_back({parseSchedule(rest)});
  else if (word == "predicted")
    timing().predictedSeconds = numbers(rest).at(0);
  else if (word == "seconds")
    timing().seconds = numbers(rest);
  else if (word == "refused")
    timing().refused = rest;
  else if (word == "stopped")
    timing().stopped = true;
  else
    throw std::invalid_argument("an unknown word");
}

} // namespace

std::string print(const TuningRecord &record) {
  std::string text = fmt::format("{}\n", title);
  line(text, "program", record.program);
  line(text, "target", record.target);
  line(text, "class", record.shapeClass);
  for (const TuningRun &run : record.runs) {
    text += "run\n";
    line(text, "processor", run.processor);
    line(text, "driver", run.driver);
    line(text, "assembler", run.assembler);
    line(text, "version", run.version);
    line(text, "shapes", run.shapes);
    for (const ScheduleTiming &timing : run.tried) {
      line(text, "schedule", print(timing.schedule));
      if (timing.predictedSeconds > 0)
        line(text, "predicted", fmt::format("{:.4g}", timing.predictedSeconds));
      std::string seconds;
      for (double each : timing.seconds)
        seconds += fmt::format("{}{:.5g}", seconds.empty() ? "" : " ", each);
      line(text, "seconds", seconds);
      line(text, "refused", timing.refused);
      line(text, "stopped", timing.stopped ? "the processor" : "");
    }
  }
  return text;
}

std::optional<TuningRecord> parseRecord(std::string_view text) {
  TuningRecord record;
  bool isFirst = true;
  try {
    while (!text.empty()) {
      const std::string_view whole = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), whole.size() + 1));
      if (isFirst != (whole == title))
        return std::nullopt;
      const std::size_t space = std::min(whole.find(' '), whole.size());
      if (!std::exchange(isFirst, false))
        take(record, whole.substr(0, space), unescaped(whole.substr(std::min(whole.size(), space + 1))));
    }
  } catch (const std::exception &) {   // a schedule with a field that is unknown here, too
    return std::nullopt;
  }
  return isFirst ? std::nullopt : std::optional(record);
}

TuningRecord withRun(TuningRecord record, TuningRun run) {
  record.runs.push_back(std::move(run));
  if (record.runs.size() > mostRuns)
    record.runs.erase(record.runs.begin(), record.runs.end() - mostRuns);
  return record;
}

} // namespace tw::tuning
