// Records as text, for the store and for people.
#pragma once
#include "tilewright/tune/Record.h"
#include <optional>
#include <string>
#include <string_view>

namespace tw::tuning {

/// One line a field: `target h200`, `schedule block=q …`, `seconds 0.00012 …`.
[[nodiscard]] std::string print(const TuningRecord &record);

/// Reads that back; nothing where it is not of this form.
[[nodiscard]] std::optional<TuningRecord> parseRecord(std::string_view text);

/// Runs that a record keeps; the earliest leave.
inline constexpr std::size_t mostRuns = 64;

/// The record with another run.
[[nodiscard]] TuningRecord withRun(TuningRecord record, TuningRun run);

} // namespace tw::tuning
