// What came of tunings, as one page with plots that needs nothing else.
#pragma once
#include "TuneResult.h"
#include <string>
#include <vector>

namespace tw::cli {

/// HTML without scripts and without references.
[[nodiscard]] std::string tuneReport(const std::vector<TuneResult> &results);

} // namespace tw::cli
