// What a person should know and no program need.
#pragma once
#include <string_view>

namespace tw {

/// One line on stderr, after "tilewright: ".
void say(std::string_view sentence);

} // namespace tw
