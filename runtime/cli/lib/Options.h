// Values of options that more than one command takes.
#pragma once
#include "tilewright/dsl/Type.h"
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// f16, bf16, f32 or f64; throws std::invalid_argument otherwise.
[[nodiscard]] Type parseFloatType(const std::string &text);

/// `1,2,3`; throws std::invalid_argument naming the option, the item that is wrong, and `form`.
[[nodiscard]] std::vector<std::int64_t> parseNumbers(std::string_view option, std::string_view text, std::string_view form);

/// `--head-dim D[,Dv]`.
struct HeadDims {
  std::int64_t d = 0, dv = 0;
};
[[nodiscard]] HeadDims parseHeadDims(const std::string &text);

/// `--shape B,H,Hkv,Sq,Skv,D[,Dv]`.
struct Shape {
  std::int64_t b = 0, h = 0, hkv = 0, sq = 0, skv = 0, d = 0, dv = 0;
};
[[nodiscard]] Shape parseShape(const std::string &text, std::string_view option = "--shape");

/// `name=value`; throws std::invalid_argument where there is no name.
[[nodiscard]] std::pair<std::string, std::string> parsePair(std::string_view option, const std::string &text, std::string_view form);

/// `--shared-limit SIZE`; none where the text is empty.
[[nodiscard]] std::optional<std::int64_t> parseSharedLimit(const std::string &text);

/// Holds `text` to one of `known`; throws std::invalid_argument with the nearest otherwise.
void checkChoice(std::string_view option, const std::string &text, const std::vector<std::string> &known);

/// Without the blanks around it.
[[nodiscard]] std::string trimmed(const std::string &text);

/// Options that are the same wherever they stand. `--dtype` and `--target` are of the tensors and the processor.
void addVariant(CLI::App &app, std::string &variant);
void addDtype(CLI::App &app, std::string &dtype);
void addSchedule(CLI::App &app, std::string &schedule);
void addSharedLimit(CLI::App &app, std::string &limit);
inline constexpr const char *shapeForm = "B,H,Hkv,Sq,Skv,D[,Dv]";

/// `--cxx COMMAND`: the C++ compiler of variants in files, and of the simulator, in place of CXX.
void addCompiler(CLI::App &app);

/// Makes every option and argument of the command refuse an empty value.
void refuseEmpty(CLI::App &app);

} // namespace tw::cli
