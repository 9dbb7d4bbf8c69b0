#include "VariantLaunch.h"
#include "Problem.h"
#include "Variant.h"
#include "tilewright/kernel/BetweenKernels.h"
#include "tilewright/kernel/Tune.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>

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
  for (const Capture &capture : factsFor(variant, type).captures) {
    std::vector<std::int64_t> lengths;
    for (const std::string &text : capture.shape)
      if (auto length = lengthOf(text, shape))
        lengths.push_back(*length);
    if (lengths.size() == capture.shape.size())
      launch.tensors[capture.name] = std::move(lengths);
  }
  return launch;
}

GradientOptions gradientsByO() { return {.outputs = {"O"}, .inputs = {}}; }

void checkMultiplied(const Program &program, const Target &target) {
  if (target.isHost())
    return;
  std::set<const Node *> seen;
  const std::function<void(const Tile &)> visit = [&](const Tile &tile) {
    const Node &node = tile.node();
    if (!seen.insert(&node).second)
      return;
    for (auto operand = node.operands.rbegin(); operand != node.operands.rend(); ++operand) {   // what runs along the fold stands behind
      visit(*operand);
      const Node &read = operand->node();
      if (node.op == Op::dot && read.op == Op::load && read.type != Type::f16 && read.type != Type::bf16)
        throw std::invalid_argument(fmt::format("tensor \"{}\" holds '{}'; GPUs multiply tiles of f16 and bf16: convert it to one of them, or run on the CPU (target host)", read.tensor->name, name(read.type)));
    }
    if (node.fold)
      for (const auto *tiles : {&node.fold->starts, &node.fold->yields})
        for (const Tile &each : *tiles)
          visit(each);
  };
  for (const Store &store : program.stores)
    visit(store.value);
}

VariantProgram forwardProgram(const std::string &variant, Type type, const Shape &shape, bool lse) {
  return {programOf(variant, {.type = type, .lse = lse}), launchShape(variant, type, shape)};
}

std::vector<VariantProgram> backwardPrograms(const std::string &variant, Type type, const Shape &shape, bool lse, const std::string &target, std::optional<std::int64_t> sharedLimit) {
  const VariantProgram whole = forwardProgram(variant, type, shape, lse);
  BuildOptions build;
  build.target = target;
  build.extents = {{"d", shape.d}, {"e", shape.dv}};
  build.sharedLimit = sharedLimit;
  build.shapes = whole.shape.tensors;
  const Gradient made = gradientFor(whole.program, build, gradientsByO());
  const LaunchShape all = backwardShape(made, whole.shape);
  std::vector<VariantProgram> programs{{made.forward, all}};
  for (const Program &each : made.backward)
    programs.push_back({each, all});
  return programs;
}

} // namespace tw::cli
