// What a program may not mean: it is right as it stands, but probably not what its author wanted.
#pragma once
#include "tilewright/dsl/Program.h"

namespace tw {

/// Masks, `where(condition, value, -infinity)` and those with 0, whose condition is the same along the whole axis that their fold walks: they keep rows or
/// empty them. At the user's line, in order of it.
[[nodiscard]] std::vector<Diagnostic> suspicions(const Program &program);

/// As render() does, as a warning.
[[nodiscard]] std::string renderWarning(const Diagnostic &diagnostic);

}   // namespace tw
