// TILEWRIGHT_LOG: what builds did, and why the compiler chose as it did, as lines on stderr.
#pragma once
#include "tilewright/dsl/Diagnostic.h"
#include <functional>
#include <string>

namespace tw {

/// Whether $TILEWRIGHT_LOG asks for lines: set, and neither empty nor 0.
[[nodiscard]] bool logs();

/// What prints a compilation's remarks, for CompileOptions::onRemark; empty where nobody asked for lines.
[[nodiscard]] std::function<void(const Diagnostic &)> remarkLog(const std::string &program, const std::string &target);

} // namespace tw
