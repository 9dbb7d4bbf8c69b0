// Formatted text. fmt is instantiated in one file: header-only, it takes longer to compile than all that use it.
#pragma once
#include <fmt/core.h>
#include <string>

namespace tw::simulated {

[[nodiscard]] std::string phraseOf(fmt::string_view pattern, fmt::format_args arguments);

/// fmt::format.
template <class... Arguments> [[nodiscard]] std::string phrase(fmt::format_string<Arguments...> pattern, Arguments &&...arguments) {
  return phraseOf(pattern, fmt::make_format_args(arguments...));
}

}   // namespace tw::simulated
