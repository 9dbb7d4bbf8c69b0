// What was measured of a program's schedules: by tunings here, or as a shipped table has it.
#pragma once
#include "Output.h"
#include "tilewright/kernel/Kernel.h"
#include "tilewright/tune/Choose.h"
#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

struct Measurement {
  std::string where;                         // `NVIDIA H200, tuned here`
  std::vector<tuning::Standing> standings;   // the fastest first
  /// Of a schedule that was timed; null of others.
  [[nodiscard]] const tuning::Standing *of(const Schedule &schedule) const;
};

/// For the class of `options.shapes`. What tunings found is kept by the assembler, too: without NVRTC none of it is found.
[[nodiscard]] std::optional<Measurement> measurementOf(const Program &program, const BuildOptions &options, const Schedule &unchanged);

[[nodiscard]] Json measurementJson(const Measurement &measurement);

} // namespace tw::cli
