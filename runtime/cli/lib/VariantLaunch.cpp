#include "VariantLaunch.h"
#include "Problem.h"
#include "tilewright/kernel/BetweenKernels.h"
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace tw::cli {
namespace {

/// A length as the gallery writes it: `Skv`, `Skv / 32` (rounded up), `129`.
std::optional<std::int64_t> lengthOf(const std::string &text, const Shape &s) {
  const std::map<std::string, std::int64_t> lengths{{"B", s.b}, {"H", s.h}, {"Hkv", s.hkv}, {"Sq", s.sq}, {"Skv", s.skv}, {"D", s.d}, {"Dv", s.dv}};
  auto number = [](const std::string &digits) -> std::optional<std::int64_t> {
    std::int64_t value = 0;
    auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && stop == digits.data() + digits.size() && value > 0 ? std::optional(value) : std::nullopt;
  };
  const std::size_t slash = text.find(" / ");
  const auto known = lengths.find(text.substr(0, slash));
  if (known == lengths.end())
    return number(text);
  if (slash == text.npos)
    return known->second;
  const auto divisor = number(text.substr(slash + 3));
  return divisor ? std::optional((known->second + *divisor - 1) / *divisor) : std::nullopt;
}

} // namespace

LaunchShape launchShape(const std::string &variant, Type type, const Shape &shape) {
  LaunchShape launch;
  for (const char *tensor : {"Q", "K", "V", "O", "lse"})
    launch.tensors[tensor] = shapeOf(shape, tensor);
  for (const Capture &capture : factsOf(variant, type).captures) {
    std::vector<std::int64_t> lengths;
    for (const std::string &text : capture.shape)
      if (auto length = lengthOf(text, shape))
        lengths.push_back(*length);
    if (lengths.size() == capture.shape.size())
      launch.tensors[capture.name] = std::move(lengths);
  }
  return launch;
}

VariantProgram forwardProgram(const std::string &variant, Type type, const Shape &shape, bool lse) {
  return {makeVariant(variant, {.type = type, .lse = lse}), launchShape(variant, type, shape)};
}

std::vector<VariantProgram> backwardPrograms(const std::string &variant, Type type, const Shape &shape, bool lse, const std::string &target, std::optional<std::int64_t> sharedLimit) {
  const VariantProgram whole = forwardProgram(variant, type, shape, lse);
  BuildOptions build;
  build.target = target;
  build.extents = {{"d", shape.d}, {"e", shape.dv}};
  build.sharedLimit = sharedLimit;
  const Gradient made = gradientFor(whole.program, build, {});
  const LaunchShape all = backwardShape(made, whole.shape);
  std::vector<VariantProgram> programs{{made.forward, all}};
  for (const Program &each : made.backward)
    programs.push_back({each, all});
  return programs;
}

} // namespace tw::cli
