#define FMT_HEADER_ONLY
#include <fmt/format.h>
#include "Phrase.h"

namespace tw::simulated {

std::string phraseOf(fmt::string_view pattern, fmt::format_args arguments) { return fmt::vformat(pattern, arguments); }

}   // namespace tw::simulated
