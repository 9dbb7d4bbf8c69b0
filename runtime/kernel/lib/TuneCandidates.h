// Which schedules a tuning tries, and in which order.
#pragma once
#include "ChooseSchedule.h"
#include "tilewright/tune/Tuner.h"
#include <vector>

namespace tw {

/// The default schedule, those that were asked for, the other orders of work within the default one's tile, then by the model's order. Some more than are wanted, as the assembler refuses
/// some. None of `without`, but for the default one.
[[nodiscard]] std::vector<tuning::Candidate> candidatesFor(const ScheduleWanted &wanted, const Schedule &unchanged, const TuneOptions &how, const std::vector<Schedule> &without);

} // namespace tw
