// From an artifact to what a launch needs of it.
#include "State.h"
#include "Strided.h"
#include "tilewright/artifact/RuntimeError.h"
#include "tilewright/schedule/Target.h"
#include <atomic>
#include <fmt/format.h>

namespace tw {
namespace {

/// Links host code, and finds what a launch needs of the artifact.
void loadHost(Kernel::State &state, const Artifact &artifact) {
  state.code = HostCode::load(artifact.code, artifact.entry);
  state.scratchArgument = artifact.parameters.size();
  for (std::size_t i = 0; i < artifact.parameters.size(); ++i) {
    const Parameter &parameter = artifact.parameters[i];
    if (parameter.kind == Parameter::Kind::scratch)
      state.scratchArgument = i;
    if (parameter.kind != Parameter::Kind::item)
      continue;
    std::size_t axis = 0;
    while (axis < artifact.axes.size() && artifact.axes[axis].name != parameter.name)
      ++axis;
    if (axis == artifact.axes.size())
      throw RuntimeError(fmt::format("kernel '{}' takes a coordinate of axis '{}', of which it says nothing else; clear the cache", artifact.program, parameter.name));
    const bool isBlock = artifact.axes[axis].role == AxisFacts::Role::block;
    state.items.push_back({i, 0, isBlock ? artifact.axes[axis].width : 1, isBlock && artifact.heaviestLast});
    state.itemAxes.push_back(axis);
  }
}

} // namespace

std::shared_ptr<Kernel::State> Kernel::State::load(Artifact artifact, std::map<std::string, std::int64_t> inner, std::string key) {
  static std::atomic<std::uint64_t> count = 0;
  auto state = std::make_shared<State>();
  state->id = ++count;
  if (findTarget(artifact.target).isHost())
    loadHost(*state, artifact);
  else
    state->device = std::make_shared<DeviceKernel>(artifact);
  state->artifact = std::move(artifact);
  state->inner = std::move(inner);
  state->key = std::move(key);
  return state;
}

const Kernel::State &Kernel::State::strided(const std::string &why) const {
  if (const State *known = stridedKernel.load())
    return *known;
  if (!buildStrided)
    throw ArgumentError(why + cureWithoutStrided);
  const std::lock_guard lock(stridedGuard);
  if (!stridedOwner) {
    sayStrided(artifact, why);
    stridedOwner = buildStrided();
    stridedKernel = stridedOwner.get();
  }
  return *stridedOwner;
}

} // namespace tw
