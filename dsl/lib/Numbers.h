// Numbers as text, exactly: the shortest spelling that reads back as the same double.
#pragma once
#include <string>

namespace tw::detail {

/// `1`, `0.1`, `-inf`, `nan`
[[nodiscard]] std::string shortest(double value);

} // namespace tw::detail
