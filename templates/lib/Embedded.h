// The texts that Embed.cmake writes into a C++ file.
#pragma once
#include "tilewright/templates/Templates.h"

namespace tw {

struct EmbeddedText {
  std::string_view file, text;
};

[[nodiscard]] const std::vector<EmbeddedText> &embeddedTexts();

}   // namespace tw
