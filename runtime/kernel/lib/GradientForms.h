// The forms in which a gradient is computed, and which of them a build takes.
#pragma once
#include "tilewright/dsl/Gradient.h"
#include "tilewright/kernel/Kernel.h"
#include <optional>
#include <vector>

namespace tw {

/// Whether there is a kernel for the program, or a reason why there is none: a kernel walks a fold, or elements.
[[nodiscard]] bool hasKernel(const Program &program);

/// Do steps of its kernels add to memory, in no fixed order?
[[nodiscard]] bool addsToMemory(const Gradient &made);

/// Every form that a build for these options may take, the one that it takes where nothing was measured first. Each is in as few programs as have schedules on the target.
[[nodiscard]] std::vector<Gradient> formsFor(const Program &program, const BuildOptions &options, const GradientOptions &wanted);

/// The options for one of a gradient's programs: extents and shapes are its own. `options` are those for the differentiated program; a schedule is its forward kernel's.
[[nodiscard]] BuildOptions optionsOfKernel(const Gradient &made, const Program &program, const BuildOptions &options);

/// What another form must gain to be taken: what is compared are sums of times from several tunings.
inline constexpr double leastGainOfForm = 0.03;

/// Seconds of all backward kernels with their fastest schedules, as far as tunings here found out; nothing where one was not timed.
[[nodiscard]] std::optional<double> knownSeconds(const Gradient &made, const BuildOptions &options);

} // namespace tw
