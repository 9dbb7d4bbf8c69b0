// What somebody may have meant.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tw {

/// The known name that takes the fewest edits (a letter put in, left out, changed, or two swapped; capitals do not count);
/// empty where none is near.
[[nodiscard]] std::string nearest(std::string_view name, const std::vector<std::string> &known);

/// `; did you mean 'causal'?`, or nothing.
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string> &known);

} // namespace tw
