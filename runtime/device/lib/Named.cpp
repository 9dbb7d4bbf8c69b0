#include "tilewright/device/Named.h"
#include <fmt/format.h>
#include <stdexcept>

namespace tw::device {
namespace {

template <class T> const T &given(const std::map<std::string, T> &all, const std::string &name, const char *what) {
  auto found = all.find(name);
  if (found == all.end())
    throw std::invalid_argument(fmt::format("{} '{}' is missing from the problem", what, name));
  return found->second;
}

std::vector<std::int64_t> stridesOf(const std::string &name, const NamedTensor &tensor) {
  if (!tensor.strides.empty() && tensor.strides.size() != tensor.shape.size())
    throw std::invalid_argument(fmt::format("tensor '{}' has {} strides for {} dimensions", name, tensor.strides.size(), tensor.shape.size()));
  if (!tensor.strides.empty())
    return tensor.strides;
  std::vector<std::int64_t> strides(tensor.shape.size());
  std::int64_t next = 1;
  for (std::size_t d = strides.size(); d-- > 0; next *= tensor.shape[d])
    strides[d] = next;
  return strides;
}

} // namespace

Launch prepare(const Plan &plan, const NamedProblem &problem, const Machine &machine, const EncodeMap &encode) {
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<TensorArgument> tensors;
  strides.reserve(plan.tensors().size());
  for (const std::string &name : plan.tensors()) {
    const NamedTensor &tensor = given(problem.tensors, name, "tensor");
    strides.push_back(stridesOf(name, tensor));
    tensors.push_back({tensor.address, tensor.shape, strides.back()});
  }
  std::vector<std::int64_t> lengths;
  for (const std::string &name : plan.axes())
    lengths.push_back(given(problem.lengths, name, "the length of axis"));
  std::vector<ScalarArgument> scalars;
  for (const std::string &name : plan.scalars())
    scalars.push_back(given(problem.scalars, name, "scalar"));
  const Problem inOrder{tensors, lengths, scalars, problem.workspace};
  const std::int64_t items = plan.items(inOrder);
  if (items > maxItems)
    throw std::invalid_argument(fmt::format("there are more than {} work items", maxItems));
  Launch launch;
  launch.items = static_cast<int>(items);
  launch.blocks = plan.blocks(items, machine);
  if (launch.blocks == 0)
    return launch;
  launch.workspaceBytes = plan.workspaceBytes(inOrder, launch.blocks);
  launch.parameterBytes = plan.parameterBytes();
  launch.parameters = plan.filled(inOrder, machine, encode);
  return launch;
}

} // namespace tw::device
