// What may be the name of an axis, a tensor or a scalar.
#pragma once
#include "tilewright/dsl/Diagnostic.h"
#include <string>
#include <string_view>
#include <vector>

namespace tw::detail {

/// A letter or `_`, then letters, digits and `_`.
[[nodiscard]] bool isIdentifier(std::string_view text);
/// Refuses, at `where`, a name that text form and generated code could not hold.
void checkName(const char *what, const std::string &name, Location where);
/// Of `known`, the one that takes the fewest edits to make from `text`; empty where none is near.
[[nodiscard]] std::string nearest(std::string_view text, const std::vector<std::string> &known);

} // namespace tw::detail
