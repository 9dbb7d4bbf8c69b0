#include "SimulatorCost.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/simulator/Simulator.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace tw::cli {
namespace {

// Measured on a processor of 2 GHz that others used too, with head dims from 8 to 256.
constexpr double secondsAPair = 0.3e-6, secondsAMultiplication = 2.7e-9, secondsAnItem = 10e-3;

constexpr double switchesAProduct = 2000;   // a kernel needs about 60

int widthOf(const Artifact &artifact, const char *axis) {
  for (const AxisFacts &facts : artifact.axes)
    if (facts.name == axis)
      return std::max(facts.width, 1);
  return 1;
}

/// How many tiles of an axis there are: one, where the kernel has no such axis.
double tilesAlong(const Artifact &artifact, const char *axis, std::int64_t length) {
  const bool has = std::any_of(artifact.axes.begin(), artifact.axes.end(), [&](const AxisFacts &facts) { return facts.name == axis; });
  return has ? std::ceil(double(length) / widthOf(artifact, axis)) : 1;
}

std::string duration(double seconds) { return seconds < 1 ? fmt::format("{:.1g} s", seconds) : seconds < 120 ? fmt::format("{:.0f} s", seconds) : seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.0f} h", seconds / 3600); }

} // namespace

SimulatorCost simulatorCost(const Artifact &artifact, const Shape &s) {
  const int q = widthOf(artifact, "q"), k = widthOf(artifact, "k"), d = widthOf(artifact, "d");
  const double items = double(s.b) * double(s.h) * tilesAlong(artifact, "q", s.sq), keyTiles = tilesAlong(artifact, "k", s.skv);
  // 16 rows are a warp's; a product takes 16 elements of what is summed over: d for scores, k for the output.
  const double products = items * keyTiles * (q / 16.0) * ((d + k) / 16.0);
  const double pairs = items * q * keyTiles * k;
  return {products, pairs * (secondsAPair + secondsAMultiplication * double(s.d + s.dv)) + items * secondsAnItem};
}

SimulatorCode codeFor(const SimulatorCost &cost, int settings) {
  constexpr double mostSecondsRun = 1;   // optimising takes half a second, and saves a third of it
  return cost.seconds * settings > mostSecondsRun ? SimulatorCode::optimised : SimulatorCode::quick;
}

std::uint64_t mostSwitches(const SimulatorCost &cost) { return static_cast<std::uint64_t>(cost.products * switchesAProduct); }

void checkPatience(std::span<const Artifact> kernels, const Shape &s, int settings, double patience) {
  auto secondsOf = [&](const Shape &shape) {
    double sum = 0;
    for (const Artifact &kernel : kernels)
      sum += simulatorCost(kernel, shape).seconds;
    return sum * settings;
  };
  const double seconds = secondsOf(s);
  if (seconds <= patience)
    return;
  int q = 1, k = 1;
  for (const Artifact &kernel : kernels) {
    q = std::max(q, widthOf(kernel, "q"));
    k = std::max(k, widthOf(kernel, "k"));
  }
  // Some tiles of queries, and more tiles of keys than a ring has stages.
  const Shape small{std::min<std::int64_t>(s.b, 1), std::min<std::int64_t>(s.hkv ? s.h / s.hkv : s.h, 2), std::min<std::int64_t>(s.hkv, 1), std::min<std::int64_t>(s.sq, 2L * q + 44),
              std::min<std::int64_t>(s.skv, 5L * k + 24), s.d, s.dv};
  const double shorter = secondsOf(small);
  std::string cure = fmt::format("allow it by --patience {:.0f}", std::ceil(seconds));
  if (shorter <= patience)
    cure = fmt::format("a small one meets the same code: --shape {},{},{},{},{},{},{} takes up to {}; or {}", small.b, small.h, small.hkv, small.sq, small.skv, small.d, small.dv, duration(shorter), cure);
  throw std::invalid_argument(fmt::format("this shape takes the simulator up to {} for {} settings, more than --patience {} s; {}", duration(seconds), settings, patience, cure));
}

} // namespace tw::cli
