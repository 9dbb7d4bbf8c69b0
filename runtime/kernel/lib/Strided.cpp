// The kernel of launches whose tensors the usual one cannot copy in pieces.
#include "Strided.h"
#include "Say.h"
#include "tilewright/artifact/Artifact.h"
#include "tilewright/dsl/Roles.h"
#include <algorithm>
#include <fmt/format.h>

namespace tw {

BuildOptions stridedOptions(BuildOptions options) {
  options.strided = true;
  options.schedule.reset();
  return options;
}

std::string cureWithoutStrided(const Program &program) {
  const Roles roles = rolesOf(program);
  const bool adds = std::any_of(program.stores.begin(), program.stores.end(), [&](const Store &store) { return addedBySteps(roles, store) != nullptr; });
  return adds ? "; or have sums carried, not added to memory, by kernels that take any strides: BuildOptions::deterministic, deterministic=on in C" : "";
}

void sayStrided(const Artifact &usual, const std::string &why) {
  say(fmt::format("kernel '{}' for {}: {}. One more kernel is built, which takes any strides, element by element; it is slower", usual.program, usual.target, why));
}

} // namespace tw
