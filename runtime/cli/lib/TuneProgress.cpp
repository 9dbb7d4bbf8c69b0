#include "TuneProgress.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace tw::cli {
namespace {

const char *word(TuningStage stage) {
  switch (stage) {
  case TuningStage::compiling:
    return "compiling";
  case TuningStage::checking:
    return "checking";
  case TuningStage::timing:
    return "timing";
  case TuningStage::done:
    return "done";
  }
  return "";
}

std::string bar(std::size_t done, std::size_t of) {
  constexpr std::size_t width = 20;
  const std::size_t filled = of ? std::min(width, done * width / of) : width;
  return std::string(filled, '#') + std::string(width - filled, '.');
}

} // namespace

std::string timeText(double seconds) {
  if (seconds < 1e-3)
    return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1)
    return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string lineOf(const TuningProgress &progress) {
  std::string text = progress.stage == TuningStage::done
                         ? fmt::format("done in {:.1f} s", progress.seconds)
                         : fmt::format("{:<9} {} of {} [{}] {}:{:02} left", progress.stage == TuningStage::timing ? "round" : word(progress.stage),
                                       progress.done, progress.of, bar(progress.done, progress.of), int(std::ceil(progress.secondsLeft)) / 60,
                                       int(std::ceil(progress.secondsLeft)) % 60);
  if (progress.bestSeconds > 0)
    text += fmt::format(", best {} ({:.3f} of the default)", timeText(progress.bestSeconds), progress.bestRatio);
  if (progress.refused)
    text += fmt::format(", {} refused", progress.refused);
  return text;
}

TuneProgress::TuneProgress() : isTerminal(::isatty(STDERR_FILENO)) {}

TuneProgress::~TuneProgress() {
  for (; isTerminal && drawn > 0; --drawn)
    std::fputs("\033[A\033[2K", stderr);
}

void TuneProgress::show(const std::string &name, const TuningProgress &progress) {
  const std::lock_guard lock(mutex);
  auto line = std::find_if(lines.begin(), lines.end(), [&](const Line &known) { return known.name == name; });
  const bool isNew = line == lines.end();
  if (isNew)
    line = lines.insert(lines.end(), {name});
  const bool isOtherStage = isNew || line->stage != progress.stage;
  line->stage = progress.stage;
  line->text = lineOf(progress);
  if (!isTerminal) {
    if (isOtherStage)
      std::fputs(fmt::format("{}: {}\n", name, line->text).c_str(), stderr);
    return;
  }
  std::string screen = drawn ? fmt::format("\033[{}A", drawn) : "";
  for (const Line &each : lines)
    screen += fmt::format("\r\033[2K{}: {}\n", each.name, each.text);
  drawn = lines.size();
  std::fputs(screen.c_str(), stderr);
}

} // namespace tw::cli
