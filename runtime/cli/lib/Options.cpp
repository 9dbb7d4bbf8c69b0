#include "Options.h"
#include "tilewright/kernel/Nearest.h"
#include "tilewright/schedule/SharedLimit.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>

namespace tw::cli {

Type parseFloatType(const std::string &text) {
  checkChoice("--dtype", text, {"f16", "bf16", "f32", "f64"});
  return *typeNamed(text);
}

std::vector<std::int64_t> parseNumbers(std::string_view option, std::string_view text, std::string_view form) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = trimmed(std::string(text.substr(at, end - at)));
    std::int64_t number = 0;
    auto [stop, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    if (error != std::errc() || stop != item.data() + item.size())
      throw std::invalid_argument(fmt::format("{} {}: '{}' is no whole number; expected {}", option, text, item, form));
    numbers.push_back(number);
    at = end + 1;
  }
  return numbers;
}

HeadDims parseHeadDims(const std::string &text) {
  const auto n = parseNumbers("--head-dim", text, "D or D,Dv");
  if (n.size() > 2)
    throw std::invalid_argument(fmt::format("--head-dim {}: {} numbers; expected D or D,Dv", text, n.size()));
  return {n[0], n.back()};
}

Shape parseShape(const std::string &text, std::string_view option) {
  constexpr std::string_view form = "B,H,Hkv,Sq,Skv,D or B,H,Hkv,Sq,Skv,D,Dv";
  const auto n = parseNumbers(option, text, form);
  if (n.size() != 6 && n.size() != 7)
    throw std::invalid_argument(fmt::format("{} {}: {} number{}; expected {}", option, text, n.size(), n.size() == 1 ? "" : "s", form));
  for (std::int64_t length : n)
    if (length < 0)
      throw std::invalid_argument(fmt::format("{} {}: {} is no length; lengths count from 0", option, text, length));
  return {n[0], n[1], n[2], n[3], n[4], n[5], n.back()};
}

std::pair<std::string, std::string> parsePair(std::string_view option, const std::string &text, std::string_view form) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == text.npos || equals + 1 == text.size())
    throw std::invalid_argument(fmt::format("{} {}: expected {}", option, text, form));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::optional<std::int64_t> parseSharedLimit(const std::string &text) {
  return text.empty() ? std::nullopt : std::optional(parseBytes("--shared-limit", trimmed(text)));
}

std::string trimmed(const std::string &text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

void addVariant(CLI::App &app, std::string &variant) {
  app.add_option("variant", variant, "a variant of the gallery, or several by +: causal+alibi, window(255,0)+softcap(30); or a C++ file with one of your own: my_variant.cpp")->required()->type_name("VARIANT");
}

void addDtype(CLI::App &app, std::string &dtype) {
  app.add_option("--dtype", dtype, "f16, bf16, f32 or f64: the type of Q, K, V and O; bf16 if left out. GPUs multiply f16 and bf16")->type_name("TYPE");
}

void addSchedule(CLI::App &app, std::string &schedule) {
  app.add_option("--schedule", schedule, "in place of the default one: 'block=q q=128 k=64 d=128 e=128'")->type_name("TEXT");
}

void addSharedLimit(CLI::App &app, std::string &limit) {
  app.add_option("--shared-limit", limit, "the most shared memory that a block of a GPU may take: 49152, 48KiB; what the target has if left out")->type_name("SIZE");
}

void addCompiler(CLI::App &app) {
  app.add_option_function<std::string>("--cxx", [](const std::string &command) { setenv("CXX", command.c_str(), 1); }, "the C++ compiler of variants in files, and of the simulator; CXX or c++ if left out")
      ->type_name("COMMAND");
}

void refuseEmpty(CLI::App &app) {
  for (CLI::Option *option : app.get_options([](const CLI::Option *o) { return o->get_expected_max() > 0; }))
    option->check([](const std::string &text) { return trimmed(text).empty() ? std::string("an empty value; leave the option out, or say what is meant") : std::string(); });
}

void checkChoice(std::string_view option, const std::string &text, const std::vector<std::string> &known) {
  if (std::find(known.begin(), known.end(), text) == known.end())
    throw std::invalid_argument(fmt::format("{} {}: unknown{}; expected one of {}", option, text, suggestion(text, known), fmt::join(known, ", ")));
}

} // namespace tw::cli
