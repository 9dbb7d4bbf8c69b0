// What a program requires of a launch, in words where it is not so.
#pragma once
#include "tilewright/artifact/Artifact.h"
#include <optional>
#include <string>
#include <vector>

namespace tw {

/// What becomes of a requirement of which nothing is known.
enum class Unknown { isUnmet, isMet };

/// `program 'p': the heads … (here extent(h) = 6, K.dimension(1) = 4)` for the first requirement that is not met; nothing where all are.
[[nodiscard]] std::optional<std::string> unmetRequirement(const std::string &program, const std::vector<RequirementFacts> &requirements, const ExpressionScope &scope, Unknown unknown);

} // namespace tw
