// TILEWRIGHT_DUMP: every stage of a build as a file.
#pragma once
#include "tilewright/pipeline/Compile.h"
#include <filesystem>
#include <functional>
#include <string>

namespace tw {

/// What writes the stages of one build into $TILEWRIGHT_DUMP/<program>-<first 8 digits of the key>/NN-stage.ext, and the
/// program and the schedule before them; empty where the variable is not set. Trouble with files is said once in a
/// process and is never an error of the build.
[[nodiscard]] std::function<void(const Stage &)> dumpOf(const std::string &program, const std::string &schedule, const std::string &key);

/// Whether the variable is set.
[[nodiscard]] bool dumps();

} // namespace tw
