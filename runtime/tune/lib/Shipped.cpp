// The tables that come with the program.
#include "ShippedText.h"
#include "tilewright/dsl/Gallery.h"
#include "tilewright/tune/Records.h"
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>

namespace tw::tuning {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == text.npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

double secondsOf(std::string_view text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || !(number > 0))
    throw std::invalid_argument(fmt::format("'{}' is no time in seconds", text));
  return number;
}

ShippedSchedule shippedOf(std::string_view line) {
  std::array<std::string, 7> columns;
  std::size_t count = 0;
  for (std::string_view rest = line;; ++count) {
    const std::size_t bar = rest.find('|');
    if (count < columns.size())
      columns[count] = trimmed(rest.substr(0, bar));
    if (bar == rest.npos)
      break;
    rest.remove_prefix(bar + 1);
  }
  if (++count != columns.size())
    throw std::invalid_argument(
        fmt::format("{} columns, expected {}: target | variant | type | class | schedule | seconds | seconds of the default schedule", count, columns.size()));
  const auto &[target, variant, dtype, shapeClass, schedule, seconds, unchanged] = columns;
  return {target, variant, dtype, shapeClass, parseSchedule(schedule), secondsOf(seconds), secondsOf(unchanged)};
}

} // namespace

std::string print(const ShippedSchedule &shipped) {
  return fmt::format("{} | {} | {} | {} | {} | {:.4g} | {:.4g}\n", shipped.target, shipped.variant, shipped.dtype, shipped.shapeClass, tw::print(shipped.schedule), shipped.seconds,
                     shipped.unchangedSeconds);
}

std::vector<ShippedSchedule> parseShipped(std::string_view text) {
  std::vector<ShippedSchedule> all;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (trimmed(line).empty() || trimmed(line).front() == '#')
      continue;
    try {
      all.push_back(shippedOf(line));
    } catch (const std::exception &error) {
      throw std::invalid_argument(fmt::format("line {} of a table of schedules: {}", number, error.what()));
    }
  }
  return all;
}

const std::vector<ShippedSchedule> &shippedSchedules() {
  static const auto *all = new std::vector<ShippedSchedule>(parseShipped({reinterpret_cast<const char *>(shippedBytes), shippedSize}));
  return *all;
}

const ShippedSchedule *findShipped(std::string_view target, std::string_view program, std::string_view shapeClass) {
  for (const ShippedSchedule &shipped : shippedSchedules())
    if (shipped.target == target && shipped.shapeClass == shapeClass)
      if (const auto type = typeNamed(shipped.dtype); type && tw::print(makeVariant(shipped.variant, {.type = *type})) == program)
        return &shipped;
  return nullptr;
}

} // namespace tw::tuning
