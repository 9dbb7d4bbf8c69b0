#include "Second.h"
#include "tilewright/schedule/SecondSchedule.h"
#include <algorithm>
#include <bit>

namespace tw {

Kernel::State::Second::Second(Program program, Target target, const Artifact &first, std::shared_ptr<const State> kernel)
    : program(std::move(program)), target(std::move(target)), firstSchedule(parseSchedule(first.schedule)), schedule(parseSchedule(kernel->artifact.schedule)), kernel(std::move(kernel)) {}

bool Kernel::State::Second::suits(const Artifact &artifact, const Checked &checked) const {
  std::vector<std::int64_t> key = checked.lengths;
  for (const CheckedTensor &tensor : checked.tensors)
    key.insert(key.end(), tensor.shape.begin(), tensor.shape.end());
  for (const CheckedScalar &scalar : checked.scalars)
    key.push_back(std::bit_cast<std::int64_t>(scalar.value));
  const std::lock_guard lock(mutex);
  if (auto found = known.find(key); found != known.end())
    return found->second;
  LaunchShape shape;
  for (std::size_t i = 0; i < artifact.axes.size(); ++i)
    shape.extents[artifact.axes[i].name] = checked.lengths[i];
  for (const CheckedTensor &tensor : checked.tensors)
    shape.tensors[tensor.parameter->name] = tensor.shape;
  for (const CheckedScalar &scalar : checked.scalars)
    shape.scalars[scalar.parameter->name] = scalar.value;
  const auto passes = [&](std::int64_t length) { return length > kernel->artifact.limit; };
  const bool isSuited = std::none_of(checked.lengths.begin(), checked.lengths.end(), passes) && prefersSecond(program, target, firstSchedule, schedule, shape);
  constexpr std::size_t most = 256;
  if (known.size() == most)
    known.clear();
  return known[std::move(key)] = isSuited;
}

const Kernel::State &chosen(const Kernel::State &state, const Checked &checked) {
  return state.second && checked.hasItems && state.second->suits(state.artifact, checked) ? *state.second->kernel : state;
}

} // namespace tw
