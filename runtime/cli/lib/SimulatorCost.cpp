#include "SimulatorCost.h"
#include "tilewright/artifact/Artifact.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace tw::cli {
namespace {

// Measured on a processor of 2 GHz that others used too, with head dims from 8 to 256.
constexpr double secondsAPair = 0.3e-6, secondsAMultiplication = 2.7e-9, secondsAnItem = 10e-3;

int widthOf(const Artifact &artifact, const char *axis) {
  for (const AxisFacts &facts : artifact.axes)
    if (facts.name == axis)
      return std::max(facts.width, 1);
  return 1;
}

double tiles(std::int64_t length, int width) { return std::ceil(double(length) / width); }

std::string duration(double seconds) { return seconds < 1 ? fmt::format("{:.1g} s", seconds) : seconds < 120 ? fmt::format("{:.0f} s", seconds) : seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} h", seconds / 3600); }

} // namespace

SimulatorCost simulatorCost(const Artifact &artifact, const Shape &s) {
  const int q = widthOf(artifact, "q"), k = widthOf(artifact, "k"), d = widthOf(artifact, "d");
  const double items = double(s.b) * double(s.h) * tiles(s.sq, q);
  // 16 rows are a warp's; a product takes 16 elements of what is summed over: d for scores, k for the output.
  const double products = items * tiles(s.skv, k) * (q / 16.0) * ((d + k) / 16.0);
  const double pairs = items * q * tiles(s.skv, k) * k;
  return {products, pairs * (secondsAPair + secondsAMultiplication * double(s.d + s.dv)) + items * secondsAnItem};
}

void checkPatience(const SimulatorCost &cost, const Artifact &artifact, const Shape &s, int settings, double patience) {
  const double seconds = cost.seconds * settings;
  if (seconds <= patience)
    return;
  // Some tiles of queries, and more tiles of keys than a ring has stages.
  const Shape small{std::min<std::int64_t>(s.b, 1), std::min<std::int64_t>(s.hkv ? s.h / s.hkv : s.h, 2), std::min<std::int64_t>(s.hkv, 1), std::min<std::int64_t>(s.sq, 2L * widthOf(artifact, "q") + 44),
              std::min<std::int64_t>(s.skv, 5L * widthOf(artifact, "k") + 24), s.d, s.dv};
  const double shorter = simulatorCost(artifact, small).seconds * settings;
  std::string cure = fmt::format("allow it by --patience {:.0f}", std::ceil(seconds));
  if (shorter <= patience)
    cure = fmt::format("a small one meets the same code: --shape {},{},{},{},{},{},{} takes up to {}; or {}", small.b, small.h, small.hkv, small.sq, small.skv, small.d, small.dv, duration(shorter), cure);
  throw std::invalid_argument(fmt::format("this shape takes the simulator up to {} for {} settings, more than --patience {} s; {}", duration(seconds), settings, patience, cure));
}

} // namespace tw::cli
