#include "Numbers.h"
#include <charconv>
#include <cmath>

namespace tw::detail {

std::string shortest(double value) {
  if (std::isnan(value))
    return "nan";
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

} // namespace tw::detail
