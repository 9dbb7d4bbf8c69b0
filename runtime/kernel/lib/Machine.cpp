#include "tilewright/kernel/Machine.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/cuda/Driver.h"
#include "tilewright/cuda/Gpu.h"
#include "tilewright/schedule/Target.h"
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace tw {

std::string gpuTarget(int ordinal) {
  if (!cuda::driverAbsence().empty())
    throw RuntimeError(cuda::driverAbsence());
  const auto &gpus = cuda::gpus();
  if (ordinal < 0 || ordinal >= static_cast<int>(gpus.size()))
    throw RuntimeError(fmt::format("there is no GPU {}; this process sees {}", ordinal, gpus.size()));
  const cuda::Gpu &gpu = gpus[static_cast<std::size_t>(ordinal)];
  const Target *best = nullptr;
  auto distance = [&](const Target &target) { return std::pair(std::abs(target.sms - gpu.sms), std::llabs(target.dramBytes - gpu.memoryBytes)); };
  for (const Target &target : targets())
    if (!target.isHost() && cuda::runs(gpu, target.arch) && (!best || distance(target) < distance(*best)))
      best = &target;
  if (!best)
    throw RuntimeError(fmt::format("GPU {} is an {} of compute capability {}.{}, for which no target is known; `tilewright list --targets` shows those that are", ordinal, gpu.name, gpu.major, gpu.minor));
  return best->name;
}

} // namespace tw
